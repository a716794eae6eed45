// Uniformly random games of Skat, with full auctions.
#pragma once
#include <cstddef>

#include "core/isa.hpp"
#include "skat/rules.hpp"

namespace trickformer::skat {

// A game as actions: 32 cards dealt (ten to each of the seats 0, 1, 2, then the skat), then the players' actions.
inline constexpr int kHistory = kNumCards + kMaxActions;
inline constexpr std::uint8_t kNoAction = 255;  // pads a history

// Plays games `first` .. `first + n - 1` of the series `seed` with uniformly random legal actions. history: uint8 [n,
// kHistory]; score: int16 [n, 3].
using RandomGames = void(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                         std::int16_t* score);
TRICKFORMER_PER_ISA(RandomGames, random_games);

}  // namespace trickformer::skat
