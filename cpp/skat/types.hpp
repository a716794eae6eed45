// Plain data of Skat, shared by every translation unit. Cards are numbered suit * 8 + rank, suits
// diamonds, hearts, spades, clubs, ranks 7 8 9 Q K 10 A J, as in OpenSpiel's own skat; a set of cards is a bitboard.
#pragma once
#include "core/bits.hpp"

namespace trickformer::skat {

using Cards = std::uint32_t;

inline constexpr int kPlayers = 3, kNumCards = 32, kHand = 10, kSkat = 2, kTricks = 10, kPlays = 30;
inline constexpr int kAllPoints = 120;
inline constexpr Cards kAll = 0xffffffffu;
inline constexpr Cards kJacks = 0x80808080u;

// The games. The four suits have the numbers of the suits of cards.
enum class Kind : std::uint8_t { kDiamonds, kHearts, kSpades, kClubs, kGrand, kNull };

inline constexpr int kBase[5] = {9, 10, 11, 12, 24};                    // of the suits and of grand
inline constexpr std::uint8_t kPoints[8] = {0, 0, 0, 3, 4, 10, 11, 2};  // card points by rank

inline namespace TRICKFORMER_ISA {

constexpr Cards bit(int card) { return Cards{1} << card; }
constexpr Cards suit_cards(int suit) { return Cards{0xff} << (8 * suit); }
constexpr bool is_suit(Kind kind) { return kind < Kind::kGrand; }

// The trumps of a game; none in null.
constexpr Cards trumps(Kind kind) {
  if (kind == Kind::kNull) return 0;
  return kind == Kind::kGrand ? kJacks : kJacks | suit_cards(int(kind));
}

// All cards that follow the same lead as `card`.
constexpr Cards followers(Kind kind, int card) {
  const Cards trump = trumps(kind);
  return trump & bit(card) ? trump : suit_cards(card / 8) & ~trump;
}

inline int card_points(Cards cards) {
  constexpr Cards kRank = 0x01010101u;
  return 3 * count(cards & kRank << 3) + 4 * count(cards & kRank << 4) + 10 * count(cards & kRank << 5) +
         11 * count(cards & kRank << 6) + 2 * count(cards & kRank << 7);
}

// Strength of a card in a trick that `lead` opened: higher wins, 0 for a card that neither follows nor trumps.
// Jacks rank by suit above all other trumps; in null a jack stands between the ten and the queen:
// A K Q J 10 9 8 7.
constexpr int strength(Kind kind, int lead, int card) {
  const int suit = card / 8, rank = card % 8;
  if (kind == Kind::kNull) {
    constexpr int kOrder[8] = {1, 2, 3, 6, 7, 4, 8, 5};
    return suit == lead / 8 ? kOrder[rank] : 0;
  }
  if (rank == 7) return 32 + suit;
  if (kind != Kind::kGrand && suit == int(kind)) return 16 + rank;
  return followers(kind, lead) & bit(card) ? 1 + rank : 0;
}

}  // namespace TRICKFORMER_ISA

}  // namespace trickformer::skat
