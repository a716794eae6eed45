// Binomial coefficients.
#pragma once
#include <cstdint>

#include "core/isa.hpp"

namespace trickformer::inline TRICKFORMER_ISA {

// of[n][k] for n < kRows. The caller sees to it that they fit into 64 bits.
template <int kRows>
struct Binomials {
  std::uint64_t of[kRows][kRows] = {};
  constexpr Binomials() {
    for (int n = 0; n < kRows; ++n) {
      of[n][0] = 1;
      for (int k = 1; k <= n; ++k) of[n][k] = of[n - 1][k - 1] + (k < n ? of[n - 1][k] : 0);
    }
  }
};

}  // namespace trickformer::inline TRICKFORMER_ISA
