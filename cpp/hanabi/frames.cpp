#include "hanabi/frames.hpp"

#include <stdexcept>

namespace trickformer::hanabi {

void play_again(const Rules& rules, std::uint64_t seed, std::uint64_t index, std::span<const std::uint8_t> actions,
                bool with_v0, Frames out) {
  const int size = observation_size(rules);
  Rng rng(seed, index);
  std::uint8_t deck[kMaxDeck];
  shuffle(rules, rng, deck);
  State s = new_game(rules, deck);
  for (const std::uint8_t action : actions) {
    const std::uint64_t set = legal(s);
    if (action >= rules.actions() || !(set >> action & 1)) throw std::invalid_argument("illegal action");
    for (int seat = 0; seat < rules.players; ++seat, out.seen += size) observe(s, seat, with_v0, out.seen);
    for (std::uint64_t rest = set; rest;) out.legal[take_lowest(rest)] = true;
    out.legal += rules.actions();
    *out.seat++ = std::int8_t(s.player);
    const int before = s.score();
    apply(s, action);
    *out.reward++ = std::int8_t(s.score() - before);
  }
}

}  // namespace trickformer::hanabi
