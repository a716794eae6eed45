// The convention of Hanabi's scripted players, and its memory: for every card in a hand, the kinds that the hints so
// far mean. All of it is public. So it is equal in all states that differ only in hidden cards.
//
// A hint is about one card, its focus: the newest card that it touches and no earlier hint did, or else the newest
// touched card that was not known to be playable or useless. The focus is playable. There is one exception, when a rank
// is hinted and the focus is the chop, the oldest card without a hint and so the next to be discarded: then it may
// instead be the last copy of a card that is still needed. All touched cards are assumed to be still needed as long as
// a life can be spared. `Deductions::fate` assumes it; the marks do not show it.
#pragma once
#include "hanabi/rules.hpp"

namespace trickformer::hanabi {

struct Marks {
  Kinds kinds[kMaxPlayers][kMaxHand];  // by seat and slot; never empty for a card
};

// The status of the kinds by piles and discards.
struct Needs {
  Kinds next = 0;      // next on their piles
  Kinds playable = 0;  // next on their piles, and a copy is left
  Kinds dead = 0;      // piled, or unreachable because a lower rank is gone
  Kinds critical = 0;  // only one copy is left of a kind that is still needed
};

}  // namespace trickformer::hanabi

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

inline Kinds all_kinds(const Rules& rules) { return one(rules.kinds()) - 1; }
inline bool single(Kinds kinds) { return (kinds & (kinds - 1)) == 0; }  // the set must not be empty

// The kinds that the hints allow, taken literally.
inline Kinds hinted_kinds(const Rules& rules, const Slot& slot) {
  return kFirsts.of[rules.ranks][slot.colors] * slot.ranks;
}

// Number of cards of each kind. more_than[i]: the kinds with more than i cards.
struct Copies {
  Kinds more_than[3] = {};

  // Removes one card of each of these kinds, if one is left.
  void take(Kinds kinds) {
    more_than[0] = (more_than[0] & ~kinds) | (more_than[1] & kinds);
    more_than[1] = (more_than[1] & ~kinds) | (more_than[2] & kinds);
    more_than[2] &= ~kinds;
  }
  int left(int kind) const {
    return int((more_than[0] >> kind & 1) + (more_than[1] >> kind & 1) + (more_than[2] >> kind & 1));
  }
  int left_of(Kinds kinds) const {
    return count(kinds & more_than[0]) + count(kinds & more_than[1]) + count(kinds & more_than[2]);
  }
};

// All cards that are not discarded.
inline Copies undiscarded_copies(const State& s) {
  Copies c;
  for (int color = 0, k = 0; color < s.rules.colors; ++color)
    for (int r = 0; r < s.rules.ranks; ++r, ++k) {
      const int n = s.rules.copies(r) - s.discards[k];
      c.more_than[0] |= Kinds(n > 0) << k;
      c.more_than[1] |= Kinds(n > 1) << k;
      c.more_than[2] |= Kinds(n > 2) << k;
    }
  return c;
}

inline Kinds piled_kinds(const State& s) {
  Kinds kinds = 0;
  for (int c = 0; c < s.rules.colors; ++c) kinds |= (one(s.fireworks[c]) - 1) << c * s.rules.ranks;
  return kinds;
}

inline Needs needs_of(const Rules& rules, const Copies& kept, Kinds piled) {
  const Kinds all = all_kinds(rules), firsts = of_rank(rules, 0), open = all & ~piled;
  Kinds lost = open & ~kept.more_than[0];
  for (int r = 1; r < rules.ranks; ++r) lost |= lost << 1 & ~firsts & all;
  Needs b;
  b.dead = piled | lost;
  b.next = (firsts | piled << 1) & open;
  b.playable = b.next & ~lost;
  b.critical = kept.more_than[0] & ~kept.more_than[1] & ~b.dead;
  return b;
}

inline Needs needs_of(const State& s) { return needs_of(s.rules, undiscarded_copies(s), piled_kinds(s)); }

