// Internals of the solver: its table, and one search.
#pragma once
#include "core/isa.hpp"
#include "crew/solver.hpp"

namespace trickformer::crew {

// Positions between tricks that are known to fail. An entry is a key of 48 bits for the cards left, the leader and
// everything else that the mission depends on; the bits above are the stamp of the search that made it.
struct SolverTable {
  explicit SolverTable(int log2_entries);
  void forget();

  int shift;  // 64 minus log2 of the number of entries
  std::unique_ptr<std::uint64_t[]> keys;
  std::uint64_t stamp = 1;
};

using Search = Verdict(SolverTable&, const State&, std::uint64_t max_nodes, const Draws*, std::uint64_t& nodes,
                       std::vector<std::uint8_t>& line);
TRICKFORMER_PER_ISA(Search, search);

}  // namespace trickformer::crew
