// Features of one seat's position in The Crew: numbers that the model reads beside each token.
#pragma once
#include "core/tracker.hpp"
#include "crew/seat_view.hpp"

namespace trickformer::crew {

inline constexpr int kOthers = kPlayers - 1;
inline constexpr int kSpeechActions = kActions - kNumCards, kStages = int(SeatView::Stage::kOver) + 1,
                     kPhases = int(Phase::kOver), kLabels = kUnlabelled - kHighest + 1, kAnswers = 5;

// Index of the first number of each feature, with its shape. Features are 0 or 1; shares and numbers are of the order of
// 1. Seats count from the own one; features of three seats leave it out. A feature is 0 as long as its value is unknown,
// and if it can never be known.
enum Feature : int {
  // Cards.
  kOwnFeature = 0,                                     // [40] own hand
  kNextFeature = kOwnFeature + kNumCards,              // [40] cards that some deal allows next, whoever acts
  kSayFeature = kNextFeature + kNumCards,              // [22] and what else may be said, by action
  kUnseenFeature = kSayFeature + kSpeechActions,       // [40] cards that the others hold, of which it is not known who
  kHoldsFeature = kUnseenFeature + kNumCards,          // [3][40] chance that a seat holds a card: 1 known, 0 it cannot
  kVoidFeature = kHoldsFeature + kOthers * kNumCards,  // [3][5] suits that a seat cannot hold
  // [40] of own cards, how many higher ones the others hold, over 9
  kOverFeature = kVoidFeature + kOthers * (kColours + 1),
  kLengthFeature = kOverFeature + kNumCards,  // [5] own cards of a suit, over 10
  // The trick under way, or the one just over until the next begins.
  kTrickFeature = kLengthFeature + kColours + 1,   // [40] its cards
  kBeatsFeature = kTrickFeature + kNumCards,       // [40] cards that would win it so far
  kLedFeature = kBeatsFeature + kNumCards,         // [5] suit led
  kWinnerFeature = kLedFeature + kColours + 1,     // [4] who is winning
  kBestFeature = kWinnerFeature + kPlayers,        // [10] with which value; and whether it is a rocket
  kTrickTaskFeature = kBestFeature + kValues + 1,  // [4] whose tasks lie in it
  // Tasks.
  kTaskFeature = kTrickTaskFeature + kPlayers,            // [4][36] cards that a seat is still to win
  kFreeFeature = kTaskFeature + kPlayers * kColourCards,  // [36] those that nobody has yet
  kDueFeature = kFreeFeature + kColourCards,     // [36] those that their tokens allow to be fulfilled next, alone
  kOrderFeature = kDueFeature + kColourCards,    // [36] place in the order: a number over 5, arrows over -4
  kOmegaFeature = kOrderFeature + kColourCards,  // [36] the last of all
  kTasksFeature = kOmegaFeature + kColourCards,  // [4] how many a seat is still to fulfil, over 4
  kLeftFeature = kTasksFeature + kPlayers,       // [3] tasks of the mission, without an owner, not fulfilled; over 10
  // Messages.
  kShownFeature = kLeftFeature + 3,                       // [36] cards that lie open, not yet played
  kLabelFeature = kShownFeature + kColourCards,           // [4][4] how a seat's lies
  kMaySpeakFeature = kLabelFeature + kPlayers * kLabels,  // [4] who has not communicated and is not barred from it
  kAskedFeature = kMaySpeakFeature + kPlayers,            // [4] who has had its say before this trick
  kRadioFeature = kAskedFeature + kPlayers,               // the time to communicate has come
  kAnswerFeature = kRadioFeature + 1,  // [4][5] answers to the commander: yes, no, first four, last, between
  // The course.
  kStageFeature = kAnswerFeature + kPlayers * kAnswers,  // [13] which part of the sequence comes next
  kPhaseFeature = kStageFeature + kStages,               // [13] of the mission
  kTurnFeature = kPhaseFeature + kPhases,                // [4] who acts next, where a player does
  kPlaceFeature = kTurnFeature + kPlayers,               // [4] place in the trick of the card to come
  kLeaderFeature = kPlaceFeature + kPlayers,             // [4] who leads the trick
  kCommanderFeature = kLeaderFeature + kPlayers,         // [4]
  kMemberFeature = kCommanderFeature + kPlayers,         // [4] who has the special part
  kFirstFourFeature = kMemberFeature + kPlayers,         // [4] who wins the first four tricks
  kLastFeature = kFirstFourFeature + kPlayers,           // [4] who wins the last
  kTricksFeature = kLastFeature + kPlayers,              // [11] tricks played
  kWinsFeature = kTricksFeature + kTricks + 1,           // [4] those that a seat has won, over 10
  kAheadFeature = kWinsFeature + kPlayers,               // [4] whether that is more than another has
  // [4] where the mission counts them, tricks won by 1s over 2 and by rockets over 4; 9s over 4 and
  // pinks over 9 that have not been played
  kCountsFeature = kAheadFeature + kPlayers,
  kResultFeature = kCountsFeature + 4,  // [2] success, failure
  // The mission.
  kCommunicationFeature = kResultFeature + 2,      // [4]
  kAllocationFeature = kCommunicationFeature + 4,  // [6]
  kRuleFeature = kAllocationFeature + 6,           // [18]
  kDistressFeature = kRuleFeature + kRules,        // [2] cards go left, right
  kScriptFeature = kDistressFeature + 2,           // [62] what `rules` would do, at an own turn, by action
  kWorthFeature = kScriptFeature + kActions,       // what that card is worth to it, where it has a choice to play
  kBehindFeature = kWorthFeature + 1,              // [40] and how much less each card is, as a number below 0
  kFeatures = kBehindFeature + kNumCards,
};
static_assert(kFeatures == 1013);

// Writes the features of a view to out, [kFeatures]. possible: the tokens that may come next (Tracker::possible).
// consistent: whether some deal explains the view; if not, the features of `rules` are 0.
void features(const SeatView& v, const TokenSet& possible, bool consistent, float* out);

}  // namespace trickformer::crew
