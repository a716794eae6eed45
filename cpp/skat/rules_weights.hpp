// Features and weights that `rules` uses to choose a card in a suit or grand game.
//
// The weights come from several rounds of policy iteration. At positions of its own games, every legal card was tried,
// and `rules` played the game to its end in the true deal. Least squares over 250,000 games per round gave the weights.
// They best predict how much more a card gains than the other legal ones; a game won counts 100, a card point 0.35.
// `rules` used them in the next round.
#pragma once
namespace trickformer::skat {

enum CardFeature {
  kGain,            // worth of the trick, in tens of card points
  kGainLate,        // the same, times the part of the game played
  kWins,            // chance to win the trick
  kWinsLate,        // the same, times the part of the game played
  kTakes,           // the card takes the trick as it lies
  kRank,            // of the card, 0 to 7/8
  kTrump,           // the card is a trump
  kTrumpLate,       // the same, times the part of the game played
  kTrumpHeight,     // part of the trumps out against it that it beats
  kTrumpHigh,       // a trump that nothing beats
  kTrumpPoints,     // its card points in tens
  kTrumpsOwn,       // own trumps / 5
  kTrumpsAgainst,   // trumps with the other side / 5
  kJack,            // the card is a jack
  kSidePoints,      // card points of a side suit card in tens
  kSidePointsLate,  // the same, times the part of the game played
  kHigh,            // the highest of its suit
  kHighLate,        // the same, times the part of the game played
  kHighRuffed,      // the highest, times the chance of a ruff
  kPointsNotHigh,   // points in tens of one that is not the highest
  kOver,            // higher cards with the other side / 3
  kRuffed,          // chance that the other side ruffs the suit
  kLastOfSuit,      // the last of its suit, trumps in hand
  kSuitLength,      // own cards of the suit / 5
  kSuitAgainst,     // cards of the suit with the other side / 5
  kPointsOut,       // card points of the suit unseen, in twenties
  kFresh,           // nobody has played the suit
  kUnguards,        // leaves a ten alone under the ace
  kUnderOwnHigh,    // played below an own card that is the highest
  kPartnerRuffs,    // chance that the partner can ruff the suit
  kPartnerTop,      // chance that the partner has the highest
  kPartnerLed,      // the partner has led the suit
  kSoloistNext,     // own cards of the suit / 5, the soloist playing next
  kSoloistVoid,     // chance that the soloist is void
  kSoloistLed,      // the soloist has led the suit
  kFeatures
};

// Columns: in a suit game, the soloist as first, second and third player of a trick, then a defender as first, second
// and third player. The same six columns follow for grand.
constexpr int kSituations = 12;
constexpr double kWeights[kFeatures][kSituations] = {
    {5.2, 14.7, 13.8, -2.2, 7.4, 10.7, -2.9, 12.1, 12.4, -4.3, 4.6, 8.2},         // kGain
    {-0.4, -6.1, -1.2, 7.1, -0.6, -3.5, 4.1, -1.7, 2.0, 7.0, 0.2, -3.3},          // kGainLate
    {-10.2, -11.1, 0.3, 0.4, 5.5, 5.1, 4.4, -1.2, -0.7, 0.7, 9.2, 11.2},          // kWins
    {7.5, 6.6, -2.3, -3.3, -0.9, 7.8, 11.0, 7.4, 4.7, 3.9, 8.9, 9.7},             // kWinsLate
    {0.0, 6.9, 0.3, 0.0, -2.6, -1.1, 0.0, 0.7, -0.7, 0.0, -0.8, -6.0},            // kTakes
    {4.2, 7.0, 8.7, 5.9, 7.8, 3.0, 2.3, 12.1, 15.0, 6.8, 4.4, 3.2},               // kRank
    {2.3, -9.2, -5.4, 17.5, 2.6, -8.8, -16.4, -14.3, -17.8, -7.0, -5.4, -7.1},    // kTrump
    {0.8, 15.9, -4.6, -10.8, 9.8, 7.5, 13.1, 14.7, 2.1, 1.6, 5.6, 10.2},          // kTrumpLate
    {0.8, -9.0, -7.5, -7.2, -17.7, -13.3, 0.7, -2.1, 2.0, -0.4, 1.8, 0.8},        // kTrumpHeight
    {0.9, -8.3, -7.3, 2.8, -2.1, -3.0, 3.1, -8.8, -11.6, 5.1, -10.3, -4.6},       // kTrumpHigh
    {-12.2, -9.6, -11.7, -5.9, -7.0, -5.6, -3.3, -2.9, -3.6, -1.4, -1.1, -1.4},   // kTrumpPoints
    {-4.9, 0.3, -6.2, -18.6, -20.2, -17.2, 34.4, 23.0, 17.2, -1.4, -9.7, -8.4},   // kTrumpsOwn
    {11.2, 0.5, 2.8, -6.4, 10.6, 9.2, 62.6, -23.4, -18.9, 16.0, 5.7, -7.4},       // kTrumpsAgainst
    {0.3, -4.6, -6.6, -1.8, -0.6, 1.3, -16.4, -14.3, -17.8, -7.0, -5.4, -7.1},    // kJack
    {-9.8, -4.2, -3.5, -5.3, -5.3, -2.6, -4.1, -13.0, -11.0, -3.9, -4.3, -1.9},   // kSidePoints
    {2.1, -2.4, 3.8, 1.8, 6.9, 6.9, 5.6, -3.1, 1.4, 2.3, 3.7, 3.4},               // kSidePointsLate
    {14.1, -9.9, -11.6, 7.0, -4.7, -4.6, 6.9, -5.1, -4.8, 8.0, -4.7, -3.3},       // kHigh
    {-12.2, -8.8, -12.4, -5.3, -0.9, 0.0, -17.3, -7.0, -11.7, -8.2, -1.3, -3.1},  // kHighLate
    {6.3, 19.7, 17.9, -4.6, 4.4, 3.1, 20.8, 15.5, 15.1, -4.5, 7.7, 5.8},          // kHighRuffed
    {-0.9, -1.2, 3.6, -4.6, -1.1, -1.8, -7.8, 10.3, 12.0, -7.8, 0.8, 1.4},        // kPointsNotHigh
    {3.2, 10.3, 10.2, 1.6, 6.9, 2.7, 0.6, 13.8, 16.1, 0.6, 6.5, 5.6},             // kOver
    {-6.9, 0.0, -0.7, -3.0, 3.3, 2.9, -11.0, -5.8, -4.4, -7.0, -1.8, -2.4},       // kRuffed
    {-1.9, 4.0, 2.4, 1.0, 3.0, 3.5, 0.0, 6.4, 4.9, 2.5, 3.0, 3.3},                // kLastOfSuit
    {4.8, -3.3, -6.1, -0.3, -0.1, 6.9, 7.4, -2.7, -4.5, 2.1, 0.0, 1.1},           // kSuitLength
    {1.8, -10.7, -6.9, 6.5, 2.8, 4.4, -1.9, -7.6, -10.9, -2.4, -0.1, -0.4},       // kSuitAgainst
    {-1.6, 5.9, 5.2, 1.3, 1.3, 2.1, 2.7, -5.9, -5.1, -1.1, -0.5, -0.7},           // kPointsOut
    {-2.7, 0.4, -1.7, 0.2, -1.2, -1.3, -1.2, 1.9, 1.0, 0.7, -0.1, -0.1},          // kFresh
    {5.6, -4.6, -13.1, -0.9, -3.0, -5.4, 0.7, -11.2, -16.7, -2.4, -5.0, -5.4},    // kUnguards
    {-11.3, 0.9, 4.3, -0.1, 1.2, 1.1, -4.3, 3.8, 3.7, -1.5, 1.5, 1.3},            // kUnderOwnHigh
    {0.0, 0.0, 0.0, 8.5, -2.0, -1.2, 0.0, 0.0, 0.0, 1.2, -0.7, -2.0},             // kPartnerRuffs
    {0.0, 0.0, 0.0, 1.0, -2.3, -1.5, 0.0, 0.0, 0.0, -0.4, -0.7, -1.1},            // kPartnerTop
    {0.0, 0.0, 0.0, 0.3, -0.2, -0.5, 0.0, 0.0, 0.0, 0.8, 0.6, -0.2},              // kPartnerLed
    {0.0, 0.0, 0.0, 2.8, 1.7, -8.0, 0.0, 0.0, 0.0, 1.2, 2.8, -2.1},               // kSoloistNext
    {0.0, 0.0, 0.0, 5.3, 0.1, 1.1, 0.0, 0.0, 0.0, 6.7, 2.5, 3.9},                 // kSoloistVoid
    {0.0, 0.0, 0.0, -1.1, -1.1, -1.2, 0.0, 0.0, 0.0, -3.4, -1.6, -1.9},           // kSoloistLed
};

}  // namespace trickformer::skat
