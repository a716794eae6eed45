// Internals of the solver: its numbering of the cards, and its table.
#pragma once
#include <cstdint>
#include <memory>

#include "core/isa.hpp"
#include "skat/solver.hpp"

namespace trickformer::skat {

// The search numbers the soloist as player 0 and the others after him in turn. In its numbering of the cards, the
// stronger card of a suit has the higher number and trumps come last: four blocks of seven (7 8 9 Q K 10 A) with the
// trump suit last, then the jacks by suit. In null there are four blocks of eight (7 8 9 10 J Q K A).
struct Layout {
  std::uint8_t to[kNumCards];  // from a card to the search's number
};

// The three numberings.
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

// Owners of cards, two bits a card: the player, or 3 for a card out of play. The tables turn the owners of a block into
// a number below 10240 that is equal for equivalent blocks: among adjacent cards of equal points, only the order of
// their owners counts.
inline constexpr std::uint64_t kRadix = 10240, kJackRadix = 121;
struct Codes {
  std::uint16_t points[1 << 14];  // of seven cards; the lowest three have no points
  std::uint16_t tricks[1 << 14];  // of seven cards, if only tricks count
  std::uint16_t eight[1 << 16];   // of the eight cards of a suit in null
  std::uint8_t jacks[1 << 8];
};
const Codes& codes();

// The known bounds of a position between tricks, on the soloist's further points (or tricks).
struct Entry {
  std::uint64_t key = 0;
  std::uint32_t stamp = 0;
  std::uint8_t low = 0, high = 0, move = 0, depth = 0;  // move: the card to try first; depth: cards in a hand
};

struct alignas(64) Group {
  Entry entry[4];
};

struct SearchTable {
  explicit SearchTable(int log2_entries);

  int shift;                                   // 64 minus log2 of the number of groups
  std::unique_ptr<Group[]> groups;             // indexed by the upper bits of a key's hash
  std::uint32_t stamp = 1;                     // stamp of valid entries
  std::uint8_t game = 255;                     // family and objective of the entries
  std::int32_t history[3][3][kNumCards] = {};  // place in the trick, player, card: how much it has decided

  void forget();
};

// A position in the form of the search.
struct Task {
  Family family;
  bool tricks;  // whether only tricks count, not points
  Cards hands[3];
  int leader, played;  // of the current trick
  int trick[2];
};

// A bound on the soloist's further points or tricks: a lower bound if it is at least `need`, else an upper bound.
using ZeroWindow = int(SearchTable&, const Task&, int need, std::uint64_t& nodes);
TRICKFORMER_PER_ISA(ZeroWindow, zero_window);

}  // namespace trickformer::skat
