// libFuzzer target: any bytes are a GGUF file or an error, never a crash. What has been accepted is then used as an
// engine would.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/gguf/gguf_reader.h"
#include "tensor/dequantize.h"

namespace {

using candor::MappedFile;
using candor::ModelFile;
using candor::TensorInfo;

// Reads the first row of a tensor and decodes it.
void UseTensor(const ModelFile& file, const TensorInfo& tensor) {
  constexpr int64_t kMaxRow = 4096;
  if (tensor.shape[0] > kMaxRow) return;
  std::vector<std::byte> row(*candor::BytesOf(tensor.dtype, static_cast<uint64_t>(tensor.shape[0])));
  if (!file.ReadTensor(tensor, 0, row).ok()) std::abort();
  std::vector<float> values(static_cast<size_t>(tensor.shape[0]));
  (void)candor::Dequantize(tensor.dtype, row, values);
  if (file.FindTensor(tensor.name) != &tensor) std::abort();
}

void UseMetadata(const ModelFile& file) {
  for (const auto& [key, value] : file.metadata()) {
    (void)file.GetU32(key);
    (void)file.GetF32Or(key, 1.0f);
    (void)file.GetString(key);
    (void)file.GetU32PerLayer(key, 4);
    (void)file.GetI32Array(key);
    const auto strings = file.GetStrings(key);
    if (!strings.ok()) continue;
    size_t bytes = 0;
    for (const std::string_view text : *strings) {
      for (const char letter : text) bytes += static_cast<unsigned char>(letter);
    }
    if (bytes > (size_t{1} << 60)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;  // an empty file is refused before it is parsed
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> content(bytes, bytes + size);
  // Every further part of a split model is the same file.
  const auto open_part = [&](const std::string& path) -> candor::Result<std::shared_ptr<const MappedFile>> {
    return MappedFile::FromMemory(path, content);
  };
  const auto opened = candor::OpenGguf(MappedFile::FromMemory("m-00001-of-00002.gguf", content), open_part);
  if (!opened.ok()) {
    if (opened.status().message().empty()) std::abort();
    return 0;
  }
  UseMetadata(**opened);
  for (const TensorInfo& tensor : (*opened)->tensors()) UseTensor(**opened, tensor);
  return 0;
}
