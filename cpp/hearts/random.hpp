#pragma once
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/types.hpp"

namespace trickformer::hearts {

// Plays hands `first` .. `first + n - 1` of the series `seed` uniformly at random. The pass direction is the index mod
// 4. history: uint8 [n, 117], OpenSpiel's actions, padded with 255; score: int8 [n, 4], points by seat. Results are the
// same on every machine.
using RandomHands = void(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n,
                         std::uint8_t* history, std::int8_t* score);
TRICKFORMER_PER_ISA(RandomHands, random_hands);

}  // namespace trickformer::hearts
