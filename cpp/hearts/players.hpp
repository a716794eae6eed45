// Whole hands of Hearts by players of the core, in bulk, from which training starts.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "core/seat_player.hpp"
#include "hearts/types.hpp"
#include "nn/rollout_net.hpp"

namespace trickformer::hearts {

// How players are assigned to seats, drawn for a whole hand.
struct Cast {
  double random = 0;   // fraction of seats that play uniformly at random
  double rollout = 0;  // fraction of seats that the rollout network plays; `rules` plays the rest
  double noise = 0;    // fraction of random moves among those of the other players
  const RolloutNet* net = nullptr;
};

// Plays hands `first` .. `first + n - 1` of the series `seed`, dealt as in random_hands. history: uint8 [n, 117],
// OpenSpiel's actions, padded with 255; score: int8 [n, 4]; seated: uint8 [n, 4], SeatPlayer.
using MixedHands = void(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, const Cast& cast,
                        std::uint8_t* history, std::int8_t* score, std::uint8_t* seated);
TRICKFORMER_PER_ISA(MixedHands, mixed_hands);

}  // namespace trickformer::hearts
