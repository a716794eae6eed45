// Features of one seat's position in The Crew: numbers that the model reads beside each token.
#pragma once
#include "core/tracker.hpp"
#include "crew/seat_view.hpp"

namespace trickformer::crew {

inline constexpr int kOthers = kPlayers - 1;
inline constexpr int kSpeechActions = kActions - kNumCards, kStages = int(SeatView::Stage::kOver) + 1,
                     kPhases = int(Phase::kOver), kLabels = kUnlabelled - kHighest + 1, kAnswers = 5;

// Index of the first number of each feature, with its shape. Features are 0 or 1, except probabilities, counts, places
// in the order of tasks and the scripted player's values of cards, which are of the order of 1 ("over 9": divided by
// 9). Seats count from the own one; features of three seats leave out the own one. A feature is 0 before its value is
// known, and if the mission has no such thing.
enum Feature : int {
  // Cards.
  kOwnFeature = 0,                                // [40] own hand
  kNextFeature = kOwnFeature + kNumCards,         // [40] cards that may come next in some deal, whoever acts
  kSayFeature = kNextFeature + kNumCards,         // [22] other actions that may come next
  kUnseenFeature = kSayFeature + kSpeechActions,  // [40] cards of the others whose holder is not known
  kHoldsFeature = kUnseenFeature + kNumCards,     // [3][40] probability that a seat holds a card: 1 known, 0 impossible
  kVoidFeature = kHoldsFeature + kOthers * kNumCards,  // [3][5] suits that a seat cannot hold
  // [40] number of higher cards that the others hold, for each own card, over 9
  kOverFeature = kVoidFeature + kOthers * (kColours + 1),
  kLengthFeature = kOverFeature + kNumCards,  // [5] own cards of a suit, over 10
  // The current trick, or the last one until the token of the next leader.
  kTrickFeature = kLengthFeature + kColours + 1,   // [40] its cards
  kBeatsFeature = kTrickFeature + kNumCards,       // [40] cards that would win it so far
  kLedFeature = kBeatsFeature + kNumCards,         // [5] suit led
  kWinnerFeature = kLedFeature + kColours + 1,     // [4] who is winning
  kBestFeature = kWinnerFeature + kPlayers,        // [10] value of the winning card; and whether it is a rocket
  kTrickTaskFeature = kBestFeature + kValues + 1,  // [4] seats whose tasks lie in it
  // Tasks.
  kTaskFeature = kTrickTaskFeature + kPlayers,            // [4][36] cards that a seat has yet to win
  kFreeFeature = kTaskFeature + kPlayers * kColourCards,  // [36] task cards without an owner
  // [36] task cards that the order of the task tokens allows next, if no other task is fulfilled in the same trick
  kDueFeature = kFreeFeature + kColourCards,
  kOrderFeature = kDueFeature + kColourCards,    // [36] place in that order: a number / 5, or minus an arrow / 4
  kOmegaFeature = kOrderFeature + kColourCards,  // [36] task card that must be fulfilled last of all
  kTasksFeature = kOmegaFeature + kColourCards,  // [4] tasks that a seat has yet to fulfil, over 4
  kLeftFeature = kTasksFeature + kPlayers,       // [3] tasks of the mission, without an owner, not fulfilled; over 10
  // Messages.
  kShownFeature = kLeftFeature + 3,                       // [36] cards that lie open and are not yet played
  kLabelFeature = kShownFeature + kColourCards,           // [4][4] how the communicated card of each seat lies
  kMaySpeakFeature = kLabelFeature + kPlayers * kLabels,  // [4] seats that have not communicated and may still do so
  kAskedFeature = kMaySpeakFeature + kPlayers,  // [4] seats that have decided about communication before this trick
  kRadioFeature = kAskedFeature + kPlayers,     // the mission allows communication in this trick
  kAnswerFeature = kRadioFeature + 1,           // [4][5] answers to the commander: yes, no, first four, last, between
  // The course.
  kStageFeature = kAnswerFeature + kPlayers * kAnswers,  // [13] which part of the sequence comes next
  kPhaseFeature = kStageFeature + kStages,               // [13] of the mission
  kTurnFeature = kPhaseFeature + kPhases,                // [4] player who acts next, if one does
  kPlaceFeature = kTurnFeature + kPlayers,               // [4] place in the trick of the next card
  kLeaderFeature = kPlaceFeature + kPlayers,             // [4] who leads the trick
  kCommanderFeature = kLeaderFeature + kPlayers,         // [4]
  kMemberFeature = kCommanderFeature + kPlayers,         // [4] seat that a rule singles out, such as the sick one
  kFirstFourFeature = kMemberFeature + kPlayers,         // [4] who has to win the first four tricks
  kLastFeature = kFirstFourFeature + kPlayers,           // [4] who has to win the last
  kTricksFeature = kLastFeature + kPlayers,              // [11] tricks played
  kWinsFeature = kTricksFeature + kTricks + 1,           // [4] tricks won by each seat, over 10
  kAheadFeature = kWinsFeature + kPlayers,               // [4] seats with more tricks than the seat that has fewest
  // [4] tricks won by 1s, over 2, and by rockets, over 4, in missions that count them; unplayed 9s, over 4; unplayed pink
  // cards, over 9
  kCountsFeature = kAheadFeature + kPlayers,
  kResultFeature = kCountsFeature + 4,  // [2] success, failure
  // The mission.
  kCommunicationFeature = kResultFeature + 2,      // [4]
  kAllocationFeature = kCommunicationFeature + 4,  // [6]
  kRuleFeature = kAllocationFeature + 6,           // [18]
  kDistressFeature = kRuleFeature + kRules,        // [2] cards are passed to the left, to the right
  // The scripted player `rules` (crew/rules_player.hpp).
  kScriptFeature = kDistressFeature + 2,      // [62] its action at an own turn
  kWorthFeature = kScriptFeature + kActions,  // its value of the best card, if it has a choice of cards
  kBehindFeature = kWorthFeature + 1,         // [40] how much lower it values each card, as a number below 0
  kFeatures = kBehindFeature + kNumCards,
};
static_assert(kFeatures == 1013);

// Writes the features of a view to out, [kFeatures]. possible: the tokens that may come next (Tracker::possible).
// consistent: whether some deal explains the view. Otherwise the features of the scripted player are 0.
void features(const SeatView& v, const TokenSet& possible, bool consistent, float* out);

}  // namespace trickformer::crew
