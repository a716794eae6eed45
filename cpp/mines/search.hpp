// BSR-UCT on Mines with any method that draws layouts consistent with an observation, and these methods by themselves.
//
// The paper is "Consistent Belief State Estimation, with Application to Mines": Algorithms 1 (rejection), 2 (BSR-UCT),
// 3 (Metropolis) and 4 (Metropolis that starts from the last layout of the previous call).
//
// The prior is uniform over the sets of N cells in a domain; the likelihood of an observation is 0 or 1. The proposal
// moves each mine with probability 1/N, all of them together uniformly among the places that keep the mines distinct.
// The probability to get from one set to another then depends only on how many mines they share. So the proposal is
// symmetric, and it never leaves the support of the prior. In the ratio of likelihoods, 0/0 counts as 1: from an
// inconsistent layout every proposal is accepted, and a walk that is too short may end in one.
#pragma once
#include <cstdint>
#include <vector>

#include "core/isa.hpp"
#include "mines/count.hpp"

namespace trickformer::mines {

enum class Method : std::uint8_t { kRejection, kMetropolis, kInherited, kExact };

// The domain of the proposals: the cells that the rule of the first move allows, or all cells, so that the observed
// numbers must enforce the rule. Both have the same limit distribution.
enum class Domain : std::uint8_t { kRule, kBoard };

struct SearchOptions {
  Method method = Method::kRejection;
  Domain domain = Domain::kRule;
  std::uint64_t simulations = 1000;  // at most
  double seconds = 0;                // of CPU time, at most; 0: no limit
  double c = 1;                      // exploration, in units of the score: the share of safe cells that are opened
  double widening = 0;               // after n visits, ceil(n^widening) actions are considered; 0: all of them
  bool (*interrupted)() = nullptr;   // called several times a second; true ends the search
};

struct SearchResult {
  int cell = -1;     // the cell simulated most often; a random one if no simulation was finished
  double value = 0;  // mean score of `cell`
  std::uint64_t simulations = 0, drawn = 0, inconsistent = 0;  // layouts drawn, and inconsistent ones among them
  std::vector<std::uint32_t> visits;                           // [cells]
  std::vector<double> values;  // [cells]: mean score of the simulations through each action
};

// Some layout must be consistent with `observation`, and the game must not be over. exact: the counter of the
// observation; only the exact method needs it.
using RunSearch = SearchResult(const Any<Board>& board, const Any<Observation>& observation, const Any<Counter>* exact,
                               const SearchOptions& options, std::uint64_t seed);
TRICKFORMER_PER_ISA(RunSearch, search);

// Draws n layouts by one method, each after `trials` steps of the Metropolis walk. A method that inherits continues
// from the previous layout. Rejection stops after `trials` draws for a layout, unless that is 0. out: uint64 [n,
// words], a bit for each mine; 0 for a layout that was not found. The seed determines all draws. exact: as for `search`.
// interrupted: called several times a second; true ends the drawing.
using RunSample = void(const Any<Board>& board, const Any<Observation>& observation, const Any<Counter>* exact,
                       Method method, Domain domain, std::uint64_t trials, std::uint64_t seed, std::size_t n,
                       bool (*interrupted)(), std::uint64_t* out);
TRICKFORMER_PER_ISA(RunSample, sample);

}  // namespace trickformer::mines
