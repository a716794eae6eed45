// Features of one seat's position in Hearts: numbers that the model reads beside each token (HandTracker::features).
//
// `emit(at, value)` is called for each number that is not 0, so that a network can add its weight rows at once.
#pragma once
#include "hearts/knowledge.hpp"

namespace trickformer::hearts {

// The stages of a sequence.
enum class Stage : std::uint8_t { kSeat, kDeal, kDirection, kPass, kReceive, kLeader, kPlay, kEnd };

// Index of the first number of each feature, with its shape. All but the points are 0 or 1. Seats count from the own
// one.
enum Feature : int {
  kOwnFeature = 0,                               // [52] own hand, including cards to be received once they are known
  kNextFeature = kOwnFeature + kNumCards,        // [52] cards that may come next in some deal
  kUnseenFeature = kNextFeature + kNumCards,     // [52] cards not seen, which the others hold
  kNotHeldFeature = kUnseenFeature + kNumCards,  // [3][52] cards that each other seat cannot hold, by voids and passes
  kTrickFeature = kNotHeldFeature + 3 * kNumCards,  // [52] the current trick; before play the cards passed
  kStageFeature = kTrickFeature + kNumCards,        // [7] which part of the sequence comes next
  kTurnFeature = kStageFeature + 7,                 // [4] who acts next
  kPlaceFeature = kTurnFeature + kPlayers,          // [4] place in the trick of the next card
  kLedFeature = kPlaceFeature + kPlayers,           // [4] suit led
  kWinnerFeature = kLedFeature + 4,                 // [4] who is winning the trick
  kRankFeature = kWinnerFeature + kPlayers,         // [13] rank of the winning card
  kBrokenFeature = kRankFeature + 13,               // hearts may be led
  kQueenFeature = kBrokenFeature + 1,               // [4] who took the queen of spades
  kPointsFeature = kQueenFeature + kPlayers,        // [4] points that each seat took, over 26
  kTookFeature = kPointsFeature + kPlayers,         // [4] who took a trick
  kMoonFeature = kTookFeature + kPlayers,           // [2] the own seat has all points so far; another has
  kVoidFeature = kMoonFeature + 2,                  // [3][4] suits that each other seat cannot hold
  kTricksFeature = kVoidFeature + 3 * 4,            // [13] tricks played
  kFeatures = kTricksFeature + kHand,
};
static_assert(kFeatures == 440);

inline namespace TRICKFORMER_ISA {

template <typename Emit>
void emit_cards(int at, Cards set, Emit&& emit) {
  while (set) emit(at + take_lowest(set), 1.0f);
}

// Emits the features before play. next: cards that may come next. direction: 0 if it is unknown or nobody passes.
template <typename Emit>
void features_before_play(Stage stage, Cards dealt, Cards passed, Cards received, Cards next, int direction,
                          Emit&& emit) {
  if (stage != Stage::kSeat) emit(kStageFeature + int(stage) - 1, 1.0f);  // after the first token
  const Cards hidden = kAll & ~dealt & ~received;
  emit_cards(kOwnFeature, (dealt & ~passed) | received, emit);
  emit_cards(kNextFeature, next, emit);
  emit_cards(kUnseenFeature, hidden | passed, emit);
  for (int i = 1; i < kPlayers; ++i)
    if (i != direction) emit_cards(kNotHeldFeature + (i - 1) * kNumCards, passed, emit);
  emit_cards(kTrickFeature, passed, emit);
  if (stage == Stage::kPass) emit(kTurnFeature, 1.0f);
}

// Emits the features during and after play. taken: cards won by each seat. trick: the cards on the table.
template <typename Emit>
void features_of_play(const Knowledge& k, Cards next, const Cards taken[kPlayers], Cards trick, Emit&& emit) {
  const auto relative = [&](int seat) { return (seat + kPlayers - k.seat) % kPlayers; };
  const bool over = k.num_plays == kNumCards;
  emit(kStageFeature + int(over ? Stage::kEnd : Stage::kPlay) - 1, 1.0f);
  emit_cards(kOwnFeature, k.mine, emit);
  emit_cards(kNextFeature, next, emit);
  emit_cards(kUnseenFeature, k.unseen, emit);
  Cards points = 0;
  for (int p = 0; p < kPlayers; ++p) {
    const int seat = relative(p);
    points |= taken[p] & kPointCards;
    if (taken[p] & bit(kQueenOfSpades)) emit(kQueenFeature + seat, 1.0f);
    if (const int n = card_points(taken[p])) emit(kPointsFeature + seat, float(n) / 26);
    if (taken[p]) emit(kTookFeature + seat, 1.0f);
    if (p == k.seat) continue;
    const Cards may = k.may_hold(p);
    emit_cards(kNotHeldFeature + (seat - 1) * kNumCards, k.unseen & ~may, emit);
    for (int suit = 0; suit < 4; ++suit)
      if (!(may & suit_cards(suit))) emit(kVoidFeature + (seat - 1) * 4 + suit, 1.0f);
  }
  if (points)
    for (int p = 0; p < kPlayers; ++p)
      if ((taken[p] & kPointCards) == points) emit(kMoonFeature + (p != k.seat), 1.0f);
  if (k.hearts_broken) emit(kBrokenFeature, 1.0f);
  if (over) return;
  emit(kTricksFeature + k.num_plays / kPlayers, 1.0f);
  emit(kTurnFeature + relative(k.current), 1.0f);
  emit(kPlaceFeature + k.num_plays % kPlayers, 1.0f);
  emit_cards(kTrickFeature, trick, emit);
  if (k.leading()) return;
  emit(kLedFeature + k.led_suit, 1.0f);
  emit(kWinnerFeature + relative(k.best_seat), 1.0f);
  if (k.best_card >= 0) emit(kRankFeature + k.best_card / 4, 1.0f);
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::hearts
