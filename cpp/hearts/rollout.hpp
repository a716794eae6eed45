// Hands of Hearts in which a rollout network (nn/rollout_net.hpp) plays every seat.
#pragma once
#include "hearts/features.hpp"
#include "hearts/uct.hpp"
#include "nn/rollout_net.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

// A position with known cards, and the knowledge of each seat.
struct RolloutTable {
  Sim sim;
  Knowledge known[kPlayers];
};

// The knowledge of every seat when play begins, after the exchange of passed cards, if there was one.
inline void begin(const Rules& rules, const Sim& s, const Cards given[kPlayers], Knowledge known[kPlayers]) {
  for (int p = 0; p < kPlayers; ++p)
    known[p].begin(rules, p, s.hand[p], s.direction ? given[p] : 0, (p + s.direction) % kPlayers, s.current);
}

class RolloutPlayer {
 public:
  RolloutPlayer(const Rules& rules, const RolloutNet& net) : rules_(rules), game_(rules), net_(net) {}

  // The card that the seat on turn passes or plays. dealt: the seat's 13 cards, which only a pass reads.
  int choose(const RolloutTable& t, Cards dealt, Rng& rng) const {
    const Sim& s = t.sim;
    const Cards cards = game_.legal(s);
    if (!(cards & (cards - 1))) return lowest(cards);
    RolloutState state(net_);
    if (s.passing)
      features_before_play(Stage::kPass, dealt, s.given[s.current], 0, cards, s.direction, state);
    else
      features_of_play(t.known[s.current], cards, s.taken, s.trick, state);
    state.finish();
    int best = -1;
    float most = 0;
    for (Cards rest = cards; rest;) {
      const int card = take_lowest(rest);
      const float value = state.value(card) + kRolloutSpread * triangular(rng);
      if (best >= 0 && value <= most) continue;
      best = card;
      most = value;
    }
    return best;
  }

  void apply(RolloutTable& t, int card) const {
    if (!t.sim.passing) {
      for (Knowledge& k : t.known) k.see(card);
      return game_.apply(t.sim, card);
    }
    game_.apply(t.sim, card);
    if (!t.sim.passing) begin(rules_, t.sim, t.sim.given, t.known);
  }

  // Plays the hand to its end and returns the result of `seat` in units of v(o).
  double playout(RolloutTable& t, int seat, Cards dealt, Rng& rng) const {
    while (!game_.decided(t.sim)) apply(t, choose(t, dealt, rng));
    int reward[kPlayers];
    game_.rewards(t.sim, reward);
    return double(reward[seat]) / kRewardUnit;
  }

 private:
  Rules rules_;
  Simulator game_;
  const RolloutNet& net_;
};

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA
