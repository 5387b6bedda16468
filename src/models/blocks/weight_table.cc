#include "models/blocks/weight_table.h"

#include <fmt/ranges.h>

#include "kernels/matmul/packed_matrix.h"
#include "tensor/dequantize.h"

namespace candor {

void WeightTable::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

const TensorInfo* WeightTable::Find(const std::string& name, const std::vector<int64_t>& shape) {
  taken_.insert(name);
  const TensorInfo* tensor = file_.FindTensor(name);
  if (tensor == nullptr) {
    Fail(NotFoundError("{}: tensor '{}': expected shape [{}], got no such tensor; the file is incomplete", file_.path(),
                       name, fmt::join(shape, ", ")));
    return nullptr;
  }
  std::vector<int64_t> actual = tensor->shape;
  while (actual.size() > shape.size() && actual.back() == 1) actual.pop_back();
  if (actual != shape) {
    Fail(DataLossError("{}: tensor '{}': expected shape [{}], got [{}]; the file contradicts its metadata",
                       file_.path(), name, fmt::join(shape, ", "), fmt::join(tensor->shape, ", ")));
    return nullptr;
  }
  return tensor;
}

WeightId WeightTable::Matrix(const std::string& name, int64_t cols, int64_t rows) {
  const TensorInfo* tensor = Find(name, {cols, rows});
  const DType dtype = tensor == nullptr ? DType::kF32 : tensor->dtype;
  if (tensor != nullptr) {
    const Result<size_t> packed = PackedBytes(dtype, CpuIsa::kScalar, rows, cols);
    if (!packed.ok()) Fail(packed.status().WithContext(fmt::format("{}: tensor '{}'", file_.path(), name)));
  }
  return graph_.AddWeight(Weight{name, dtype, cols, rows});
}

WeightId WeightTable::Vector(const std::string& name, int64_t width) {
  const TensorInfo* tensor = Find(name, {width});
  return graph_.AddWeight(Weight{name, tensor == nullptr ? DType::kF32 : tensor->dtype, width, 0});
}

WeightId WeightTable::OptionalVector(const std::string& name, int64_t width) {
  return Has(name) ? Vector(name, width) : kNone;
}

std::vector<float> WeightTable::Values(const std::string& name, int64_t width) {
  const TensorInfo* tensor = Find(name, {width});
  if (tensor == nullptr) return {};
  std::vector<std::byte> bytes(tensor->bytes);
  std::vector<float> values(static_cast<size_t>(width));
  Status status = file_.ReadTensor(*tensor, 0, bytes);
  if (status.ok()) status = Dequantize(tensor->dtype, bytes, values);
  if (!status.ok()) {
    Fail(status.WithContext(fmt::format("{}: tensor '{}'", file_.path(), name)));
    return {};
  }
  return values;
}

Status WeightTable::Finish() const {
  CANDOR_RETURN_IF_ERROR(status_);
  for (const TensorInfo& tensor : file_.tensors()) {
    if (!taken_.contains(tensor.name)) {
      return UnimplementedError(
          "{}: tensor '{}' is not part of the '{}' family as Candor knows it; this variant cannot be run faithfully",
          file_.path(), tensor.name, file_.GetStringOr("general.architecture", "?").value());
    }
  }
  return OkStatus();
}

}  // namespace candor
