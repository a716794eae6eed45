// Weights of `holmes` and `smart`.
//
// There is no record of how these numbers were chosen. The first version of the players had nearly all of them, with
// neither a program that fits them nor a note of trials, so no command makes them again. The history of this repository
// shows three later changes: kHintMisled counts for `holmes` too, kHintKept rose from 1 to 2, and kSmartHint fell from
// 5 to 4. The kinds of effects follow the bots of these names in Arthur O'Dwyer's collection
// (github.com/Quuxplusone/Hanabi). `python runs/hanabi_players.py` measures the players' scores; its results are
// in docs/results/hanabi.md.
#pragma once

namespace trickformer::hanabi {

// Value of a hint, for each card that it affects; the effects are explained at Effect in smart.inl.
constexpr int kHintPlays = 10;
constexpr int kHintMistakes = -30;
constexpr int kHintMisled = -15;

// Effects that only `smart` weighs.
constexpr int kHintEase = 2;
constexpr int kHintClutter = -4;
constexpr int kHintTrash = 1;
constexpr int kHintKept = 2;
constexpr double kHintNarrowed = 1.5;

// Value from which a hint is better than a discard. `smart` gives hints more easily while many are left.
constexpr int kHolmesHint = 10;
constexpr int kSmartHint = 4;
constexpr double kSmartHintLeft = 0.5;  // lowers the threshold for each hint that is left

// From this many hints left, `smart` prefers a hint of too low a value to a risky discard. A discard is risky if the
// card is, with this probability, the last copy of one that is needed.
constexpr int kRiskyHints = 4;
constexpr double kRiskyShare = 0.3;

// Losses in the next seat's move if nobody warns it.
constexpr double kCritical = 12;  // it discards the last copy of a card that is needed
constexpr double kUseful = 2;     // it discards another card that is needed
constexpr double kMistake = 6;    // it misplays, which costs a life
constexpr double kWarning = 6;    // from this loss on, a warning comes before an own play

// Value of a play.
constexpr int kPlayLow = 3;       // for each rank that the card is below the highest, and one more
constexpr int kPlayFollowed = 4;  // another hand can follow with the next card

// Cost of a discard for each kind that the card may be, times the probability of the kind. It is 1 for the last copy of
// a card that is needed.
constexpr double kMissPlayable = 0.2;
constexpr double kMissUseful = 0.1;

}  // namespace trickformer::hanabi
