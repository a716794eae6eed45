// Whole games of Skat by players of the core, in bulk, from which training starts.
#pragma once
#include "core/seat_player.hpp"
#include "skat/random.hpp"

namespace trickformer::skat {

// Plays games `first` .. `first + n - 1` of the series `seed`, dealt as in random_games. Each seat is uniformly random
// for the whole game with probability `random`, else `rules`. `rules` makes a random move with probability `noise`, and
// with a tenth of it until a contract is declared, because most random bids leave no game worth playing. history: uint8
// [n, kHistory]; score: int16 [n, 3], Seeger-Fabian or the plain value; seated: uint8 [n, 3], SeatPlayer.
void mixed_games(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, double random, double noise,
                 std::uint8_t* history, std::int16_t* score, std::uint8_t* seated);

}  // namespace trickformer::skat
