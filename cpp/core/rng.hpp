// Random numbers of the core: splitmix64 (Steele, Lea & Flood 2014). A number depends only on seed and position, so
// that any part of a run can be repeated by itself.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"

namespace trickformer::inline TRICKFORMER_ISA {

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Hash of an array of words, for unordered containers.
struct HashWords {
  template <std::size_t N>
  constexpr std::size_t operator()(const std::array<std::uint64_t, N>& words) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum = mix(sum ^ word);
    return std::size_t(sum);
  }
};

class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(mix(seed) ^ mix(mix(stream) + 0x9e3779b97f4a7c15)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }

  // Uniform on 0..n-1 for n < 2^16. The bias is at most n / 2^32, too small for any test to detect.
  std::uint32_t below(std::uint32_t n) { return std::uint32_t(((next() >> 32) * n) >> 32); }

  // Uniform on 0..n-1 without bias (Lemire 2019, with rejection).
  std::uint64_t below64(std::uint64_t n) {
    for (;;) {
      const unsigned __int128 product = static_cast<unsigned __int128>(next()) * n;
      if (std::uint64_t(product) >= -n % n) return std::uint64_t(product >> 64);
    }
  }

  // Uniform on [0, 1).
  double uniform() { return double(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace trickformer::inline TRICKFORMER_ISA
