// Labels by playouts, built for each instruction set.
#include "hearts/labels.hpp"
#include "hearts/rollout.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

// Writes the position of `truth` to `t`, with the hidden cards of world `w`, which is consistent with the view `v`.
// knowledge: whether to set up the knowledge of each seat too.
static void place(const World& w, const SeatView& v, const RolloutTable& truth, bool knowledge, RolloutTable& t) {
  t.sim = truth.sim;
  if (!v.playing()) {
    // The choices of the others are unknown, so they pass what the script passes in this world.
    for (int p = 0; p < kPlayers; ++p) {
      if (p == v.seat) continue;
      t.sim.hand[p] = w.dealt[p];
      t.sim.given[p] = 0;
      for (int i = 0; i < kPass; ++i) t.sim.given[p] |= bit(choose_pass(w.dealt[p] & ~t.sim.given[p]));
    }
    return;
  }
  Cards given[kPlayers] = {};
  for (int p = 0; p < kPlayers; ++p) {
    t.sim.hand[p] = w.hand[p];
    if (v.direction) given[p] = cards_of(w.passes + kPass * p, kPass);
  }
  if (!knowledge) return;
  for (int p = 0; p < kPlayers; ++p) {
    if (p == v.seat) {
      t.known[p] = truth.known[p];
      continue;
    }
    const Cards received = v.direction ? given[(p + kPlayers - v.direction) % kPlayers] : 0;
    Knowledge& k = t.known[p];
    k.begin(v.rules, p, (w.dealt[p] & ~given[p]) | received, given[p], (p + v.direction) % kPlayers, v.leader);
    for (int i = 0; i < v.num_plays; ++i) k.see(v.plays[i]);
  }
}

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA

namespace trickformer::hearts::built::TRICKFORMER_ISA {

int label_hand(const Rules& rules, const std::uint8_t* history, int seat, const LabelOptions& options,
               std::uint64_t seed, std::uint64_t stream, Label* out) {
  const int direction = history[0];
  const std::uint8_t *deck = history + 1, *passes = deck + kNumCards;
  const std::uint8_t* plays = passes + (direction ? kPlayers * kPass : 0);
  const Simulator game(rules);
  Rng rng(seed, stream);
  int found = 0;
  RolloutTable t;
  Sim& s = t.sim;
  Cards dealt = 0;
  for (int i = seat; i < kNumCards; i += kPlayers) dealt |= bit(deck[i]);
  // Result of the hand for the seat after `card`.
  const auto play_out = [&](RolloutTable& end, int card, Rng& own) {
    if (options.net) {
      const RolloutPlayer player(rules, *options.net);
      player.apply(end, card);
      return player.playout(end, seat, dealt, own);
    }
    game.apply(end.sim, card);
    game.playout(end.sim, true, own);
    int reward[kPlayers];
    game.rewards(end.sim, reward);
    return double(reward[seat]) / kRewardUnit;
  };
  SeatView v;
  v.rules = rules;
  v.seat = std::uint8_t(seat);
  v.direction = std::uint8_t(direction);
  v.dealt = dealt;
  v.on_turn = true;
  const auto decide = [&](int position) {
    const Cards legal = game.legal(s);
    if (!(legal & (legal - 1)) || game.decided(s) || rng.uniform() >= options.share) return;
    const std::uint64_t drawn = rng.next();
    double sums[kNumCards] = {};
    Deals deals;
    if (options.worlds)
      if (const int fault = count_deals(v, deals); fault != kNoFault) refuse(v, fault);
    for (int i = 0; i < options.playouts; ++i) {
      Rng own(drawn, std::uint64_t(i));
      RolloutTable start = t;
      if (options.worlds) {
        World world;
        draw(deals, own, world);
        place(world, v, t, options.net, start);
      }
      for (Cards rest = legal; rest;) {
        const int card = take_lowest(rest);
        RolloutTable end = start;
        Rng same = own;  // all cards of a decision get the same worlds and random numbers
        sums[card] += play_out(end, card, same);
      }
    }
    for (Cards rest = legal; rest;) {
      const int card = take_lowest(rest);
      out[found++] = {std::uint16_t(position), std::uint16_t(card), float(sums[card] / options.playouts)};
    }
  };

  s.direction = std::uint8_t(direction);
  s.hearts_broken = !rules.must_break_hearts;
  for (int i = 0; i < kNumCards; ++i) s.hand[i % kPlayers] |= bit(deck[i]);
  int position = 1 + kHand;  // one token for the direction
  Cards given[kPlayers] = {};
  if (direction) {
    for (int i = 0; i < kPlayers * kPass; ++i) given[i / kPass] |= bit(passes[i]);
    // The own seat passes last: nobody sees the passes of the others, and they do not depend on each other.
    for (int p = 0; p < kPlayers; ++p) s.given[p] = p == seat ? 0 : given[p];
    s.current = std::uint8_t(seat);
    s.passing = kPass;
    for (int i = 0; i < kPass; ++i) {
      decide(position++);
      game.apply(s, passes[seat * kPass + i]);
      v.passes[v.num_passes++] = passes[seat * kPass + i];
    }
    v.received = given[(seat + kPlayers - direction) % kPlayers];
    position += kPass;  // three cards received
  } else {
    for (int p = 0; p < kPlayers; ++p)
      if (s.hand[p] & bit(kTwoOfClubs)) s.current = std::uint8_t(p);
  }
  begin(rules, s, given, t.known);
  v.leader = s.current;
  ++position;  // the leader
  for (int i = 0; i < kNumCards; ++i, ++position) {
    if (s.current == seat) decide(position);
    game.apply(s, plays[i]);
    v.plays[v.num_plays++] = plays[i];
    for (Knowledge& k : t.known) k.see(plays[i]);
  }
  return found;
}

}  // namespace trickformer::hearts::built::TRICKFORMER_ISA
