// What one seat's tokens of Skat say, as numbers: an input of the model.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {

inline constexpr int kBidClasses = 12;  // none, 18, 20, 22, 23, 24, 27, 30, 33, to 36, to 48, above
inline constexpr int kPointSteps = 30;  // by three card points
inline constexpr int kSuits = 5;        // four suits without their trumps, and trumps; before a contract as in grand

// What the features of a position are, and where each begins. All are 0 or 1 but values, points and counts; seats count
// from the own one. What depends on a contract is 0 before it is declared.
enum Feature : int {
  kOwnFact = 0,                               // [32] own hand
  kNextFact = kOwnFact + kNumCards,           // [32] cards that some deal allows next
  kUnseenFact = kNextFact + kNumCards,        // [32] cards not seen, in other hands and the skat
  kMayHoldFact = kUnseenFact + kNumCards,     // [2][32] what each other seat may hold; an open hand as it is
  kTrickFact = kMayHoldFact + 2 * kNumCards,  // [32] the trick under way
  kSkatFact = kTrickFact + kNumCards,         // [32] own cards laid away
  kFollowFact = kSkatFact + kNumCards,        // [32] all cards that follow the lead
  kBeatsFact = kFollowFact + kNumCards,       // [32] cards still held that would take the trick as it lies
  kHighFact = kBeatsFact + kNumCards,         // [32] own cards that no other hand can beat in their suit
  kStageFact = kHighFact + kNumCards,         // [12] which part of the sequence comes next
  kTurnFact = kStageFact + 12,                // [3] who acts next
  kChairFact = kTurnFact + kPlayers,          // [3] own chair: forehand, middlehand, rearhand
  kBidFact = kChairFact + kPlayers,           // the highest bid, in hundreds
  kBidClassFact = kBidFact + 1,               // [12] and its class
  kSaidFact = kBidClassFact + kBidClasses,    // [3][12] the class of the highest bid that each seat called or held
  kPassedFact = kSaidFact + 3 * kBidClasses,  // [3] who has passed
  kCallerFact = kPassedFact + kPlayers,       // [3] who calls, in the auction
  kListenerFact = kCallerFact + kPlayers,     // [3] to whom
  kAnswerFact = kListenerFact + kPlayers,     // a call is to be answered
  kAloneFact = kAnswerFact + 1,               // the others have passed to forehand
  kValueFact = kAloneFact + 1,                // [7] what each declaration is certainly worth, in hundreds; not to
                                              // another's defenders
  kCoversFact = kValueFact + 7,               // [7] and whether that covers the bid
  kSoloistFact = kCoversFact + 7,             // [4] nobody yet, or which seat
  kKindFact = kSoloistFact + 1 + kPlayers,    // [6] the game declared
  kHandFact = kKindFact + 6,                  // [2] the skat was picked up; the game is played by hand
  kLevelFact = kHandFact + 2,                 // [3] schneider, schwarz are announced; the soloist's hand is open
  kPlaceFact = kLevelFact + 3,                // [3] place in the trick of the card to come
  kLedFact = kPlaceFact + kPlayers,           // [5] suit led
  kWinnerFact = kLedFact + kSuits,            // [3] who is winning the trick
  kSideFact = kWinnerFact + kPlayers,         // [2] the soloist is winning it, the own side is
  kTrickPointsFact = kSideFact + 2,           // card points in it, over 30
  kTricksFact = kTrickPointsFact + 1,         // [10] tricks played
  kTookFact = kTricksFact + kTricks,          // [2] the soloist took a trick, the defenders did
  kPointsFact = kTookFact + 2,                // [2] card points of the soloist (own skat among them), of the others,
                                              // over 120
  kReachedFact = kPointsFact + 2,             // [2][3] those are 31, 61, 90; 31, 60, 90
  kVoidFact = kReachedFact + 6,               // [2][5] suits that each other seat cannot hold
  kOwnCountFact = kVoidFact + 2 * kSuits,     // [5] own cards of each suit, over 8
  kOutCountFact = kOwnCountFact + kSuits,     // [5] cards of each suit that are unseen or in an open hand, over 8
  kTrumpsOutFact = kOutCountFact + kSuits,    // [12] how many those are of trumps
  // What `rules` would do, at an own turn.
  kScriptCardFact = kTrumpsOutFact + 12,         // [32] play or lay away
  kScriptBidFact = kScriptCardFact + kNumCards,  // [2] bid on, pass
  kLimitFact = kScriptBidFact + 2,               // the highest bid that it thinks the hand bears, in hundreds
  kScriptSkatFact = kLimitFact + 1,              // [2] pick up the skat, play by hand
  kScriptGameFact = kScriptSkatFact + 2,         // [7] declare
  kScriptLevelFact = kScriptGameFact + 7,        // [4] announce
  // Finer points: card points of the soloist, of the others, are 3, 6, ... 90 or more.
  kAtLeastFact = kScriptLevelFact + 4,  // [2][30]
  // What `rules` thinks of the cards that may be played, at an own turn.
  kBehindFact = kAtLeastFact +
      2 * kPointSteps,                  // [32] how much less each is worth than the best, as a number from -3 to 0
  kGainFact = kBehindFact + kNumCards,  // [32] what its trick should bring the own side, over 30 card points
  kWinsFact = kGainFact + kNumCards,    // [32] how likely the own side takes it
  kFeatures = kWinsFact + kNumCards,
};
static_assert(kFeatures == 697);

// explained: whether some deal explains the view; `rules` is not asked otherwise.
void features(const SeatView& view, bool explained, float out[kFeatures]);

}  // namespace trickformer::skat
