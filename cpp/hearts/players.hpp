// Whole hands of Hearts by players of the core, in bulk: what training starts from.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/types.hpp"
#include "nn/rollout_net.hpp"

namespace trickformer::hearts {

// Who sits at a seat.
enum class SeatPlayer : std::uint8_t { kRandom, kRules, kRollout };

// How seats are cast, drawn for the whole hand.
struct Cast {
  double random = 0;   // share of seats that play uniformly at random
  double rollout = 0;  // share of seats that the rollout network plays; `rules` plays the others
  double noise = 0;    // share of the others' moves that are random
  const RolloutNet* net = nullptr;
};

// Hands `first` .. `first + n - 1` of the series `seed`, dealt as random_hands deals them. history: uint8 [n, 117],
// OpenSpiel's actions, filled up with 255; score: int8 [n, 4]; seated: uint8 [n, 4], of SeatPlayer.
using MixedHands = void(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, const Cast& cast,
                        std::uint8_t* history, std::int8_t* score, std::uint8_t* seated);
TRICKFORMER_PER_ISA(MixedHands, mixed_hands);

}  // namespace trickformer::hearts
