// Deal sampler: uniform worlds of one seat's view as arrays.
#pragma once
#include <cstddef>
#include <cstdint>

#include "hearts_seat_view.hpp"

namespace trickformer::hearts {

struct Deals;

// A world as a row of kHidden numbers: the seat that each card was dealt to (52), then the cards that the seats
// 0, 1, 2, 3 passed, three each in their order, -1 where no pass is known to have happened (12).
inline constexpr int kHidden = kNumCards + kPlayers * kPass;

// Counts the deals that explain a view. Returns null and sets `fault` if there is none; `free_deals` gives back.
Deals* new_deals(const SeatView& view, int& fault);
void free_deals(Deals* deals);
// The number of ways to lay the unseen cards, exact; at most 39! / 13!^3.
std::uint64_t num_assignments(const Deals& deals);
// In how many ways the others' passes can have been made for each of those, exact; at most 1716^3.
std::uint64_t num_pass_histories(const Deals& deals);

// Draws worlds `first` .. `first + n - 1` of the series `seed` into hidden: int16 [n, kHidden]. Each is uniform
// over all worlds and a function of seed and index alone; results are the same on every machine.
void sample_worlds(const Deals& deals, std::uint64_t seed, std::uint64_t first, std::size_t n, std::int16_t* hidden);

// Whether each of n worlds explains the view; ok: bool [n].
void explains(const Deals& deals, const std::int16_t* hidden, std::size_t n, bool* ok);

namespace detail {
using SampleWorlds = void(const Deals&, std::uint64_t, std::uint64_t, std::size_t, std::int16_t*);
#if defined(__x86_64__)
SampleWorlds sample_worlds_v3;
#endif
}  // namespace detail

}  // namespace trickformer::hearts
