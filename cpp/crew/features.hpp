// What one seat's tokens of The Crew say at once, as numbers: an input of the model.
#pragma once
#include "core/tracker.hpp"
#include "crew/seat_view.hpp"

namespace trickformer::crew {

inline constexpr int kOthers = kPlayers - 1;
inline constexpr int kSayings = kActions - kNumCards, kStages = int(SeatView::Stage::kOver) + 1,
                     kPhases = int(Phase::kOver), kLabels = kUnlabelled - kHighest + 1, kAnswers = 5;

// What the features of a position are, and where each begins. All are 0 or 1 but where a share or a number is named, of
// the order of 1. Seats count from the own one; of three seats the own one is left out. What is not known yet, or not
// to be, is 0.
enum Feature : int {
  // Cards.
  kOwnFact = 0,                                      // [40] own hand
  kNextFact = kOwnFact + kNumCards,                  // [40] cards that some deal allows next, whoever acts
  kSayFact = kNextFact + kNumCards,                  // [22] and what else may be said, by action
  kUnseenFact = kSayFact + kSayings,                 // [40] cards that the others hold, of which it is not known who
  kHoldsFact = kUnseenFact + kNumCards,              // [3][40] chance that a seat holds a card: 1 known, 0 it cannot
  kVoidFact = kHoldsFact + kOthers * kNumCards,      // [3][5] suits that a seat cannot hold
  kOverFact = kVoidFact + kOthers * (kColours + 1),  // [40] of own cards, how many higher ones the others hold, over 9
  kLengthFact = kOverFact + kNumCards,               // [5] own cards of a suit, over 10
  // The trick under way, or the one just over until the next begins.
  kTrickFact = kLengthFact + kColours + 1,   // [40] its cards
  kBeatsFact = kTrickFact + kNumCards,       // [40] cards that would win it so far
  kLedFact = kBeatsFact + kNumCards,         // [5] suit led
  kWinnerFact = kLedFact + kColours + 1,     // [4] who is winning
  kBestFact = kWinnerFact + kPlayers,        // [10] with which value; and whether it is a rocket
  kTrickTaskFact = kBestFact + kValues + 1,  // [4] whose tasks lie in it
  // Tasks.
  kTaskFact = kTrickTaskFact + kPlayers,            // [4][36] cards that a seat is still to win
  kFreeFact = kTaskFact + kPlayers * kColourCards,  // [36] those that nobody has yet
  kDueFact = kFreeFact + kColourCards,              // [36] those that their tokens allow to be fulfilled next, alone
  kOrderFact = kDueFact + kColourCards,             // [36] place in the order: a number over 5, arrows over -4
  kOmegaFact = kOrderFact + kColourCards,           // [36] the last of all
  kTasksFact = kOmegaFact + kColourCards,           // [4] how many a seat is still to fulfil, over 4
  kLeftFact = kTasksFact + kPlayers,  // [3] tasks of the mission, without an owner, not fulfilled; over 10
  // Messages.
  kShownFact = kLeftFact + 3,                       // [36] cards that lie open, not yet played
  kLabelFact = kShownFact + kColourCards,           // [4][4] how a seat's lies
  kMaySpeakFact = kLabelFact + kPlayers * kLabels,  // [4] who has not communicated and is not barred from it
  kAskedFact = kMaySpeakFact + kPlayers,            // [4] who has had its say before this trick
  kRadioFact = kAskedFact + kPlayers,               // the time to communicate has come
  kAnswerFact = kRadioFact + 1,  // [4][5] answers to the commander: yes, no, first four, last, between
  // The course.
  kStageFact = kAnswerFact + kPlayers * kAnswers,  // [13] which part of the sequence comes next
  kPhaseFact = kStageFact + kStages,               // [13] of the mission
  kTurnFact = kPhaseFact + kPhases,                // [4] who acts next, where a player does
  kPlaceFact = kTurnFact + kPlayers,               // [4] place in the trick of the card to come
  kLeaderFact = kPlaceFact + kPlayers,             // [4] who leads the trick
  kCommanderFact = kLeaderFact + kPlayers,         // [4]
  kMemberFact = kCommanderFact + kPlayers,         // [4] who has the special part
  kFirstFourFact = kMemberFact + kPlayers,         // [4] who wins the first four tricks
  kLastFact = kFirstFourFact + kPlayers,           // [4] who wins the last
  kTricksFact = kLastFact + kPlayers,              // [11] tricks played
  kWinsFact = kTricksFact + kTricks + 1,           // [4] those that a seat has won, over 10
  kAheadFact = kWinsFact + kPlayers,               // [4] whether that is more than another has
  // [4] where the mission counts them, tricks won by 1s over 2 and by rockets over 4; 9s over 4 and
  // pinks over 9 that have not been played
  kCountsFact = kAheadFact + kPlayers,
  kResultFact = kCountsFact + 4,  // [2] success, failure
  // The mission.
  kCommunicationFact = kResultFact + 2,      // [4]
  kAllocationFact = kCommunicationFact + 4,  // [6]
  kRuleFact = kAllocationFact + 6,           // [18]
  kDistressFact = kRuleFact + kRules,        // [2] cards go left, right
  kScriptFact = kDistressFact + 2,           // [62] what `rules` would do, at an own turn, by action
  kWorthFact = kScriptFact + kActions,       // what that card is worth to it, where it has a choice to play
  kBehindFact = kWorthFact + 1,              // [40] and how much less each card is, as a number below 0
  kFeatures = kBehindFact + kNumCards,
};
static_assert(kFeatures == 1013);

// possible: the tokens that may come next (Tracker::possible). explained: whether some deal explains the view; `rules` is
// not asked otherwise. out: [kFeatures].
void features(const SeatView& v, const TokenSet& possible, bool explained, float* out);

}  // namespace trickformer::crew
