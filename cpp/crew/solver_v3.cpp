#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "crew/solver_search.inl"

namespace trickformer::crew::detail {
Answer search_v3(SolverTable& table, const State& state, std::uint64_t max_nodes, const Draws* draws,
                 std::uint64_t& nodes, std::vector<std::uint8_t>& line) {
  return search_here(table, state, max_nodes, draws, nodes, line);
}
}  // namespace trickformer::crew::detail
#endif
