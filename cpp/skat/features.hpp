// Features of one seat's position in Skat: numbers that the model reads beside each token.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {

inline constexpr int kBidClasses = 12;  // none, 18, 20, 22, 23, 24, 27, 30, 33, to 36, to 48, above
inline constexpr int kPointSteps = 30;  // by three card points
inline constexpr int kSuits = 5;        // four suits without their trumps, and trumps; before a contract as in grand

// Index of the first number of each feature, with its shape. Features are 0 or 1, except values, points and counts.
// Seats count from the own one. Features that depend on the contract are 0 before it is declared.
enum Feature : int {
  kOwnFeature = 0,                            // [32] own hand
  kNextFeature = kOwnFeature + kNumCards,     // [32] cards that may come next in some deal
  kUnseenFeature = kNextFeature + kNumCards,  // [32] cards not seen, in other hands and the skat
  // [2][32] cards that each other seat may hold; if the hand is open, the cards in it
  kMayHoldFeature = kUnseenFeature + kNumCards,
  kTrickFeature = kMayHoldFeature + 2 * kNumCards,  // [32] the trick under way
  kSkatFeature = kTrickFeature + kNumCards,         // [32] own cards laid away
  kFollowFeature = kSkatFeature + kNumCards,        // [32] all cards that follow the suit led
  kBeatsFeature = kFollowFeature + kNumCards,       // [32] cards still held that would take the trick
  kHighFeature = kBeatsFeature + kNumCards,         // [32] own cards that no other hand can beat in their suit
  kStageFeature = kHighFeature + kNumCards,         // [12] which part of the sequence comes next
  kTurnFeature = kStageFeature + 12,                // [3] who acts next
  kChairFeature = kTurnFeature + kPlayers,          // [3] own chair: forehand, middlehand, rearhand
  kBidFeature = kChairFeature + kPlayers,           // the highest bid, in hundreds
  kBidClassFeature = kBidFeature + 1,               // [12] and its class
  kSaidFeature = kBidClassFeature + kBidClasses,  // [3][12] the class of the highest bid that each seat called or held
  kPassedFeature = kSaidFeature + 3 * kBidClasses,  // [3] who has passed
  kCallerFeature = kPassedFeature + kPlayers,       // [3] who calls, in the auction
  kListenerFeature = kCallerFeature + kPlayers,     // [3] and to whom
  kAnswerFeature = kListenerFeature + kPlayers,     // a call waits for an answer
  kAloneFeature = kAnswerFeature + 1,               // all others have passed, and forehand decides
  kValueFeature = kAloneFeature + 1,                // [7] certain value of each declaration, in hundreds; 0 for a
                                                    // defender
  kCoversFeature = kValueFeature + 7,               // [7] whether that covers the bid
  kSoloistFeature = kCoversFeature + 7,             // [4] nobody yet, or which seat
  kKindFeature = kSoloistFeature + 1 + kPlayers,    // [6] game declared
  kHandFeature = kKindFeature + 6,                  // [2] the skat was picked up; it is a hand game
  kLevelFeature = kHandFeature + 2,                 // [3] schneider, schwarz announced; the soloist's hand is open
  kPlaceFeature = kLevelFeature + 3,                // [3] place in the trick of the next card
  kLedFeature = kPlaceFeature + kPlayers,           // [5] suit led
  kWinnerFeature = kLedFeature + kSuits,            // [3] who is winning the trick
  kSideFeature = kWinnerFeature + kPlayers,         // [2] the soloist is winning it; the own side is winning it
  kTrickPointsFeature = kSideFeature + 2,           // card points in it, over 30
  kTricksFeature = kTrickPointsFeature + 1,         // [10] tricks played
  kTookFeature = kTricksFeature + kTricks,          // [2] the soloist took a trick; the defenders did
  kPointsFeature = kTookFeature + 2,             // [2] card points of the soloist (own skat among them), of the others,
                                                 // over 120
  kReachedFeature = kPointsFeature + 2,          // [2][3] whether these are at least 31, 61, 90; 31, 60, 90
  kVoidFeature = kReachedFeature + 6,            // [2][5] suits that each other seat cannot hold
  kOwnCountFeature = kVoidFeature + 2 * kSuits,  // [5] own cards of each suit, over 8
  kOutCountFeature = kOwnCountFeature + kSuits,  // [5] cards of each suit that are unseen or in an open hand, over 8
  kTrumpsOutFeature = kOutCountFeature + kSuits,  // [12] number of these that are trumps
  // Actions of `rules` at an own turn.
  kScriptCardFeature = kTrumpsOutFeature + 12,         // [32] card to play or discard
  kScriptBidFeature = kScriptCardFeature + kNumCards,  // [2] bid on, pass
  kLimitFeature = kScriptBidFeature + 2,               // highest bid that it thinks the hand is worth, in hundreds
  kScriptSkatFeature = kLimitFeature + 1,              // [2] pick up the skat, play by hand
  kScriptGameFeature = kScriptSkatFeature + 2,         // [7] declare
  kScriptLevelFeature = kScriptGameFeature + 7,        // [4] announce
  // Card points in finer steps: those of the soloist, and of the others, are at least 3, 6, ... 90.
  kAtLeastFeature = kScriptLevelFeature + 4,  // [2][30]
  // Opinion of `rules` on the cards that may be played, at an own turn.
  // [32] how much less each is worth than the best, as a number from -3 to 0
  kBehindFeature = kAtLeastFeature + 2 * kPointSteps,
  kGainFeature = kBehindFeature + kNumCards,  // [32] expected gain of the own side from the trick, over 30 card points
  kWinsFeature = kGainFeature + kNumCards,    // [32] probability that the own side takes it
  kFeatures = kWinsFeature + kNumCards,
};
static_assert(kFeatures == 697);

// Writes the features of a view. consistent: whether some deal explains it; if not, the features of `rules` are 0.
void features(const SeatView& view, bool consistent, float out[kFeatures]);

}  // namespace trickformer::skat
