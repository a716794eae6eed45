// What a seat's position of Hearts is as numbers: the features that are an input of models (HandTracker::features).
//
// `emit(at, value)` is called for each number that is not 0, so that a network can add up its rows as they come.
#pragma once
#include "hearts/knowledge.hpp"

namespace trickformer::hearts {

// The parts of a sequence.
enum class Stage : std::uint8_t { kSeat, kDeal, kDirection, kPass, kReceive, kLeader, kPlay, kEnd };

// What the features are, and where each begins. All but the points are 0 or 1; seats count from the own one.
enum Feature : int {
  kOwnFact = 0,                               // [52] own hand, cards to be received among it once they are
  kNextFact = kOwnFact + kNumCards,           // [52] cards that some deal allows next
  kUnseenFact = kNextFact + kNumCards,        // [52] cards not seen, which the others hold
  kNotHeldFact = kUnseenFact + kNumCards,     // [3][52] those that each other seat cannot hold, by voids and passes
  kTrickFact = kNotHeldFact + 3 * kNumCards,  // [52] the trick under way; before play the cards passed
  kStageFact = kTrickFact + kNumCards,        // [7] which part of the sequence comes next
  kTurnFact = kStageFact + 7,                 // [4] who acts next
  kPlaceFact = kTurnFact + kPlayers,          // [4] place in the trick of the card to come
  kLedFact = kPlaceFact + kPlayers,           // [4] suit led
  kWinnerFact = kLedFact + 4,                 // [4] who is winning the trick
  kRankFact = kWinnerFact + kPlayers,         // [13] and with which rank
  kBrokenFact = kRankFact + 13,               // hearts may be led
  kQueenFact = kBrokenFact + 1,               // [4] who took the queen of spades
  kPointsFact = kQueenFact + kPlayers,        // [4] points that each seat took, over 26
  kTookFact = kPointsFact + kPlayers,         // [4] who took a trick
  kMoonFact = kTookFact + kPlayers,           // [2] all points so far are the own seat's, another's
  kVoidFact = kMoonFact + 2,                  // [3][4] suits that each other seat cannot hold
  kTricksFact = kVoidFact + 3 * 4,            // [13] tricks played
  kFeatures = kTricksFact + kHand,
};
static_assert(kFeatures == 440);

inline namespace TRICKFORMER_ISA {

template <typename Emit>
void emit_cards(int at, Cards set, Emit&& emit) {
  while (set) emit(at + take_lowest(set), 1.0f);
}

// Before play. next: cards that may come; direction: 0 where it is not known yet, or nobody passes.
template <typename Emit>
void features_before_play(Stage stage, Cards dealt, Cards passed, Cards received, Cards next, int direction,
                          Emit&& emit) {
  if (stage != Stage::kSeat) emit(kStageFact + int(stage) - 1, 1.0f);  // after the first token
  const Cards hidden = kAll & ~dealt & ~received;
  emit_cards(kOwnFact, (dealt & ~passed) | received, emit);
  emit_cards(kNextFact, next, emit);
  emit_cards(kUnseenFact, hidden | passed, emit);
  for (int i = 1; i < kPlayers; ++i)
    if (i != direction) emit_cards(kNotHeldFact + (i - 1) * kNumCards, passed, emit);
  emit_cards(kTrickFact, passed, emit);
  if (stage == Stage::kPass) emit(kTurnFact, 1.0f);
}

// In play, or at its end. taken: by seat; trick: the cards on the table.
template <typename Emit>
void features_of_play(const Knowledge& k, Cards next, const Cards taken[kPlayers], Cards trick, Emit&& emit) {
  const auto relative = [&](int seat) { return (seat + kPlayers - k.seat) % kPlayers; };
  const bool over = k.num_plays == kNumCards;
  emit(kStageFact + int(over ? Stage::kEnd : Stage::kPlay) - 1, 1.0f);
  emit_cards(kOwnFact, k.mine, emit);
  emit_cards(kNextFact, next, emit);
  emit_cards(kUnseenFact, k.unseen, emit);
  Cards points = 0;
  for (int p = 0; p < kPlayers; ++p) {
    const int seat = relative(p);
    points |= taken[p] & kPointCards;
    if (taken[p] & bit(kQueenOfSpades)) emit(kQueenFact + seat, 1.0f);
    if (const int n = card_points(taken[p])) emit(kPointsFact + seat, float(n) / 26);
    if (taken[p]) emit(kTookFact + seat, 1.0f);
    if (p == k.seat) continue;
    const Cards may = k.may_hold(p);
    emit_cards(kNotHeldFact + (seat - 1) * kNumCards, k.unseen & ~may, emit);
    for (int suit = 0; suit < 4; ++suit)
      if (!(may & suit_cards(suit))) emit(kVoidFact + (seat - 1) * 4 + suit, 1.0f);
  }
  if (points)
    for (int p = 0; p < kPlayers; ++p)
      if ((taken[p] & kPointCards) == points) emit(kMoonFact + (p != k.seat), 1.0f);
  if (k.hearts_broken) emit(kBrokenFact, 1.0f);
  if (over) return;
  emit(kTricksFact + k.num_plays / kPlayers, 1.0f);
  emit(kTurnFact + relative(k.current), 1.0f);
  emit(kPlaceFact + k.num_plays % kPlayers, 1.0f);
  emit_cards(kTrickFact, trick, emit);
  if (k.leading()) return;
  emit(kLedFact + k.led_suit, 1.0f);
  emit(kWinnerFact + relative(k.best_seat), 1.0f);
  if (k.best_card >= 0) emit(kRankFact + k.best_card / 4, 1.0f);
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::hearts
