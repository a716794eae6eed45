// Integers of several words, for sets of more than 64 elements and for counts beyond 2^64. Each function here has a
// twin for one word, so that templates work with both.
#pragma once
#include <bit>
#include <cstdint>

#include "core/bits.hpp"

namespace trickformer {

// The lowest word comes first. Arithmetic is modulo 2^(64 N).
template <int N>
struct Wide {
  std::uint64_t word[N] = {};
};

inline namespace TRICKFORMER_ISA {

template <typename Set>
constexpr Set bit(int i) {
  if constexpr (std::unsigned_integral<Set>) {
    return Set{1} << i;
  } else {
    Set set;
    set.word[i / 64] = std::uint64_t{1} << i % 64;
    return set;
  }
}

// The words of a number or a set in memory, [N], the lowest first.
template <typename Set>
Set load(const std::uint64_t* words) {
  if constexpr (std::unsigned_integral<Set>) {
    return *words;
  } else {
    Set set;
    for (std::uint64_t& word : set.word) word = *words++;
    return set;
  }
}

inline void store(std::uint64_t set, std::uint64_t* words) { *words = set; }

template <int N>
void store(const Wide<N>& set, std::uint64_t* words) {
  for (const std::uint64_t word : set.word) *words++ = word;
}

inline bool any(std::uint64_t set) { return set != 0; }
inline bool has(std::uint64_t set, int i) { return set >> i & 1; }

template <int N>
bool any(const Wide<N>& set) {
  for (const std::uint64_t word : set.word)
    if (word) return true;
  return false;
}

template <int N>
bool has(const Wide<N>& set, int i) {
  return set.word[i / 64] >> i % 64 & 1;
}

template <int N>
int count(const Wide<N>& set) {
  int n = 0;
  for (const std::uint64_t word : set.word) n += count(word);
  return n;
}

// Index of the lowest element. The set must not be empty; the same holds for `take_lowest` and `pick`. For `nth` it
// must have more than n elements.
template <int N>
int lowest(const Wide<N>& set) {
  int i = 0;
  while (!set.word[i]) ++i;
  return 64 * i + lowest(set.word[i]);
}

template <int N>
int take_lowest(Wide<N>& set) {
  int i = 0;
  while (!set.word[i]) ++i;
  return 64 * i + take_lowest(set.word[i]);
}

template <int N>
int nth(const Wide<N>& set, int n) {
  for (int i = 0;; ++i) {
    const int here = count(set.word[i]);
    if (n < here) return 64 * i + nth(set.word[i], n);
    n -= here;
  }
}

template <int N>
int pick(const Wide<N>& set, Rng& rng) {
  return nth(set, int(rng.below(std::uint32_t(count(set)))));
}

template <int N>
Wide<N>& operator&=(Wide<N>& a, const Wide<N>& b) {
  for (int i = 0; i < N; ++i) a.word[i] &= b.word[i];
  return a;
}

template <int N>
Wide<N>& operator|=(Wide<N>& a, const Wide<N>& b) {
  for (int i = 0; i < N; ++i) a.word[i] |= b.word[i];
  return a;
}

template <int N>
Wide<N>& operator^=(Wide<N>& a, const Wide<N>& b) {
  for (int i = 0; i < N; ++i) a.word[i] ^= b.word[i];
  return a;
}

template <int N>
Wide<N>& operator+=(Wide<N>& a, const Wide<N>& b) {
  unsigned __int128 sum = 0;
  for (int i = 0; i < N; ++i) {
    sum += static_cast<unsigned __int128>(a.word[i]) + b.word[i];
    a.word[i] = std::uint64_t(sum);
    sum >>= 64;
  }
  return a;
}

template <int N>
Wide<N> operator~(Wide<N> a) {
  for (std::uint64_t& word : a.word) word = ~word;
  return a;
}

template <int N>
Wide<N>& operator-=(Wide<N>& a, const Wide<N>& b) {
  a += ~b;
  return a += bit<Wide<N>>(0);
}

template <int N>
Wide<N> operator&(Wide<N> a, const Wide<N>& b) {
  return a &= b;
}

template <int N>
Wide<N> operator|(Wide<N> a, const Wide<N>& b) {
  return a |= b;
}

template <int N>
Wide<N> operator^(Wide<N> a, const Wide<N>& b) {
  return a ^= b;
}

template <int N>
Wide<N> operator+(Wide<N> a, const Wide<N>& b) {
  return a += b;
}

template <int N>
Wide<N> operator-(Wide<N> a, const Wide<N>& b) {
  return a -= b;
}

template <int N>
Wide<N> operator*(const Wide<N>& a, const Wide<N>& b) {
  Wide<N> product;
  for (int i = 0; i < N; ++i) {
    if (!a.word[i]) continue;
    std::uint64_t carry = 0;
    for (int j = 0; i + j < N; ++j) {
      const unsigned __int128 sum = static_cast<unsigned __int128>(a.word[i]) * b.word[j] + product.word[i + j] + carry;
      product.word[i + j] = std::uint64_t(sum);
      carry = std::uint64_t(sum >> 64);
    }
  }
  return product;
}

template <int N>
bool operator==(const Wide<N>& a, const Wide<N>& b) {
  return !any(a ^ b);
}

template <int N>
bool operator<(const Wide<N>& a, const Wide<N>& b) {
  for (int i = N; i-- > 0;)
    if (a.word[i] != b.word[i]) return a.word[i] < b.word[i];
  return false;
}

// Uniform on 0..n-1 without bias, for n above 0.
inline std::uint64_t below(std::uint64_t n, Rng& rng) { return rng.below64(n); }

template <int N>
Wide<N> below(const Wide<N>& n, Rng& rng) {
  int top = N - 1;
  while (!n.word[top]) --top;
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(n.word[top]);
  for (;;) {
    Wide<N> drawn;
    for (int i = 0; i <= top; ++i) drawn.word[i] = rng.next();
    drawn.word[top] &= mask;
    if (drawn < n) return drawn;
  }
}

}  // namespace TRICKFORMER_ISA

}  // namespace trickformer
