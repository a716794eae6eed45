// Deal sampler: uniform worlds of one seat's view as arrays.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts {

// A world as a row of kHidden numbers: the seat that each card was dealt to (52), then the cards that the seats
// 0, 1, 2, 3 passed, three each in their order, -1 where no pass is known to have happened (12).
inline constexpr int kHidden = kNumCards + kPlayers * kPass;

// The number of ways to lay the unseen cards, exact; at most 39! / 13!^3.
std::uint64_t num_assignments(const Deals& deals);
// In how many ways the others' passes can have been made for each of those, exact; at most 1716^3.
std::uint64_t num_pass_histories(const Deals& deals);

// Draws worlds `first` .. `first + n - 1` of the series `seed` into hidden: int16 [n, kHidden]. Each is uniform
// over all worlds and a function of seed and index alone; results are the same on every machine.
using SampleWorlds = void(const Deals& deals, std::uint64_t seed, std::uint64_t first, std::size_t n,
                          std::int16_t* hidden);
TRICKFORMER_PER_ISA(SampleWorlds, sample_worlds);

// Whether a world explains the view.
bool is_consistent(const Deals& deals, const std::int16_t* hidden);
// Natural logarithm of the probability with which a world is drawn; minus infinity where it does not explain the view.
double log_prob(const Deals& deals, const std::int16_t* hidden);
// Where the cards of a world that explains the view lie, at: [kNumCards], 0, 1, 2; -1 where the view says it.
void places(const Deals& deals, const std::int16_t* hidden, std::int8_t* at);
// The probability that each card lies at each place, [kNumCards][kPlaces]; 0 where the view says it.
void marginals(const Deals& deals, double* out);

}  // namespace trickformer::hearts
