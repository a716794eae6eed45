// Deal sampler: uniformly drawn worlds of one seat's view as arrays.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts {

// A world as a row of kHidden numbers: the seat that each card was dealt to (52), then the cards that the seats 0, 1,
// 2, 3 passed, three each in order, -1 if no pass is known to have happened (12).
inline constexpr int kHidden = kNumCards + kPlayers * kPass;

// Number of assignments of the unseen cards, exact; at most 39! / 13!^3.
std::uint64_t num_assignments(const Deals& deals);
// Number of possible passes of the others for each assignment, exact; at most 1716^3.
std::uint64_t num_pass_histories(const Deals& deals);

// Draws worlds `first` .. `first + n - 1` of the series `seed` into hidden: int16 [n, kHidden]. Each is uniform over
// all worlds and depends only on seed and index; results are the same on every machine.
using SampleWorlds = void(const Deals& deals, std::uint64_t seed, std::uint64_t first, std::size_t n,
                          std::int16_t* hidden);
TRICKFORMER_PER_ISA(SampleWorlds, sample_worlds);

// Returns whether a world is consistent with the view.
bool is_consistent(const Deals& deals, const std::int16_t* hidden);
// Natural logarithm of the probability of drawing a world; minus infinity if it is not consistent with the view.
double log_prob(const Deals& deals, const std::int16_t* hidden);
// The places of the cards of a consistent world, at: [kNumCards], 0, 1, 2; -1 for cards that the view locates.
void places(const Deals& deals, const std::int16_t* hidden, std::int8_t* at);
// The probability of each card at each place, [kNumCards][kPlaces]; 0 for cards that the view locates.
void marginals(const Deals& deals, double* out);

}  // namespace trickformer::hearts
