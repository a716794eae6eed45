// The search as one would write it first, on the rules themselves: the yardstick of the benchmark and the twin of the
// tests.
#pragma once
#include "crew/solver.hpp"

namespace trickformer::crew {

// Tries every card in order, with no table and nothing foreseen. `nodes` is what it tried.
Verdict plain_can_succeed(const State& state, std::uint64_t max_nodes, const std::optional<Draws>& draws,
                          std::uint64_t& nodes);

}  // namespace trickformer::crew
