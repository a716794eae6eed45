// Plain data of The Crew: The Quest for Planet Nine, for four players. Cards are numbered colour * 9 + value - 1, with
// the colours pink, blue, green, yellow; 36-39 are the rockets 1 to 4. A set of cards is a bitboard.
#pragma once
#include "core/bits.hpp"

namespace trickformer::crew {

using Cards = std::uint64_t;

inline constexpr int kPlayers = 4, kNumCards = 40, kHand = 10, kTricks = 10, kPlays = 40;
inline constexpr int kColours = 4, kValues = 9, kRocket = 4;  // rockets are the fifth suit
inline constexpr int kColourCards = kColours * kValues;       // cards that can be tasks
inline constexpr int kMaxTasks = 10;
inline constexpr Cards kAll = (Cards{1} << kNumCards) - 1;
inline constexpr Cards kRockets = Cards{15} << kColourCards;
inline constexpr Cards kPink = 0x1ff;
inline constexpr Cards kOnes = 1 | Cards{1} << 9 | Cards{1} << 18 | Cards{1} << 27;
inline constexpr Cards kNines = kOnes << 8;
inline constexpr int kCommandersCard = 39, kPinkNine = 8;

// Task tokens: 1 to 5, one to four arrows, omega; and none.
inline constexpr int kTileArrow = 5, kTileOmega = 9, kNoTile = 10, kTiles = 11;

enum class Communication : std::uint8_t { kNormal, kDeadZone, kFromTrick2, kFromTrick3 };
enum class Allocation : std::uint8_t { kDraft, kDecision, kDistribution, kMember, kRoles, kNone };

// Rules beyond tasks, as bits of a mission's set, in the order of the logbook.
enum class Rule : std::uint8_t {
  kSick,            // the member takes no trick
  kOneWins,         // a colour 1 wins a trick
  kMemberSilent,    // the member named by the commander does not communicate
  kDraw,            // after trick 1 everybody draws a card from the right neighbour's hand
  kRocketsWin,      // each rocket wins a trick
  kNinesLose,       // no 9 wins a trick
  kNinesLoseTasks,  // the same, in a mission that also has tasks
  kSwapTiles,       // two task tokens may change places
  kOnesWinTwice,    // two tricks are won by colour 1s
  kBalance,         // nobody has two tricks more than another
  kOneTrick,        // the member wins one trick, and not with a rocket
  kBalanceEnds,     // balance, and the commander wins the first and the last trick
  kMoveTile,        // a task token may move to a task that has none
  kFirstAndLast,    // the member wins the first and the last trick and no other, none with a rocket
  kRocketsInOrder,  // each rocket wins a trick, in ascending order
  kAllPink,         // the left neighbour of the holder of the pink 9 wins all pink cards
  kOmegaLast,       // the omega task is fulfilled in the last trick
  kRoles,           // one wins the first four tricks, one the last, the others those between
};
inline constexpr int kRules = 18;

constexpr std::uint32_t operator|(Rule a, Rule b) { return 1u << int(a) | 1u << int(b); }
constexpr std::uint32_t operator|(std::uint32_t a, Rule b) { return a | 1u << int(b); }

// One page of the logbook, as data.
struct Mission {
  std::uint8_t id = 0, tasks = 0;
  std::uint8_t tiles[kMaxTasks] = {};  // token of each task, in the order of the task cards
  Communication communication = Communication::kNormal;
  Allocation allocation = Allocation::kNone;
  std::uint8_t distress = 0;  // number of seats by which a card is passed: 0 no pass, 1 left, 3 right
  std::uint32_t rules = 0;    // set of Rule bits

  constexpr bool has(Rule rule) const { return rules >> int(rule) & 1; }
  constexpr bool any(std::uint32_t some) const { return rules & some; }
  constexpr int first_open_trick() const {  // first trick, from 0, before which anybody may communicate
    return communication == Communication::kFromTrick2 ? 1 : communication == Communication::kFromTrick3 ? 2 : 0;
  }
  bool operator==(const Mission&) const = default;
};

inline namespace TRICKFORMER_ISA {

constexpr Cards bit(int card) { return Cards{1} << card; }
constexpr int suit(int card) { return card / kValues; }
constexpr int value(int card) { return card % kValues + 1; }
constexpr Cards suit_cards(int s) { return s == kRocket ? kRockets : Cards{0x1ff} << (kValues * s); }
// Cards of the same suit above and below a card.
constexpr Cards higher(int card) { return suit_cards(suit(card)) & ~(bit(card + 1) - 1); }
constexpr Cards lower(int card) { return suit_cards(suit(card)) & (bit(card) - 1); }
constexpr int next_seat(int seat, int by = 1) { return (seat + by) & 3; }
constexpr int relative(int seat, int from) { return (seat - from) & 3; }

// The cards that a hand may play to a trick. lead: the first card of the trick, or -1.
constexpr Cards legal_plays(Cards hand, int lead) {
  if (lead < 0) return hand;
  const Cards follow = hand & suit_cards(suit(lead));
  return follow ? follow : hand;
}

// Returns whether `card` beats the best card of a trick so far.
constexpr bool beats(int card, int best) { return suit(card) == suit(best) ? card > best : suit(card) == kRocket; }

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
