// The card that a script passes: for the scripted player, and for the passes of the others inside searches.
#pragma once
#include "hearts/rules.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

inline Cards above(int card) { return kAll & ~((bit(card) << 1) - 1); }
inline Cards below(int card) { return bit(card) - 1; }

inline double power(double base, int n) {
  double result = 1;
  while (n-- > 0) result *= base;
  return result;
}

// How much a seat wants to get rid of `card` before play, roughly in points.
inline double pass_danger(Cards hand, int card) {
  const int suit = card % 4, rank = card / 4;
  const Cards held = hand & suit_cards(suit);
  const int length = count(held), guards = count(held & below(card));
  if (suit == 3) {
    const int low = count(held & below(kQueenOfSpades));
    if (card == kQueenOfSpades) return low >= 4 ? 0.5 : 14 - low;
    if (card < kQueenOfSpades) return -3;  // a low spade guards against the queen
    if (low >= 4) return 0.5;
    return held & bit(kQueenOfSpades) && low >= 3 ? 2 : 11 - low + 0.1 * rank;
  }
  if (suit == 2) return rank < 5 ? -1 + 0.2 * rank : (0.65 * rank - 2.2) * power(0.8, guards);
  const double risk = rank < 4 ? 0.1 * rank : (0.45 * rank - 1.2) * power(0.75, guards);
  return risk + (length <= 3 ? 2.2 - 0.5 * length : 0);  // a void allows to discard high cards
}

// The card of the hand that is most dangerous to keep.
inline int choose_pass(Cards hand) {
  int best = -1;
  double most = 0;
  for (Cards rest = hand; rest;) {
    const int card = take_lowest(rest);
    const double danger = pass_danger(hand, card);
    if (best < 0 || danger > most) {
      best = card;
      most = danger;
    }
  }
  return best;
}

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA
