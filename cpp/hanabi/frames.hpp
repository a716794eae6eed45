// Replays recorded games and writes every seat's observation before each move.
#pragma once
#include <span>

#include "hanabi/observation.hpp"

namespace trickformer::hanabi {

// Outputs for the frames of one game, all [moves, ...].
struct Frames {
  float* seen;          // [players, observation_size(rules)], by seat
  bool* legal;          // [actions], of the seat on turn
  std::int8_t* seat;    // the seat on turn
  std::int8_t* reward;  // change of the score by the move
};

// Plays game `index` of the series `seed`, as Tables deals it, by these actions. Throws std::invalid_argument if one is
// not legal.
void play_again(const Rules& rules, std::uint64_t seed, std::uint64_t index, std::span<const std::uint8_t> actions,
                bool with_v0, Frames out);

}  // namespace trickformer::hanabi
