// Uniformly random hands.
#include "hearts/random.hpp"
#include "hearts/rules.hpp"

namespace trickformer::hearts::built::TRICKFORMER_ISA {

void random_hands(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                  std::int8_t* score) {
  for (std::size_t i = 0; i < n; ++i, history += kHistory, score += kPlayers) {
    Rng rng(seed, first + i);
    const int direction = rules.pass_cards ? int((first + i) % kPlayers) : 0;
    Cards hands[kPlayers];
    history[0] = std::uint8_t(direction);
    shuffle_deal(rng, history + 1, hands);
    State s = new_hand(rules, direction, hands);
    std::uint8_t* out = history + 1 + kNumCards;
    while (s.phase == Phase::kPass) {
      const int card = pick(s.hand[s.current], rng);
      *out++ = std::uint8_t(card);
      apply_pass(s, card);
    }
    while (s.phase == Phase::kPlay) {
      const int card = pick(legal(s), rng);
      *out++ = std::uint8_t(card);
      apply_play(s, card);
    }
    while (out != history + kHistory) *out++ = kNoAction;
    scores(rules, s.taken, score);
  }
}

}  // namespace trickformer::hearts::built::TRICKFORMER_ISA
