// Two slow solvers that share only the position with the fast one: a baseline for the benchmark, and a reference for
// the tests.
#pragma once
#include <cstdint>
#include <memory>

#include "skat/solver.hpp"

namespace trickformer::skat {

// Plain zero-window alpha-beta: a table of whole positions between tricks, a simple order of moves, no bounds except
// the points decided, no merged cards. Not for null.
class PlainSolver {
 public:
  PlainSolver();
  ~PlainSolver();
  bool at_least(const SolverPosition& position, int threshold);  // starts with an empty table
  std::uint64_t nodes() const { return nodes_; }

 private:
  struct Entry {
    Cards hands[3];
    std::uint32_t stamp;
    std::uint8_t leader, low, high;
  };
  struct Node;
  static bool stronger(const Node& node, int card, int than);
  bool holds(const Entry& entry, const Node& node, int leader) const;
  static int order(const Node& node, Cards legal, bool soloist, int* cards);
  bool reach(Node& node, int need);
  std::unique_ptr<Entry[]> table_;
  std::uint32_t stamp_ = 0;
  std::uint64_t nodes_ = 0;
};

// The minimax value over every line of play after each legal card, -1 for an illegal one: the soloist's card points at
// the end or, if `tricks` (always in null), the tricks that the soloist has yet to take; in null he avoids them. Only
// for endings of a few cards.
std::array<std::int16_t, kNumCards> minimax_moves(const SolverPosition& position, bool tricks);

}  // namespace trickformer::skat
