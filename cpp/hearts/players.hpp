// Whole hands of Hearts by players of the core, in bulk: what training starts from.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/types.hpp"
#include "nn/quick_net.hpp"

namespace trickformer::hearts {

// Who sits at a seat.
enum class Seated : std::uint8_t { kRandom, kRules, kQuick };

// How seats are cast, drawn for the whole hand.
struct Cast {
  double random = 0,
         quick = 0;  // shares of seats that play uniformly at random, or by the network; the others: `rules`
  double noise = 0;  // share of the others' moves that are random
  const QuickNet* net = nullptr;
};

// Hands `first` .. `first + n - 1` of the series `seed`, dealt as random_hands deals them. history: uint8 [n, 117],
// OpenSpiel's actions, filled up with 255; score: int8 [n, 4]; seated: uint8 [n, 4], of Seated.
using MixedHands = void(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, const Cast& cast,
                        std::uint8_t* history, std::int8_t* score, std::uint8_t* seated);
TRICKFORMER_PER_ISA(MixedHands, mixed_hands);

}  // namespace trickformer::hearts
