#include "runtime/gpu_model.h"

#include <algorithm>
#include <cstring>

#include "base/printable.h"
#include "kernels/lib/gpu_weights.h"
#include "platform/first_error.h"
#include "tensor/dequantize.h"

namespace candor {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kStagingBytes = uint64_t{32} << 20;
constexpr uint64_t kReadBytes = uint64_t{1} << 20;  // that a thread reads at once

uint64_t RoundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A vector becomes f32, whatever it is in the file.
uint64_t DeviceBytes(const Weight& weight) {
  if (!weight.is_matrix()) return static_cast<uint64_t>(weight.cols) * sizeof(float);
  return static_cast<uint64_t>(BytesOf(weight.dtype, weight.cols).value_or(0)) * static_cast<uint64_t>(weight.rows);
}

Status CheckTypes(const Graph& graph, const std::string& path) {
  for (const Weight& weight : graph.weights) {
    if (weight.is_matrix() && !GpuWeightTypeSupported(weight.dtype))
      return GpuWeightTypeError(weight.name.c_str(), weight.dtype).WithContext(path);
  }
  return OkStatus();
}

// Where each weight goes.
struct Place {
  size_t arena = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};
struct ArenaPlan {
  std::vector<Place> places;     // by WeightId
  std::vector<uint64_t> arenas;  // bytes of each
};

// As few allocations as the device's limit allows.
ArenaPlan PlanArenas(const Graph& graph, uint64_t limit) {
  ArenaPlan plan;
  for (const Weight& weight : graph.weights) {
    const uint64_t bytes = DeviceBytes(weight);
    const uint64_t room = RoundUp(bytes + kGpuReadSlack);
    if (plan.arenas.empty() || (limit > 0 && plan.arenas.back() + room > limit && plan.arenas.back() > 0))
      plan.arenas.push_back(0);
    plan.places.push_back({plan.arenas.size() - 1, plan.arenas.back(), bytes});
    plan.arenas.back() += room;
  }
  return plan;
}

uint64_t AllocationLimit(const DeviceInfo& info) {
  const GpuLimits& limits = info.gpu.limits;
  if (limits.max_allocation == 0 || limits.max_buffer == 0) return std::max(limits.max_allocation, limits.max_buffer);
  return std::min(limits.max_allocation, limits.max_buffer);
}

// Bytes on their way to the device: filled by the host, emptied by one submission.
class Staging {
 public:
  static Result<Staging> Make(GpuDevice& device) {
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuBuffer> buffer,
                            device.Allocate(kStagingBytes, GpuMemoryKind::kHost, "staging"));
    return Staging(device, std::move(buffer));
  }

  uint64_t room() const { return kStagingBytes - used_; }
  // `bytes` <= room().
  std::span<std::byte> Reserve(uint64_t bytes, const GpuPlace& to) {
    copies_.push_back({{buffer_.get(), used_}, to, (bytes + 3) / 4 * 4});
    const std::span<std::byte> place(buffer_->host() + used_, bytes);
    used_ += RoundUp(bytes);
    used_ = std::min(used_, kStagingBytes);
    return place;
  }
  Status Flush() {
    if (copies_.empty()) return OkStatus();
    const Status status = device_.Copy(copies_);
    copies_.clear();
    used_ = 0;
    return status;
  }

 private:
  Staging(GpuDevice& device, std::unique_ptr<GpuBuffer> buffer) : device_(device), buffer_(std::move(buffer)) {}
  GpuDevice& device_;
  std::unique_ptr<GpuBuffer> buffer_;
  std::vector<GpuCopy> copies_;
  uint64_t used_ = 0;
};

Status ReadPiece(const ModelFile& file, const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out,
                 ThreadPool& threads) {
  FirstError error;
  const auto reads = static_cast<int64_t>((out.size() + kReadBytes - 1) / kReadBytes);
  threads.ParallelFor(reads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !error.failed(); ++i) {
      const uint64_t from = static_cast<uint64_t>(i) * kReadBytes;
      const uint64_t bytes = std::min<uint64_t>(kReadBytes, out.size() - from);
      Status status = file.ReadTensor(tensor, offset + from, out.subspan(from, bytes));
      if (!status.ok()) error.Set(std::move(status));
    }
  });
  return error.status();
}

Status StageMatrix(const ModelFile& file, const TensorInfo& tensor, const GpuPlace& to, uint64_t bytes,
                   ThreadPool& threads, Staging& staging) {
  for (uint64_t done = 0; done < bytes;) {
    if (staging.room() < kAlignment) CANDOR_RETURN_IF_ERROR(staging.Flush());
    const uint64_t piece = std::min(bytes - done, staging.room() / kAlignment * kAlignment);
    const std::span<std::byte> place = staging.Reserve(piece, {to.buffer, to.offset + done});
    CANDOR_RETURN_IF_ERROR(ReadPiece(file, tensor, done, place, threads));
    done += piece;
  }
  return OkStatus();
}

Status StageVector(const ModelFile& file, const TensorInfo& tensor, const GpuPlace& to, uint64_t bytes,
                   Staging& staging) {
  std::vector<std::byte> source(tensor.bytes);
  CANDOR_RETURN_IF_ERROR(file.ReadTensor(tensor, 0, source));
  if (staging.room() < bytes) CANDOR_RETURN_IF_ERROR(staging.Flush());
  if (staging.room() < bytes) {
    return UnimplementedError("{}: expected a vector of at most {} on a GPU, got {}", tensor.name,
                              FormatBytes(kStagingBytes), FormatBytes(bytes));
  }
  const std::span<std::byte> place = staging.Reserve(bytes, to);
  return Dequantize(tensor.dtype, source, {reinterpret_cast<float*>(place.data()), bytes / sizeof(float)});
}

}  // namespace

uint64_t GpuWeightBytes(const Graph& graph) {
  uint64_t total = 0;
  for (const Weight& weight : graph.weights) total += RoundUp(DeviceBytes(weight) + kGpuReadSlack);
  return total;
}

Status LoadGpuWeights(const ModelFile& file, const Graph& graph, ThreadPool& threads,
                      const std::function<bool(uint64_t done, uint64_t total)>& progress, GpuModel& model) {
  CANDOR_RETURN_IF_ERROR(CheckTypes(graph, file.path()));
  const ArenaPlan plan = PlanArenas(graph, AllocationLimit(model.device->info()));
  for (const uint64_t bytes : plan.arenas) {
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuBuffer> arena,
                            model.device->Allocate(bytes, GpuMemoryKind::kDevice, "weights"));
    model.weight_bytes += arena->bytes();
    model.arenas.push_back(std::move(arena));
  }
  CANDOR_ASSIGN_OR_RETURN(Staging staging, Staging::Make(*model.device));
  uint64_t done = 0;
  for (size_t i = 0; i < graph.weights.size(); ++i) {
    const Weight& weight = graph.weights[i];
    const TensorInfo& tensor = *file.FindTensor(weight.name);  // the family has seen it
    const Place& place = plan.places[i];
    const GpuPlace to{model.arenas[place.arena].get(), place.offset};
    CANDOR_RETURN_IF_ERROR(weight.is_matrix() ? StageMatrix(file, tensor, to, place.bytes, threads, staging)
                                              : StageVector(file, tensor, to, place.bytes, staging));
    model.weights.push_back(to.buffer->address() + to.offset);
    done += RoundUp(place.bytes + kGpuReadSlack);
    if (progress && !progress(done, model.weight_bytes))
      return CancelledError("{}: loading was cancelled", file.path());
  }
  return staging.Flush();
}

}  // namespace candor
