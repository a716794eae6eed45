// The convention of Hanabi's scripted players, and the memory that it needs: for every card in a hand the kinds that
// the hints given so far mean it to be. All of it is public, a function of what everybody saw, so that it is the same
// in all states that differ in hidden cards only.
//
// A hint speaks of one card, its focus: the newest card that it touches and no hint before it did, else the newest
// touched card that was not known to be playable. The focus is playable. Only where a rank is named and the focus is
// the chop, the oldest card without a hint and so the next to be discarded, it may instead be the last copy of a card
// that is still wanted. What was touched is taken for a card that is still to be played.
#pragma once
#include "hanabi_rules.hpp"

namespace trickformer::hanabi {

using Kinds = std::uint32_t;  // a set of kinds of card

struct Marks {
  Kinds kinds[kMaxPlayers][kMaxHand];  // by seat and slot; never empty where there is a card
};

// What the piles and the discards say of every kind.
struct Board {
  Kinds playable = 0;
  Kinds dead = 0;      // piled, or out of reach because a lower rank is gone
  Kinds critical = 0;  // the last copy of what is still wanted
};

}  // namespace trickformer::hanabi

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

inline constexpr Kinds one(int kind) { return Kinds{1} << kind; }
inline Kinds all_kinds(const Rules& rules) { return one(rules.kinds()) - 1; }

inline Kinds of_rank(const Rules& rules, int rank) {
  Kinds set = 0;
  for (int c = 0; c < rules.colors; ++c) set |= one(c * rules.ranks + rank);
  return set;
}

// The kinds that hints leave possible, taken for what they say.
inline Kinds said(const Rules& rules, const Slot& slot) {
  Kinds firsts = 0;
  for (int c = 0; c < rules.colors; ++c) firsts |= Kinds(slot.colors >> c & 1) << c * rules.ranks;
  return firsts * slot.ranks;
}

inline Board board_of(const State& s) {
  const Rules& rules = s.rules;
  Board b;
  for (int c = 0, k = 0; c < rules.colors; ++c) {
    bool reachable = true;
    for (int r = 0; r < rules.ranks; ++r, ++k) {
      const int copies = rules.copies(r) - s.discards[k];
      if (r < s.fireworks[c]) {
        b.dead |= one(k);
      } else if (!reachable || copies == 0) {
        b.dead |= one(k);
        reachable = false;
      } else {
        if (r == s.fireworks[c]) b.playable |= one(k);
        if (copies == 1) b.critical |= one(k);
      }
    }
  }
  return b;
}

// The oldest card that no hint has touched, or -1.
inline int chop_of(const State& s, int seat) {
  for (int i = 0; i < s.sizes[seat]; ++i)
    if (s.hands[seat][i].told == 0) return i;
  return -1;
}

// The marks of a state whose hints mean no more than they say, as all do before the first.
inline Marks plain_marks(const State& s) {
  Marks m = {};
  for (int p = 0; p < s.rules.players; ++p)
    for (int i = 0; i < s.sizes[p]; ++i) m.kinds[p][i] = said(s.rules, s.hands[p][i]);
  return m;
}

// The slot that a hint speaks of, or -1 where it means no more than it says. before: the state in which it is given.
inline int focus_of(const State& before, const Marks& m, const Board& board, int seat, unsigned touched) {
  int fresh = -1, open = -1;
  while (touched) {
    const int i = take_lowest(touched);
    if (before.hands[seat][i].told == 0)
      fresh = i;
    else if (m.kinds[seat][i] & ~(board.dead | board.playable))
      open = i;
  }
  return fresh >= 0 ? fresh : open;
}

// Follows a move. before, after: the states around it, of which nothing is read but what everybody saw.
inline void mark(Marks& m, const State& before, int action, const State& after) {
  const Rules& rules = before.rules;
  const Move move = move_of(rules, action);
  if (move.kind <= Kind::kDiscard) {
    const int seat = before.player, last = before.sizes[seat] - 1;
    for (int i = move.slot; i < last; ++i) m.kinds[seat][i] = m.kinds[seat][i + 1];
    m.kinds[seat][last] = after.sizes[seat] > last ? all_kinds(rules) : 0;
    return;
  }
  const int seat = (before.player + move.offset) % rules.players;
  const Board board = board_of(before);
  const int focus = focus_of(before, m, board, seat, after.last.touched);
  Kinds meant = board.playable;
  if (move.kind == Kind::kHintRank && focus == chop_of(before, seat)) meant |= board.critical;
  for (int i = 0; i < after.sizes[seat]; ++i) {
    Kinds& kinds = m.kinds[seat][i];
    const Kinds possible = said(rules, after.hands[seat][i]);
    kinds = kinds & possible ? kinds & possible : possible;
    if (i == focus && kinds & meant) kinds &= meant;
  }
}

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
