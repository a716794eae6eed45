// Missions played by players of the core: whole missions in bulk, from which training starts, and endings.
#pragma once
#include "core/seat_player.hpp"
#include "crew/random.hpp"
#include "crew/worlds.hpp"

namespace trickformer::crew {

// Plays games `first` .. `first + n - 1` of the series `seed`, on the missions and deals of random_games with one try.
// Each seat is uniformly random for the whole game with probability `random`, otherwise `rules`, which makes a random
// move with probability `noise`.
// history: uint8 [n, kHistory]; result: int8 [n], 1 for success, else 0; seated: uint8 [n, 4], SeatPlayer.
void mixed_games(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n,
                 double random, double noise, std::uint8_t* history, std::int8_t* result, std::uint8_t* seated);

// Returns whether the four succeed from here if all play `rules` but make a random move with probability `noise`.
bool succeeds(State s, double noise, Rng& rng);

// Follows a course in a world, that is, the actions of players and chance after the deal. The world determines the
// cards passed and drawn, so their numbers in the course are ignored. Calls made(state, action) before each action, and
// with action -1 at the end. Stops and returns false as soon as `made` returns false.
template <typename Made>
bool follow(State s, const World& world, std::span<const int> course, const Made& made) {
  for (int action : course) {
    if (s.phase == Phase::kPass) action = world.passed[s.current];
    if (s.phase == Phase::kDraw) action = world.drawn[s.step];
    if (!made(s, action)) return false;
    apply(s, action);
  }
  return made(s, -1);
}

// The mission right after the deal of a world.
State state_after_deal(const Mission& mission, const World& world);

// Returns whether all seats but one, if they play `rules`, make the moves of a course in a world.
bool plays_so(const Mission& mission, const World& world, std::span<const int> course, int but);

}  // namespace trickformer::crew
