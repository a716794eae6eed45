// The observation of one seat of Hanabi, in OpenSpiel's canonical encoding: 658 numbers for two players with five
// cards.
//
// The parts, in order: the hands of the others, the board, the discards, the last move, and what hints have revealed
// about every card. The last part has a 1 for each kind that the hints allow. With `v0` it has the V0 belief instead:
// the share of the kind among the cards that the hints allow and that are neither piled nor discarded.
#pragma once
#include <cstring>

#include "hanabi/rules.hpp"

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

inline int observation_size(const Rules& rules) {
  const int kinds = rules.kinds(), players = rules.players;
  const int hands = (players - 1) * rules.hand * kinds + players;
  const int needs = rules.deck() - rules.cards_in_hands() + kinds + rules.hints + rules.lives;
  const int last = 2 * players + 4 + rules.colors + rules.ranks + 2 * rules.hand + kinds + 2;
  return hands + needs + rules.deck() + last + players * rules.hand * (kinds + rules.colors + rules.ranks);
}

// Number of cards of each kind that are neither piled nor discarded: float [kinds].
inline void unseen(const State& s, float* counts) {
  for (int c = 0, k = 0; c < s.rules.colors; ++c)
    for (int r = 0; r < s.rules.ranks; ++r, ++k)
      counts[k] = float(s.rules.copies(r) - s.discards[k] - (s.fireworks[c] > r));
}

// The V0 belief about one card: float [kinds] with sum 1.
inline void v0(const State& s, const Slot& slot, const float* counts, float* out) {
  float sum = 0;
  for (int c = 0, k = 0; c < s.rules.colors; ++c)
    for (int r = 0; r < s.rules.ranks; ++r, ++k)
      sum += out[k] = (slot.colors >> c & slot.ranks >> r & 1) ? counts[k] : 0.0f;
  for (int k = 0; k < s.rules.kinds(); ++k) out[k] /= sum;
}

// A set of ranks as eight numbers, 0 or 1.
struct RankRows {
  float rows[1 << kMaxRanks][8] = {};
  constexpr RankRows() {
    for (int set = 0; set < 1 << kMaxRanks; ++set)
      for (int r = 0; r < kMaxRanks; ++r) rows[set][r] = float(set >> r & 1);
  }
};
inline constexpr RankRows kRankRows;

// The kinds that the hints allow. out: [kinds + colors + ranks], all 0; the numbers after the kinds stay 0.
inline void possible_kinds(const Rules& rules, const Slot& slot, float* out) {
  // Writing eight numbers at a time is faster than five. The surplus ones are 0 and land on zeros or on numbers written
  // later.
  const bool wide = 2 * rules.ranks + rules.colors >= 8;
  for (unsigned colors = slot.colors; colors;) {
    float* row = out + take_lowest(colors) * rules.ranks;
    if (wide)
      std::memcpy(row, kRankRows.rows[slot.ranks], sizeof kRankRows.rows[0]);
    else
      for (unsigned ranks = slot.ranks; ranks;) row[take_lowest(ranks)] = 1;
  }
}

// out: [observation_size(rules)].
inline void observe(const State& s, int seat, bool with_v0, float* out) {
  const Rules& rules = s.rules;
  const int kinds = rules.kinds(), players = rules.players;
  std::memset(out, 0, sizeof(float) * std::size_t(observation_size(rules)));
  const auto at = [&](int offset) { return (seat + offset) % players; };

  for (int offset = 1; offset < players; ++offset) {
    const int p = at(offset);
    for (int i = 0; i < s.sizes[p]; ++i) out[i * kinds + s.hands[p][i].card] = 1;
    out += rules.hand * kinds;
  }
  for (int offset = 0; offset < players; ++offset) *out++ = s.sizes[at(offset)] < rules.hand;

  for (int i = 0; i < s.left(); ++i) out[i] = 1;
  out += rules.deck() - rules.cards_in_hands();
  for (int c = 0; c < rules.colors; ++c, out += rules.ranks)
    if (s.fireworks[c]) out[s.fireworks[c] - 1] = 1;
  for (int i = 0; i < s.hints; ++i) out[i] = 1;
  out += rules.hints;
  for (int i = 0; i < s.lives; ++i) out[i] = 1;
  out += rules.lives;

  for (int k = 0; k < kinds; ++k) {
    for (int i = 0; i < s.discards[k]; ++i) out[i] = 1;
    out += rules.copies(k % rules.ranks);
  }

  const Last& last = s.last;
  const Move& move = last.move;
  const bool some = move.kind != Kind::kNone, hint = some && move.kind >= Kind::kHintColor, card = some && !hint;
  const int actor = (last.player - seat + players) % players;
  if (some) out[actor] = 1;
  out += players;
  if (some) out[int(move.kind)] = 1;
  out += 4;
  if (hint) out[(actor + move.offset) % players] = 1;
  out += players;
  if (move.kind == Kind::kHintColor) out[move.value] = 1;
  out += rules.colors;
  if (move.kind == Kind::kHintRank) out[move.value] = 1;
  out += rules.ranks;
  if (hint)
    for (unsigned slots = last.touched; slots;) out[take_lowest(slots)] = 1;
  out += rules.hand;
  if (card) out[move.slot] = 1;
  out += rules.hand;
  if (card) out[last.card] = 1;
  out += kinds;
  if (move.kind == Kind::kPlay) {
    out[0] = last.scored;
    out[1] = last.regained;
  }
  out += 2;

  float counts[kMaxKinds];
  if (with_v0) unseen(s, counts);
  const int size = kinds + rules.colors + rules.ranks;
  for (int offset = 0; offset < players; ++offset) {
    const int p = at(offset);
    for (int i = 0; i < s.sizes[p]; ++i) {
      const Slot& slot = s.hands[p][i];
      float* o = out + i * size;
      if (with_v0) {
        v0(s, slot, counts, o);
      } else {
        possible_kinds(rules, slot, o);
      }
      if (slot.hint_bits & 1) o[kinds + lowest(unsigned(slot.colors))] = 1;
      if (slot.hint_bits & 2) o[kinds + rules.colors + lowest(unsigned(slot.ranks))] = 1;
    }
    out += rules.hand * size;
  }
}

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
