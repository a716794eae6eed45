// Conclusions of a seat about cards that it does not see, and the conclusions that others can expect of it.
#pragma once
#include "hanabi/marks.hpp"

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

enum class Fate : std::uint8_t { kUnknown, kPlayable, kTrash };

struct Deductions {
  const State& s;
  const Marks& m;
  Needs needs;
  Copies left;  // cards neither piled nor discarded

  Deductions(const State& state, const Marks& marks) : s(state), m(marks), left(undiscarded_copies(state)) {
    const Kinds piled = piled_kinds(state);
    needs = needs_of(state.rules, left, piled);
    left.take(piled);
  }

  // The cards that `seat` does not see, as `witness` computes them. A card in the hand of either counts as seen only if
  // hints identify it. For conclusions about its own hand, a seat is its own witness. own: whether cards in the hand of
  // `seat` that hints identify count as seen.
  Copies unseen(int seat, int witness, bool own = true) const {
    const Rules& rules = s.rules;
    Copies out = left;
    for (int p = 0; p < rules.players; ++p) {
      if (p == seat && !own) continue;
      for (int i = 0; i < s.sizes[p]; ++i) {
        const Kinds kinds = p != seat && p != witness ? one(s.hands[p][i].card) : hinted_kinds(rules, s.hands[p][i]);
        if (single(kinds)) out.take(kinds);
      }
    }
    return out;
  }

  // The kinds that a card may be: possible by its hints, meant by them, and still available. Never empty.
  static Kinds belief(Kinds possible, Kinds there, Kinds meant) {
    if (single(possible)) return possible;
    Kinds kinds = possible & there ? possible & there : possible;
    return kinds & meant ? kinds & meant : kinds;
  }

  // Writes the kinds that each slot of `seat` may be to out [hand]. meant: whether to use the meaning of the hints by
  // the convention; otherwise hints are taken literally. witness: as in `unseen`.
  void beliefs(int seat, int witness, bool meant, Kinds* out) const {
    const Kinds there = unseen(seat, witness).more_than[0];
    for (int i = 0; i < s.sizes[seat]; ++i)
      out[i] = belief(hinted_kinds(s.rules, s.hands[seat][i]), there, meant ? m.kinds[seat][i] : ~Kinds{0});
  }

  // The fate of a card that may be these kinds. A seat with a life to spare assumes that hinted cards are useful.
  Fate fate(bool touched, Kinds kinds) const {
    const Kinds live = kinds & ~needs.dead;
    if (live == 0) return Fate::kTrash;
    return ((touched && s.lives > 1 ? live : kinds) & ~needs.playable) == 0 ? Fate::kPlayable : Fate::kUnknown;
  }
};

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
