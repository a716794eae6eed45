// Uniformly random games, built for each instruction set.
#include "skat/random.hpp"

namespace trickformer::skat::built::TRICKFORMER_ISA {

void random_games(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                  std::int16_t* score) {
  for (std::size_t i = 0; i < n; ++i, history += kHistory, score += kPlayers) {
    Rng rng(seed, first + i);
    Cards hands[kPlayers], skat;
    shuffle_deal(rng, history, hands, skat);
    State s = new_game(hands, skat);
    std::uint8_t* out = history + kNumCards;
    std::uint8_t legal[kActions];
    while (s.phase < Phase::kPlay) {
      const int action = legal[rng.below(std::uint32_t(legal_actions(s, legal)))];
      *out++ = std::uint8_t(action);
      apply(s, action);
    }
    while (s.phase == Phase::kPlay) {
      const int card = pick(legal_cards(s), rng);
      *out++ = std::uint8_t(card);
      apply_play(s, card);
    }
    std::fill(out, history + kHistory, kNoAction);
    scores(result(s), seeger, score);
  }
}

}  // namespace trickformer::skat::built::TRICKFORMER_ISA
