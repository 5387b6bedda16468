// Unrolled loops, so that small arrays of vectors live in registers.
#pragma once

#include <type_traits>
#include <utility>

// Before a `for` with a compile-time count of at most 16.
#define CANDOR_UNROLL _Pragma("GCC unroll 16")

namespace candor {

// Unroll<N>(f): f(0), …, f(N - 1) with compile-time arguments.
template <int kCount, typename Body>
[[gnu::always_inline]] static inline void Unroll(Body&& body) {
  [&]<int... kI>(std::integer_sequence<int, kI...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, kI>{}), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

}  // namespace candor
