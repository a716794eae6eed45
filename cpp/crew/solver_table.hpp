// The inside of the solver: its memory, and one search.
#pragma once
#include "core/isa.hpp"
#include "crew/solver.hpp"

namespace trickformer::crew {

// Positions between tricks that are known to fail: the cards left, who leads and what else the mission depends on, as
// a key of 48 bits; above it the stamp of the search that found it.
struct SolverTable {
  explicit SolverTable(int log2_entries);
  void forget();

  int shift;  // 64 minus the number of those bits
  std::unique_ptr<std::uint64_t[]> keys;
  std::uint64_t stamp = 1;
};

using Search = Verdict(SolverTable&, const State&, std::uint64_t max_nodes, const Draws*, std::uint64_t& nodes,
                       std::vector<std::uint8_t>& line);
TRICKFORMER_PER_ISA(Search, search);

}  // namespace trickformer::crew
