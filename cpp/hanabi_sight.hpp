// What a seat may conclude of cards that it does not see, and what others may expect it to conclude.
#pragma once
#include <algorithm>

#include "hanabi_marks.hpp"

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

enum class Fate : std::uint8_t { kUnknown, kPlayable, kTrash };

struct Sight {
  const State& s;
  const Marks& m;
  Board board;
  int left[kMaxKinds] = {};  // cards of each kind neither piled nor discarded

  Sight(const State& state, const Marks& marks) : s(state), m(marks), board(board_of(state)) {
    const Rules& rules = s.rules;
    for (int c = 0, k = 0; c < rules.colors; ++c)
      for (int r = 0; r < rules.ranks; ++r, ++k) left[k] = rules.copies(r) - s.discards[k] - (s.fireworks[c] > r);
  }
  // After a hint, which leaves the board as it was.
  Sight(const Sight& before, const State& state, const Marks& marks) : s(state), m(marks), board(before.board) {
    std::copy(before.left, before.left + kMaxKinds, left);
  }

  // Copies of each kind that `seat` sees nowhere, as far as `witness` knows, who does not see its own hand either; for
  // what it can say of its own hand, a seat is its own witness. out: [kinds]
  void unseen(int seat, int witness, int* out) const {
    const Rules& rules = s.rules;
    std::copy(left, left + kMaxKinds, out);
    for (int p = 0; p < rules.players; ++p)
      for (int i = 0; i < s.sizes[p]; ++i) {
        if (p != seat && p != witness) {
          --out[s.hands[p][i].card];
        } else if (const Kinds kinds = said(rules, s.hands[p][i]); count(kinds) == 1) {
          --out[lowest(kinds)];
        }
      }
  }

  // The kinds that each slot of `seat` may be by what hints say alone (meant false) or mean, and by the cards in sight
  // as of unseen. out: [hand], never empty
  void beliefs(int seat, int witness, bool meant, Kinds* out) const {
    int copies[kMaxKinds];
    unseen(seat, witness, copies);
    Kinds there = 0;
    for (int k = 0; k < s.rules.kinds(); ++k) there |= Kinds{copies[k] > 0} << k;
    for (int i = 0; i < s.sizes[seat]; ++i) {
      const Kinds possible = said(s.rules, s.hands[seat][i]);
      out[i] = possible;
      if (count(possible) == 1) continue;
      if (possible & there) out[i] &= there;
      if (meant && out[i] & m.kinds[seat][i]) out[i] &= m.kinds[seat][i];
    }
  }

  // What becomes of a card that may be these kinds. Who has a life to spare trusts that touched cards are wanted.
  Fate fate(int seat, int slot, Kinds kinds) const {
    const Kinds live = kinds & ~board.dead;
    if (live == 0) return Fate::kTrash;
    const bool trusted = s.lives > 1 && s.hands[seat][slot].told != 0;
    return ((trusted ? live : kinds) & ~board.playable) == 0 ? Fate::kPlayable : Fate::kUnknown;
  }
};

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
