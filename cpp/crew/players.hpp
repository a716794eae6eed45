// Missions by players of the core: whole ones in bulk, which training starts from, and ends of others.
#pragma once
#include "crew/random.hpp"
#include "crew/worlds.hpp"

namespace trickformer::crew {

// Who sits at a seat.
enum class SeatPlayer : std::uint8_t { kRandom, kRules };

// Games `first` .. `first + n - 1` of the series `seed`, on the missions and deals of random_games with one try, each
// seat uniformly random for the whole game with probability `random`, else `rules`, which does something random with
// probability `noise`.
// history: uint8 [n, kHistory]; result: int8 [n], 1 for success and 0; seated: uint8 [n, 4], of SeatPlayer.
void mixed_games(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n,
                 double random, double noise, std::uint8_t* history, std::int8_t* result, std::uint8_t* seated);

// Whether the four succeed from here who all play `rules`, but do something random with probability `noise`.
bool succeeds(State s, double noise, Rng& rng);

// Follows the course of a mission in a world: what players and chance did after the deal. What a world says, cards
// passed and drawn, stands there as any number. made(state, action) says of each action whether to go on; false where it
// has not.
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

// A mission as a world has dealt it.
State dealt(const Mission& mission, const World& world);

// Whether all seats but one, if they play `rules`, make the moves of a course in a world.
bool plays_so(const Mission& mission, const World& world, std::span<const int> course, int but);

}  // namespace trickformer::crew
