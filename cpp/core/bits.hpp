// Sets of cards as bitboards of any width.
#pragma once
#include <bit>
#include <concepts>

#include "core/rng.hpp"
#ifdef __BMI2__
#include <immintrin.h>
#endif

namespace trickformer::inline TRICKFORMER_ISA {

template <std::unsigned_integral Cards>
int count(Cards cards) {
  return std::popcount(cards);
}

template <std::unsigned_integral Cards>
int lowest(Cards cards) {
  return std::countr_zero(cards);
}

// The highest card; the set must not be empty.
template <std::unsigned_integral Cards>
int highest(Cards cards) {
  return std::bit_width(cards) - 1;
}

template <std::unsigned_integral Cards>
int take_lowest(Cards& cards) {
  const int card = lowest(cards);
  cards &= cards - 1;
  return card;
}

// Card number `n` of a set, counted from the lowest.
template <std::unsigned_integral Cards>
int nth(Cards cards, int n) {
#ifdef __BMI2__
  if constexpr (sizeof(Cards) == 8)
    return lowest(Cards(_pdep_u64(Cards{1} << n, cards)));
  else
    return lowest(Cards(_pdep_u32(Cards{1} << n, cards)));
#else
  while (n--) cards &= cards - 1;
  return lowest(cards);
#endif
}

// The cards that can come next in an ascending row: they are above `last`, and enough higher ones of `cards` are left
// for the rest of the row. still: number of cards to come, the next one included.
template <std::unsigned_integral Cards>
Cards ascending(Cards cards, int last, int still) {
  cards &= static_cast<Cards>(~((std::uint64_t{1} << (last + 1)) - 1));
  for (; still > 1; --still) cards &= ~std::bit_floor(cards);
  return cards;
}

template <std::unsigned_integral Cards>
int pick(Cards cards, Rng& rng) {
  return nth(cards, int(rng.below(std::uint32_t(count(cards)))));
}

}  // namespace trickformer::inline TRICKFORMER_ISA
