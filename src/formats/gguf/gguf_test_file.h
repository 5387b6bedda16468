// Writes GGUF bytes piece by piece, lies included. For tests only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_format.h"

namespace candor {

class GgufTestFile {
 public:
  GgufTestFile() : magic_(kGgufMagic) {}

  // What the header claims; by default the truth.
  GgufTestFile& Magic(std::string_view magic) { return magic_ = magic, *this; }
  GgufTestFile& Version(uint32_t version) { return version_ = version, *this; }
  GgufTestFile& TensorCount(uint64_t count) { return claimed_tensors_ = count, claims_tensors_ = true, *this; }
  GgufTestFile& KeyCount(uint64_t count) { return claimed_keys_ = count, claims_keys_ = true, *this; }

  // A key with a raw type id and raw value bytes.
  GgufTestFile& RawKey(std::string_view key, uint32_t type, std::string_view value) {
    keys_ += Text(key) + Bytes(type) + std::string(value);
    ++key_count_;
    return *this;
  }
  template <typename T>
  GgufTestFile& Key(std::string_view key, GgufType type, T value) {
    return RawKey(key, static_cast<uint32_t>(type), Bytes(value));
  }
  GgufTestFile& StringKey(std::string_view key, std::string_view value) {
    return RawKey(key, static_cast<uint32_t>(GgufType::kString), Text(value));
  }
  GgufTestFile& RawArray(std::string_view key, uint32_t element_type, uint64_t count, std::string_view elements) {
    return RawKey(key, static_cast<uint32_t>(GgufType::kArray),
                  Bytes(element_type) + Bytes(count) + std::string(elements));
  }
  template <typename T>
  GgufTestFile& Array(std::string_view key, GgufType type, const std::vector<T>& values) {
    std::string elements;
    for (const T value : values) elements += Bytes(value);
    return RawArray(key, static_cast<uint32_t>(type), values.size(), elements);
  }
  GgufTestFile& Strings(std::string_view key, const std::vector<std::string>& values) {
    std::string elements;
    for (const auto& value : values) elements += Text(value);
    return RawArray(key, static_cast<uint32_t>(GgufType::kString), values.size(), elements);
  }

  GgufTestFile& Tensor(std::string_view name, const std::vector<uint64_t>& shape, uint32_t type, uint64_t offset) {
    tensors_ += Text(name) + Bytes(static_cast<uint32_t>(shape.size()));
    for (const uint64_t dimension : shape) tensors_ += Bytes(dimension);
    tensors_ += Bytes(type) + Bytes(offset);
    ++tensor_count_;
    return *this;
  }
  GgufTestFile& Data(std::string_view data, size_t alignment = kGgufDefaultAlignment) {
    data_ = data;
    alignment_ = alignment;
    return *this;
  }

  std::string Build() const {
    std::string out = magic_ + Bytes(version_) + Bytes(claims_tensors_ ? claimed_tensors_ : tensor_count_) +
                      Bytes(claims_keys_ ? claimed_keys_ : key_count_) + keys_ + tensors_;
    if (!data_.empty()) out.resize((out.size() + alignment_ - 1) / alignment_ * alignment_, '\0');
    return out + data_;
  }

  template <typename T>
  static std::string Bytes(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }
  static std::string Text(std::string_view text) { return Bytes(uint64_t{text.size()}) + std::string(text); }

 private:
  std::string magic_;
  uint32_t version_ = kGgufNewestVersion;
  uint64_t claimed_tensors_ = 0;
  bool claims_tensors_ = false;
  uint64_t claimed_keys_ = 0;
  bool claims_keys_ = false;
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
  std::string keys_;
  std::string tensors_;
  std::string data_;
  size_t alignment_ = kGgufDefaultAlignment;
};

}  // namespace candor
