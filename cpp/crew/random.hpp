// Uniformly random missions.
#pragma once
#include <cstddef>
#include <span>

#include "core/isa.hpp"
#include "crew/rules.hpp"

namespace trickformer::crew {

// A game is stored as kHistory bytes: the number of its mission, the 40 cards dealt (ten to each of the seats 0 to 3),
// then the actions of the players and of chance in order.
inline constexpr int kMaxActionsAfterDeal =
    kMaxTasks                   // tasks revealed
    + 3 + kPlayers * kMaxTasks  // token moved (2), member named (1); answers and a decision for each task
    + kPlayers + kPlayers       // passes, draws
    + kPlayers * (kTricks + 1)  // by seat: 9 silences and a message of 2 actions
    + kPlays;
inline constexpr int kHistory = 1 + kNumCards + kMaxActionsAfterDeal;
inline constexpr std::uint8_t kNoAction = 255;  // pads a history

// Plays games `first` .. `first + n - 1` of the series `seed`, each a mission drawn uniformly, with uniformly random
// actions. In every second game, up to `tries` deals are played until one succeeds, and the last one is kept.
// history: uint8 [n, kHistory]; result: int8 [n], 1 for success, else 0.
using RandomGames = void(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n,
                         int tries, std::uint8_t* history, std::int8_t* result);
TRICKFORMER_PER_ISA(RandomGames, random_games);

}  // namespace trickformer::crew
