// BSR-UCT on Mines, with any way to draw a layout that explains what was seen plugged in; and these draws by
// themselves.
//
// "Consistent Belief State Estimation, with Application to Mines": Algorithms 1 (rejection), 2 (BSR-UCT), 3
// (Metropolis) and 4 (Metropolis that starts from the last layout of the call before).
//
// The prior is uniform over the sets of N cells in a domain, the likelihood of what was seen 0 or 1. The proposal
// draws each mine's place anew with probability 1/N, all together uniformly among the places that keep the mines
// distinct. The probability to get from one set to another then depends only on how many mines they share, so it is
// symmetric, and no proposal leaves the prior's support. Of the likelihoods' ratio, 0/0 counts as 1: from a layout
// that does not explain what was seen every proposal is accepted, and a walk that is too short ends in such a layout.
#pragma once
#include <cstdint>
#include <vector>

#include "core/isa.hpp"
#include "mines/rules.hpp"

namespace trickformer::mines {

enum class Method : std::uint8_t { kRejection, kMetropolis, kInherited, kExact };

// Where layouts are proposed: in the cells that the rule of the first move leaves, or anywhere, so that the numbers
// seen must enforce the rule. Both lead to the same distribution.
enum class Domain : std::uint8_t { kRule, kBoard };

struct SearchOptions {
  Method method = Method::kRejection;
  Domain domain = Domain::kRule;
  std::uint64_t simulations = 1000;  // at most
  double seconds = 0;                // of CPU time, at most; 0: no limit
  double c = 1;                      // exploration, in units of the score
  double widening = 0;               // after n visits, ceil(n^widening) actions are considered; 0: all of them
  bool (*interrupted)() = nullptr;   // asked some times a second; true ends the search
};

struct SearchResult {
  int cell = -1;  // simulated most often; where no simulation was finished, a random one
  double value = 0;
  std::uint64_t simulations = 0, drawn = 0, inconsistent = 0;  // layouts drawn, and those that explain nothing
  std::vector<std::uint32_t> visits;                           // [cells]
  std::vector<double> values;  // [cells]: mean score of the simulations through each action
};

// Some layout must explain `observation`, and the game must go on.
using RunSearch = SearchResult(const Any<Board>& board, const Any<Observation>& observation,
                               const SearchOptions& options, std::uint64_t seed);
TRICKFORMER_PER_ISA(RunSearch, search);

// Draws n layouts by one method, each after `trials` steps of Metropolis' walk. A method that inherits continues from
// the previous layout. Rejection stops after `trials` draws for a layout, unless that is 0. out: uint64 [n, words], a bit
// for each mine; 0 for a layout that was not found. The seed determines all draws.
using RunSample = void(const Any<Board>& board, const Any<Observation>& observation, Method method, Domain domain,
                       std::uint64_t trials, std::uint64_t seed, std::size_t n, std::uint64_t* out);
TRICKFORMER_PER_ISA(RunSample, sample);

}  // namespace trickformer::mines
