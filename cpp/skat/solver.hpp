// Perfect-information Skat: the value of best play with open cards, for suit, grand and null. The two defenders play as
// one side.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "skat/types.hpp"

namespace trickformer::skat {

// A position in play, between tricks or within one.
struct SolverPosition {
  Kind kind = Kind::kGrand;
  std::int8_t soloist = 0;
  std::int8_t leader = 0;                       // of the current trick
  std::array<std::int8_t, 2> trick = {-1, -1};  // its cards so far, in the order played; -1: none
  std::array<Cards, kPlayers> hands = {};       // cards still held, without those in the trick
  std::array<std::int16_t, 2> points = {};      // card points so far: the soloist's (with the skat), the defenders'

  int num_trick() const { return (trick[0] >= 0) + (trick[1] >= 0); }
  int turn() const { return (leader + num_trick()) % kPlayers; }
  Cards legal() const;
};

// Returns nullptr if a position can be solved, else a description of the fault.
const char* fault(const SolverPosition& position);

struct SearchTable;

// Solves positions one after the other. Table entries for one position help with the next one of the same game, until
// `reset`. Results never depend on them, but node counts do. Cards have their usual numbers, and points are the
// soloist's at the end of the hand. In null there are no points: `at_least` then returns, for any threshold, whether
// the soloist avoids every trick from here on, and the exact value is 1 if so, else 0.
//
// The search is a zero-window alpha-beta search on the points still to come, with a transposition table between tricks.
// Merging neighbouring cards of unequal points follows Kupferschmid & Helmert, "A Skat Player Based on Monte-Carlo
// Simulation" (2006), section 3 (quasi-symmetry).
class Solver {
 public:
  explicit Solver(int log2_entries = 18);  // size of the table; an entry has 16 bytes
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  void reset();  // forgets everything, in constant time

  bool at_least(const SolverPosition& position, int threshold);
  int exact(const SolverPosition& position);
  // Returns whether the soloist takes at least n of the tricks that are not complete. n = 1 tests whether he escapes
  // schwarz, n = all of them whether the defenders are schwarz. In null he avoids tricks, and the defenders try to give
  // them to him.
  bool tricks_at_least(const SolverPosition& position, int n);

  // For each legal card: the cards after which `at_least` holds; the exact value by card, -1 for an illegal one.
  Cards moves_at_least(const SolverPosition& position, int threshold);
  std::array<std::int16_t, kNumCards> moves_exact(const SolverPosition& position);

  std::uint64_t nodes() const { return nodes_; }  // cards tried since construction

 private:
  std::unique_ptr<SearchTable> table_;
  std::uint64_t nodes_ = 0;
};

// The query of a batch for each of its positions.
enum class Query : std::uint8_t { kAtLeast, kExact, kTricksAtLeast, kMovesAtLeast, kMovesExact };

struct SolverResult {
  std::int16_t value = 0;  // 0 or 1 for a test
  std::uint64_t nodes = 0;
  std::array<std::int16_t, kNumCards> moves = {};  // for a query for moves: by card, -1 for an illegal one
};

// Solves many positions on `threads` threads. Each position starts with an empty table, so that values and node counts
// depend neither on its neighbours nor on the number of threads. `limits` holds the threshold or the number of tricks
// for each position; queries for exact values need none.
void solve(std::span<const SolverPosition> positions, Query query, std::span<const std::int16_t> limits, int threads,
           std::span<SolverResult> out);

}  // namespace trickformer::skat
