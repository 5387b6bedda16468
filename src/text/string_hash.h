// A fast hash of short strings and an open-addressing index over strings that somebody else owns. No string is copied.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace candor {

inline uint64_t MixHash(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xE7037ED1A0B428DBu);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t HashString(std::string_view text) {
  const auto load = [](const char* from, size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, from, size);
    return value;
  };
  const char* data = text.data();
  size_t left = text.size();
  uint64_t hash = left;
  for (; left >= 8; left -= 8, data += 8) hash = MixHash(hash, load(data, 8));
  if (left >= 4) return MixHash(hash, load(data, 4) | load(data + left - 4, 4) << 32);
  uint64_t tail = 0;
  if (left > 0) {
    const auto byte = [data](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(data[i])); };
    tail = byte(0) | byte(left / 2) << 8 | byte(left - 1) << 16;
  }
  return MixHash(hash, tail);
}

// Open addressing with linear probing over (hash, index) pairs; the caller compares the strings.
class HashIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  void Reserve(size_t count) { slots_.assign(std::bit_ceil(count * 2 + 2), Slot{0, kNone}); }

  // The index for which `equal(index)` holds among those with this hash, or kNone.
  template <typename Equal>
  uint32_t Find(uint64_t hash, const Equal& equal) const {
    if (slots_.empty()) return kNone;
    const size_t mask = slots_.size() - 1;
    const auto check = static_cast<uint32_t>(hash);
    for (size_t at = hash >> 32 & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.index == kNone) return kNone;
      if (slot.check == check && equal(slot.index)) return slot.index;
    }
  }

  // Keeps the first of equal strings. At most as many as were reserved.
  template <typename Equal>
  void Insert(uint64_t hash, uint32_t index, const Equal& equal) {
    const size_t mask = slots_.size() - 1;
    const auto check = static_cast<uint32_t>(hash);
    for (size_t at = hash >> 32 & mask;; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.index == kNone) {
        slot = Slot{check, index};
        return;
      }
      if (slot.check == check && equal(slot.index)) return;
    }
  }

 private:
  struct Slot {
    uint32_t check;
    uint32_t index;
  };
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace candor
