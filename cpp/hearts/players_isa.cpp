// Hands by players of the core, built for each instruction set.
#include "hearts/players.hpp"
#include "hearts/rollout.hpp"
#include "hearts/rules_player.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

// The view of `seat`, which is on turn.
static SeatView view_of(const State& s, int seat) {
  SeatView v;
  v.rules = s.rules;
  v.dealt = s.dealt[seat];
  v.seat = std::uint8_t(seat);
  v.direction = s.direction;
  v.on_turn = true;
  const int passed = !s.direction ? 0 : s.phase == Phase::kPass ? s.num_passes - seat * kPass : kPass;
  v.num_passes = std::uint8_t(passed);
  for (int i = 0; i < passed; ++i) v.passes[i] = s.passes[seat * kPass + i];
  if (s.phase == Phase::kPass) return v;
  v.received = s.passed[(seat + kPlayers - s.direction) % kPlayers];
  v.leader = s.leader[0];
  v.num_plays = s.num_plays;
  for (int i = 0; i < s.num_plays; ++i) v.plays[i] = s.plays[i];
  return v;
}

// The position as a rollout player needs it.
static void follow(const State& s, RolloutTable& t) {
  Sim& sim = t.sim;
  for (int p = 0; p < kPlayers; ++p) {
    sim.hand[p] = s.hand[p];
    sim.taken[p] = s.taken[p];
    sim.given[p] = s.passed[p];
  }
  sim.trick = 0;
  for (int i = s.num_plays - s.num_plays % kPlayers; i < s.num_plays; ++i) sim.trick |= bit(s.plays[i]);
  sim.num_plays = s.num_plays;
  sim.current = s.current;
  sim.led_suit = s.led_suit;
  sim.best_card = s.best_card;
  sim.best_seat = s.best_seat;
  sim.direction = s.direction;
  sim.hearts_broken = s.hearts_broken;
  sim.passing = s.phase == Phase::kPass ? std::uint8_t(kPass - s.num_passes % kPass) : 0;
}

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA

namespace trickformer::hearts::built::TRICKFORMER_ISA {

void mixed_hands(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, const Cast& cast,
                 std::uint8_t* history, std::int8_t* score, std::uint8_t* out_seated) {
  for (std::size_t i = 0; i < n; ++i, history += kHistory, score += kPlayers, out_seated += kPlayers) {
    Rng rng(seed, first + i);
    const int direction = rules.pass_cards ? int((first + i) % kPlayers) : 0;
    Cards hands[kPlayers];
    history[0] = std::uint8_t(direction);
    shuffle_deal(rng, history + 1, hands);
    SeatPlayer seated[kPlayers];
    for (SeatPlayer& seat : seated) {
      const double drawn = rng.uniform();
      seat = drawn < cast.random                  ? SeatPlayer::kRandom
             : drawn < cast.random + cast.rollout ? SeatPlayer::kRollout
                                                  : SeatPlayer::kRules;
    }
    for (int p = 0; p < kPlayers; ++p) out_seated[p] = std::uint8_t(seated[p]);
    State s = new_hand(rules, direction, hands);
    RolloutTable t;
    bool begun = false;  // whether the knowledge of every seat has been set up
    std::uint8_t* out = history + 1 + kNumCards;
    while (s.phase != Phase::kOver) {
      if (cast.net) follow(s, t);
      if (cast.net && !begun && s.phase == Phase::kPlay) {
        begin(rules, t.sim, s.passed, t.known);
        begun = true;
      }
      int card;
      if (seated[s.current] == SeatPlayer::kRandom || (cast.noise > 0 && rng.uniform() < cast.noise))
        card = pick(legal(s), rng);
      else if (seated[s.current] == SeatPlayer::kRollout)
        card = RolloutPlayer(rules, *cast.net).choose(t, s.dealt[s.current], rng);
      else
        card = rules_player(view_of(s, s.current));
      *out++ = std::uint8_t(card);
      if (begun)
        for (Knowledge& k : t.known) k.see(card);
      apply(s, card);
    }
    while (out < history + kHistory) *out++ = kNoAction;
    scores(rules, s.taken, score);
  }
}

}  // namespace trickformer::hearts::built::TRICKFORMER_ISA
