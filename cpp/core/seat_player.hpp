// The players of the core that play whole games in bulk.
#pragma once
#include <cstdint>

namespace trickformer {

// The player at a seat. The numbers are those in the arrays `seated`.
enum class SeatPlayer : std::uint8_t { kRandom, kRules, kRollout };

}  // namespace trickformer
