// The rules of Hearts, equal to OpenSpiel's `hearts` under all of its options.
#pragma once
#include "core/bits.hpp"
#include "hearts/types.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

inline void begin_play(State& s) {
  s.phase = Phase::kPlay;
  for (int p = 0; p < kPlayers; ++p)
    if (s.hand[p] & bit(kTwoOfClubs)) s.current = std::uint8_t(p);
  s.leader[0] = s.current;
}

// The state after the deal; hands hold 13 cards each.
inline State new_hand(const Rules& rules, int direction, const Cards hands[kPlayers]) {
  State s{};
  s.rules = rules;
  for (int p = 0; p < kPlayers; ++p) s.hand[p] = s.dealt[p] = hands[p];
  s.direction = std::uint8_t(direction);
  s.hearts_broken = !rules.must_break_hearts;
  if (direction == 0) begin_play(s);
  return s;
}

// The legal plays of a seat, given its hand and the public information. Never empty for a non-empty hand.
inline Cards legal_plays(const Rules& rules, Cards hand, int num_plays, int led_suit, bool hearts_broken) {
  const bool leading = num_plays % kPlayers == 0;
  if (!leading) {
    if (const Cards follow = hand & suit_cards(led_suit)) return follow;
  } else if (num_plays == 0) {
    return rules.can_lead_any_club ? hand & kClubs : bit(kTwoOfClubs);
  }
  if (num_plays < kPlayers && rules.no_pts_on_first_trick)
    if (const Cards harmless = hand & ~kPointCards) return harmless;
  if (leading && !hearts_broken) {
    const Cards lead = hand & ~kHearts;
    if (lead && !(rules.can_lead_hearts_instead_of_qs && lead == bit(kQueenOfSpades))) return lead;
  }
  return hand;
}

inline Cards legal(const State& s) {
  if (s.phase == Phase::kPass) return s.hand[s.current];
  if (s.phase == Phase::kOver) return 0;
  return legal_plays(s.rules, s.hand[s.current], s.num_plays, s.led_suit, s.hearts_broken);
}

inline void apply_pass(State& s, int card) {
  s.hand[s.current] ^= bit(card);
  s.passed[s.current] |= bit(card);
  s.passes[s.num_passes++] = std::uint8_t(card);
  s.current = std::uint8_t(s.num_passes / kPass);
  if (s.num_passes == kPlayers * kPass) {
    for (int p = 0; p < kPlayers; ++p) s.hand[(p + s.direction) % kPlayers] |= s.passed[p];
    begin_play(s);
  }
}

// Adds a card to the current trick of any struct with these members: the suit led, the winning seat and its card. Cards
// of one suit compare like their ranks.
template <typename Trick>
void lay(Trick& t, int in_trick, int seat, int card) {
  const int suit = card % 4;
  if (in_trick == 0) t.led_suit = decltype(t.led_suit)(suit);
  if (in_trick == 0 || (suit == t.led_suit && card > t.best_card)) {
    t.best_card = decltype(t.best_card)(card);
    t.best_seat = decltype(t.best_seat)(seat);
  }
}

inline void apply_play(State& s, int card) {
  const int seat = s.current, suit = card % 4;
  const int in_trick = s.num_plays % kPlayers;
  s.hand[seat] ^= bit(card);
  s.plays[s.num_plays++] = std::uint8_t(card);
  s.hearts_broken |= suit == 2 || (card == kQueenOfSpades && s.rules.qs_breaks_hearts);
  lay(s, in_trick, seat, card);
  if (in_trick < kPlayers - 1) {
    s.current = std::uint8_t((seat + 1) % kPlayers);
    return;
  }
  const std::uint8_t* trick = s.plays + s.num_plays - kPlayers;
  s.taken[s.best_seat] |= bit(trick[0]) | bit(trick[1]) | bit(trick[2]) | bit(trick[3]);
  s.current = s.best_seat;
  if (s.num_plays == kNumCards)
    s.phase = Phase::kOver;
  else
    s.leader[s.num_plays / kPlayers] = s.current;
}

inline void apply(State& s, int card) {
  if (s.phase == Phase::kPass)
    apply_pass(s, card);
  else
    apply_play(s, card);
}

// Points of a set of cards, hearts and queen of spades: 0..26.
inline int card_points(Cards cards) { return count(cards & kHearts) + (cards & bit(kQueenOfSpades) ? 13 : 0); }

// Points by seat as in the paper: shooting the moon is -26 for the shooter and 0 for the others (OpenSpiel: 0 and 26).
// OpenSpiel's returns are 26 less its points. Before the end: the points taken so far.
inline void scores(const Rules& rules, const Cards taken[kPlayers], std::int8_t out[kPlayers]) {
  bool moon = false;
  for (int p = 0; p < kPlayers; ++p) moon |= card_points(taken[p]) == 26;
  for (int p = 0; p < kPlayers; ++p) {
    const int points = card_points(taken[p]);
    int score = moon ? -points : points;
    if (rules.jd_bonus && taken[p] & bit(kJackOfDiamonds)) score -= 10;
    if (rules.avoid_all_tricks_bonus && !moon && !taken[p]) score -= 5;
    out[p] = std::int8_t(score);
  }
}

// Deals with the deck shuffled by `rng`: `deck[i]` goes to seat i mod 4, as in OpenSpiel.
inline void shuffle_deal(Rng& rng, std::uint8_t deck[kNumCards], Cards hands[kPlayers]) {
  for (int i = 0; i < kNumCards; ++i) deck[i] = std::uint8_t(i);
  for (int p = 0; p < kPlayers; ++p) hands[p] = 0;
  for (int i = 0; i < kNumCards; ++i) {
    const int j = i + int(rng.below(std::uint32_t(kNumCards - i)));
    const std::uint8_t card = deck[j];
    deck[j] = deck[i];
    deck[i] = card;
    hands[i % kPlayers] |= bit(card);
  }
}

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA
