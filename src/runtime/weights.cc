#include "runtime/weights.h"

#include <algorithm>

#include "kernels/matmul/packed_matrix.h"
#include "platform/first_error.h"
#include "tensor/dequantize.h"

namespace candor {
namespace {

// Bytes of a matrix that a thread reads and packs at once: they stay in its cache between the two.
constexpr uint64_t kChunkBytes = 256 << 10;

uint64_t RoundUp(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

Result<uint64_t> BytesOfWeight(const Weight& weight, CpuIsa isa) {
  if (!weight.is_matrix()) return RoundUp(static_cast<uint64_t>(weight.cols) * sizeof(float));
  CANDOR_ASSIGN_OR_RETURN(const size_t bytes, PackedBytes(weight.dtype, isa, weight.rows, weight.cols));
  return RoundUp(bytes);
}

Status LoadMatrix(const ModelFile& file, const TensorInfo& tensor, const Weight& weight, CpuIsa isa,
                  std::span<std::byte> packed, ThreadPool& threads) {
  const uint64_t row_bytes = tensor.bytes / static_cast<uint64_t>(weight.rows);
  const int64_t tile = PackedTileRows(weight.dtype, isa);
  const int64_t chunk = std::max<int64_t>(1, static_cast<int64_t>(kChunkBytes / row_bytes) / tile) * tile;
  FirstError error;
  threads.ParallelFor((weight.rows + chunk - 1) / chunk, 1, [&](int64_t begin, int64_t end) {
    std::vector<std::byte> source;
    for (int64_t i = begin; i < end && !error.failed(); ++i) {
      const int64_t row_begin = i * chunk, row_end = std::min(row_begin + chunk, weight.rows);
      source.resize(static_cast<size_t>(row_end - row_begin) * row_bytes);
      Status status = file.ReadTensor(tensor, static_cast<uint64_t>(row_begin) * row_bytes, source);
      if (!status.ok()) return error.Set(std::move(status));
      PackRows(weight.dtype, isa, weight.rows, weight.cols, source, packed, row_begin, row_end);
    }
  });
  return error.status();
}

Status LoadVector(const ModelFile& file, const TensorInfo& tensor, float* out) {
  std::vector<std::byte> source(tensor.bytes);
  CANDOR_RETURN_IF_ERROR(file.ReadTensor(tensor, 0, source));
  const uint64_t elements = static_cast<uint64_t>(tensor.shape[0]);
  return Dequantize(tensor.dtype, source, {out, elements});
}

}  // namespace

Result<uint64_t> WeightArenaBytes(const Graph& graph, CpuIsa isa) {
  uint64_t total = 0;
  for (const Weight& weight : graph.weights) {
    CANDOR_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOfWeight(weight, isa));
    total += bytes;
  }
  return total;
}

Result<std::unique_ptr<ModelWeights>> LoadWeights(const ModelFile& file, const Graph& graph, CpuIsa isa,
                                                  ThreadPool& threads,
                                                  const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  auto result = std::make_unique<ModelWeights>();
  CANDOR_ASSIGN_OR_RETURN(const uint64_t total, WeightArenaBytes(graph, isa));
  CANDOR_ASSIGN_OR_RETURN(result->arena, AlignedBuffer::Allocate(total, "weights"));
  uint64_t offset = 0;
  for (const Weight& weight : graph.weights) {
    const TensorInfo& tensor = *file.FindTensor(weight.name);  // the family has seen it
    CANDOR_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOfWeight(weight, isa));
    const std::span<std::byte> place = result->arena.bytes().subspan(offset, bytes);
    BoundWeight bound;
    if (weight.is_matrix()) {
      CANDOR_RETURN_IF_ERROR(LoadMatrix(file, tensor, weight, isa, place, threads));
      bound.matrix = PackedMatrix{weight.dtype, isa, weight.rows, weight.cols, place.data(), bytes};
    } else {
      bound.vector = reinterpret_cast<const float*>(place.data());
      CANDOR_RETURN_IF_ERROR(LoadVector(file, tensor, reinterpret_cast<float*>(place.data())));
    }
    result->weights.push_back(bound);
    offset += bytes;
    if (progress && !progress(offset, total)) return CancelledError("{}: loading was cancelled", file.path());
  }
  return result;
}

}  // namespace candor
