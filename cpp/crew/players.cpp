#include "crew/players.hpp"

#include "crew/rules_player.hpp"

namespace trickformer::crew {

void mixed_games(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n,
                 double random, double noise, std::uint8_t* history, std::int8_t* result, std::uint8_t* seated) {
  for (std::size_t i = 0; i < n; ++i, history += kHistory, seated += kPlayers) {
    Rng rng(seed, first + i);
    const Mission& mission = missions[rng.below(std::uint32_t(missions.size()))];
    history[0] = mission.id;
    Cards hands[kPlayers];
    shuffle_deal(rng, history + 1, hands);
    for (int p = 0; p < kPlayers; ++p)
      seated[p] = std::uint8_t(rng.uniform() < random ? SeatPlayer::kRandom : SeatPlayer::kRules);
    std::uint8_t* out = history + 1 + kNumCards;
    State s = new_game(mission, hands);
    while (!s.over()) {
      const bool astray = s.is_chance() || SeatPlayer(seated[s.current]) == SeatPlayer::kRandom;
      const bool scripted = !astray && !(noise > 0 && rng.uniform() < noise);
      const int action = scripted ? rules_action(s, s.current, s.hand[s.current]) : pick(legal(s), rng);
      *out++ = std::uint8_t(action);
      apply(s, action);
    }
    std::fill(out, history + kHistory, kNoAction);
    result[i] = s.result > 0;
  }
}

State state_after_deal(const Mission& mission, const World& world) {
  Cards hands[kPlayers] = {};
  for (int card = 0; card < kNumCards; ++card) hands[world.dealt[card]] |= bit(card);
  return new_game(mission, hands);
}

bool plays_so(const Mission& mission, const World& world, std::span<const int> course, int but) {
  return follow(state_after_deal(mission, world), world, course, [but](const State& s, int action) {
    return action < 0 || s.is_chance() || s.current == but || rules_action(s, s.current, s.hand[s.current]) == action;
  });
}

bool succeeds(State s, double noise, Rng& rng) {
  while (!s.over()) {
    const bool astray = s.is_chance() || (noise > 0 && rng.uniform() < noise);
    apply(s, astray ? pick(legal(s), rng) : rules_action(s, s.current, s.hand[s.current]));
  }
  return s.result > 0;
}

}  // namespace trickformer::crew