// The oldest card that no hint has touched, or -1.
inline int chop_of(const State& s, int seat) {
  for (int i = 0; i < s.sizes[seat]; ++i)
    if (s.hands[seat][i].hint_bits == 0) return i;
  return -1;
}

// The marks of a state in which hints mean no more than they say, as before the first hint.
inline Marks plain_marks(const State& s) {
  Marks m = {};
  for (int p = 0; p < s.rules.players; ++p)
    for (int i = 0; i < s.sizes[p]; ++i) m.kinds[p][i] = hinted_kinds(s.rules, s.hands[p][i]);
  return m;
}

// A hand before a hint: what the earlier hints allow and mean, and the slots that none has touched.
struct HintedHand {
  int size = 0;
  unsigned fresh = 0;
  Kinds possible[kMaxHand], marks[kMaxHand];

  HintedHand() = default;
  HintedHand(const State& s, const Marks& m, int seat) : size(s.sizes[seat]) {
    for (int i = 0; i < size; ++i) {
      const Slot& slot = s.hands[seat][i];
      possible[i] = hinted_kinds(s.rules, slot);
      marks[i] = m.kinds[seat][i];
      fresh |= unsigned(slot.hint_bits == 0) << i;
    }
  }

  // The hand after a hint that touches these slots. needs: at the time of the hint.
  HintedHand after(const Rules& rules, const Needs& needs, Kind kind, int value, unsigned touched) const {
    const Kinds named = named_by(rules, kind, value), settled = needs.dead | needs.playable;
    HintedHand now;
    now.size = size;
    now.fresh = fresh & ~touched;
    unsigned open = 0;  // slots that were not known to be playable or useless
    for (int i = 0; i < size; ++i) {
      const Kinds can = possible[i] & (touched >> i & 1 ? named : ~named), both = marks[i] & can;
      open |= unsigned((marks[i] & ~settled) != 0) << i;
      now.possible[i] = can;
      now.marks[i] = both ? both : can;
    }
    // The focus of the hint. Without one the hint means no more than it says.
    const unsigned about = touched & fresh ? touched & fresh : touched & open;
    if (about == 0) return now;
    const unsigned focus = std::bit_floor(about), chop = fresh & -fresh;
    const Kinds meant = kind == Kind::kHintRank && focus == chop ? needs.playable | needs.critical : needs.playable;
    Kinds& marks_of = now.marks[lowest(focus)];
    if (marks_of & meant) marks_of &= meant;
    return now;
  }
};

// Updates the marks after a play or discard of a slot. size: number of cards before; drew: whether a card was drawn.
inline void mark_card(const Rules& rules, Marks& m, int seat, int slot, int size, bool drew) {
  Kinds* kinds = m.kinds[seat];
  for (int i = slot; i < size - 1; ++i) kinds[i] = kinds[i + 1];
  kinds[size - 1] = drew ? all_kinds(rules) : 0;
}

// Updates the marks after a hint. before: the state in which it is given; only its public part is read.
inline void mark_hint(Marks& m, const State& before, const Move& hint, unsigned touched) {
  const int seat = (before.player + hint.offset) % before.rules.players;
  const HintedHand now =
      HintedHand(before, m, seat).after(before.rules, needs_of(before), hint.kind, hint.value, touched);
  for (int i = 0; i < now.size; ++i) m.kinds[seat][i] = now.marks[i];
}

// Makes a legal move and updates the marks.
inline void apply(State& s, Marks& m, int action) {
  const Move move = move_of(s.rules, action);
  const int seat = s.player, size = s.sizes[seat];
  if (move.kind >= Kind::kHintColor)
    mark_hint(m, s, move, named_slots(s, (seat + move.offset) % s.rules.players, move.kind, move.value));
  apply(s, action);
  if (move.kind <= Kind::kDiscard) mark_card(s.rules, m, seat, move.slot, size, s.sizes[seat] == size);
}

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
