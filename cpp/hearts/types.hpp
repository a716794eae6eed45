// Plain data of Hearts, shared by every translation unit. Cards are OpenSpiel's: rank * 4 + suit, suits
// C D H S, ranks from the two up; a set of cards is a bitboard.
#pragma once
#include <cstdint>

namespace trickformer::hearts {

using Cards = std::uint64_t;

inline constexpr int kPlayers = 4, kNumCards = 52, kHand = 13, kPass = 3;
inline constexpr int kHistory = 1 + kNumCards + kPlayers * kPass + kNumCards;  // OpenSpiel actions of a hand
inline constexpr std::uint8_t kNoAction = 255;  // pads the history of a hand without passes
inline constexpr int kTwoOfClubs = 0, kJackOfDiamonds = 9 * 4 + 1, kQueenOfSpades = 10 * 4 + 3;

constexpr Cards bit(int card) { return Cards{1} << card; }
constexpr Cards suit_cards(int suit) { return Cards{0x1111111111111} << suit; }
inline constexpr Cards kAll = (Cards{1} << kNumCards) - 1;
inline constexpr Cards kClubs = suit_cards(0), kHearts = suit_cards(2);
inline constexpr Cards kPointCards = kHearts | bit(kQueenOfSpades);

// OpenSpiel's eight rule options, in its order.
struct Rules {
  bool pass_cards = true, no_pts_on_first_trick = true, can_lead_any_club = false, jd_bonus = false,
       avoid_all_tricks_bonus = false, must_break_hearts = true, qs_breaks_hearts = true,
       can_lead_hearts_instead_of_qs = false;
};

enum class Phase : std::uint8_t { kPass, kPlay, kOver };

// A hand of Hearts from the moment the cards are dealt.
struct State {
  Rules rules;
  Cards hand[kPlayers];  // held now; a card that is being passed is in no hand
  Cards dealt[kPlayers];
  Cards passed[kPlayers];
  Cards taken[kPlayers];                  // cards of the tricks won
  std::uint8_t passes[kPlayers * kPass];  // in the order of choice
  std::uint8_t plays[kNumCards];
  std::uint8_t leader[kHand];  // of each trick so far
  std::uint8_t num_passes, num_plays, direction, current;
  std::uint8_t led_suit, best_card, best_seat;  // of the trick under way
  Phase phase;
  bool hearts_broken;
};

}  // namespace trickformer::hearts
