// Uniformly random missions.
#include "crew/random.hpp"

namespace trickformer::crew::built::TRICKFORMER_ISA {

void random_games(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n, int tries,
                  std::uint8_t* history, std::int8_t* result) {
  for (std::size_t i = 0; i < n; ++i, history += kHistory) {
    Rng rng(seed, first + i);
    const Mission& mission = missions[rng.below(std::uint32_t(missions.size()))];
    std::uint8_t* out = history;
    bool success = false;
    for (int left = (first + i) % 2 ? tries : 1; left > 0 && !success; --left) {
      history[0] = mission.id;
      Cards hands[kPlayers];
      shuffle_deal(rng, history + 1, hands);
      out = history + 1 + kNumCards;
      State s = new_game(mission, hands);
      while (!s.over()) {
        const int action = pick(legal(s), rng);
        *out++ = std::uint8_t(action);
        apply(s, action);
      }
      success = s.result > 0;
    }
    std::fill(out, history + kHistory, kNoAction);
    result[i] = success;
  }
}

}  // namespace trickformer::crew::built::TRICKFORMER_ISA
