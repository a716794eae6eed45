// The order in which a search tries cards: by the outlook for the trick, then by how often a card has decided a node.
#include "skat/solver_position.inl"

namespace trickformer::skat::inline TRICKFORMER_ISA {

// Scores are in tenths of a card point. Coordinate descent found their weights. It minimized the nodes for 61 points at
// the first lead, over deals that the benchmark does not use. The weights change no result.
template <bool kNull, bool kTricks>
class Order : protected Cardplay<kNull, kTricks> {
 protected:
  using Base = Cardplay<kNull, kTricks>;
  using Base::Base;
  using Base::hand_, Base::beats, Base::suit, Base::legal, Base::length, Base::rank, Base::trump, Base::worth;

  static int most(Cards c) { return kTricks ? 0 : Base::most(c); }
  static int least(Cards c) { return kTricks ? 0 : Base::least(c); }

  // The side that takes the trick whatever follows: 1 the side of the player of `card`, -1 the other, 0 open.
  int lead_outcome(int p, int q, int r, int card) const {
    const Cards b = legal(q, card), d = legal(r, card), over = beats(card);
    if (p == 0) return !((b | d) & over) ? 1 : !(b & ~over) || !(d & ~over) ? -1 : 0;
    return (q == 0 ? b : d) & over ? 0 : 1;
  }

  // `next`: the legal cards of the last player.
  int second_outcome(int p, int q, int led, int card, Cards next) const {
    const bool ahead = beats(led) & bit(card);
    const Cards all = beats(ahead ? card : led), over = next & all, under = next & ~all;
    if (q == 0) return !ahead ? -1 : !over ? 1 : under ? 0 : -1;
    if (p == 0) return ahead ? 1 : !over ? -1 : under ? 0 : 1;  // the other defender plays last
    return !over ? 1 : under ? 0 : -1;                          // the soloist plays last
  }

  int lead_score(int p, int q, int r, int card, int sure) const {
    const int own = length(p, card);
    if constexpr (kNull) {
      const int others = p == 0 ? -16 * (length(1, card) + length(2, card)) - 9 * own
                                : 225 * length(0, card) + 13 * length(3 - p, card) - 17 * own;
      return -100 * sure + 19 * rank(card) + others;
    }
    const Cards b = legal(q, card), d = legal(r, card), same = suit(card);
    const int points = 10 * worth(card), high = trump(card);
    if (p == 0) {
      if (!((b | d) & beats(card))) return points + 88 * (least(b) + least(d)) - 60 * high + 21 * own - 51;
      return -points - 22 * (most(b) + most(d)) - 221 * (!(b & same) + !(d & same)) + 23 * high;
    }
    const Cards s = q == 0 ? b : d, mate = q == 0 ? d : b;
    const Cards better = mate & beats(card);
    const int best = better ? highest(better) : card;  // of the defenders' side
    const int score = -128 * high - 38 * own - (q == 0 ? 5 * worth(card) : 0);
    if (!(s & beats(best))) return score + points + 100 * least(s) + 12 * most(mate) + 29;
    return score - points + 18 * least(mate) - 83 * !(s & same) + 21 * (best != card);
  }

  int second_score(int p, int q, int led, int card, Cards next, int sure) const {
    const bool single = length(q, card) == 1;
    if constexpr (kNull) {
      const int others = q == 0 ? 5 * single : 10 * single + 13 * length(0, card);
      return -100 * sure + (q == 0 ? 17 : 16) * rank(card) + others;
    }
    const bool ahead = beats(led) & bit(card), over = next & beats(ahead ? card : led);
    const bool take = q == 0 ? ahead && !over : p == 0 ? ahead || over : !over;
    const int points = 10 * (worth(led) + worth(card));
    if (take) return points + 200 + 3 * single - 14 * trump(card) - 5 * rank(card);
    return -points + 3 * single + 42 * trump(card) + 113 * ahead;
  }

  int third_score(int r, int card, bool ahead, int so_far, int sure) const {
    if constexpr (kNull) return -100 * sure + (r == 0 ? 79 : 16) * rank(card) + (r ? 60 : 5) * (length(r, card) == 1);
    const int points = 10 * (so_far + worth(card));
    return sure > 0 ? points + 98 - 119 * trump(card) - 8 * rank(card) + 41 * ahead
                    : -points - 224 * trump(card) - 20 * rank(card);
  }
};

}  // namespace trickformer::skat::inline TRICKFORMER_ISA
