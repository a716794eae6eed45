// A plain search on the rules themselves. The benchmark measures the fast solver against it, and the tests compare the
// two.
#pragma once
#include "crew/solver.hpp"

namespace trickformer::crew {

// Tries every card in order, without a table or bounds. `nodes` counts the cards tried.
Verdict plain_can_succeed(const State& state, std::uint64_t max_nodes, const std::optional<Draws>& draws,
                          std::uint64_t& nodes);

}  // namespace trickformer::crew
