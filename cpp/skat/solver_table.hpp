// The inside of the solver: cards as the search numbers them, and its memory.
#pragma once
#include <cstdint>
#include <memory>

#include "core/isa.hpp"
#include "skat/solver.hpp"

namespace trickformer::skat {

// The search counts the soloist as player 0 and the others after him in turn. It numbers cards so that in one suit the
// stronger card has the higher number and trumps stand above everything: four blocks of seven (7 8 9 Q K 10 A) with
// the trump suit last, then the jacks by suit; in null four blocks of eight (7 8 9 10 J Q K A).
struct Layout {
  std::uint8_t to[kNumCards];  // from a card to the search's number
  std::uint8_t from[kNumCards];
};

// The three numberings that the search tells apart.
enum class Family : std::uint8_t { kSuit, kGrand, kNull };

struct FamilyTables {
  Cards trump = 0;
  Cards follow[kNumCards] = {};  // cards of the same suit as led
  Cards beats[kNumCards] = {};   // cards that take a trick from this one
  std::uint8_t points[kNumCards] = {};
};

constexpr Family family(Kind kind) {
  return kind == Kind::kNull ? Family::kNull : kind == Kind::kGrand ? Family::kGrand : Family::kSuit;
}

const Layout& layout(Kind kind);
const FamilyTables& tables(Family family);

// Owners of cards, two bits a card: the player, or 3 where it is out of play. `ranks` turns the owners of a block
// into a number below 10240 that is the same for all blocks that play alike: where cards of equal worth stand next to
// each other, only the order of their owners counts.
inline constexpr std::uint64_t kRadix = 10240, kJackRadix = 121;
struct Codes {
  std::uint16_t points[1 << 14];  // of seven cards; the lowest three count nothing
  std::uint16_t tricks[1 << 14];  // of seven cards, where only tricks count
  std::uint16_t eight[1 << 16];   // of the eight cards of a suit in null
  std::uint8_t jacks[1 << 8];
};
const Codes& codes();

// What is known of a position between tricks: bounds of the soloist's further points (or tricks).
struct Entry {
  std::uint64_t key = 0;
  std::uint32_t stamp = 0;
  std::uint8_t low = 0, high = 0, move = 0, depth = 0;
};

struct alignas(64) Group {
  Entry entry[4];
};

struct SearchTable {
  explicit SearchTable(int log2_entries);

  int shift;                                   // 64 minus the number of those bits
  std::unique_ptr<Group[]> groups;             // by the upper bits of a key's hash
  std::uint32_t stamp = 1;                     // of the entries that count
  std::uint8_t game = 255;                     // family and objective that the entries speak of
  std::int32_t history[3][3][kNumCards] = {};  // place in the trick, player, card: how much it has settled

  void forget();
};

// A position as the search sees it.
struct Task {
  Family family;
  bool tricks;  // only tricks count, else points
  Cards hands[3];
  int leader, played;  // of the trick under way
  int trick[2];
};

// The soloist's further points or tricks, as a bound: at least `need` if the result is, else at most the result.
using ZeroWindow = int(SearchTable&, const Task&, int need, std::uint64_t& nodes);
TRICKFORMER_PER_ISA(ZeroWindow, zero_window);

}  // namespace trickformer::skat
