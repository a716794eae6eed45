// PIMC for Hearts: Algorithm 2 of the GO-MCTS paper with the deal sampler. Built for each instruction set.
#include "hearts/pimc.hpp"

#include <algorithm>
#include <memory>

#include "core/share.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

// The position of a view. The hands of the other seats stay empty.
static Sim position(const SeatView& v) {
  Sim s;
  s.direction = v.direction;
  s.hearts_broken = !v.rules.must_break_hearts;
  if (!v.playing()) {
    s.current = v.seat;
    s.passing = std::uint8_t(kPass - v.num_passes);
    s.given[v.seat] = cards_of(v.passes, v.num_passes);
    return s;
  }
  s.current = v.leader;
  const Simulator game(v.rules);
  for (int i = 0; i < v.num_plays; ++i) {
    s.hand[s.current] |= bit(v.plays[i]);  // `apply` takes it out of the hand again
    game.apply(s, v.plays[i]);
  }
  return s;
}

// In a search before the pass, the other seats pass what the script passes in this world. Their choices are unknown,
// and random passes would give away aces and the queen of spades.
static void place(const World& w, const SeatView& v, Sim& s) {
  for (int p = 0; p < kPlayers; ++p) s.hand[p] = w.hand[p];
  if (v.playing()) return;
  for (int p = 0; p < kPlayers; ++p) {
    if (p == v.seat) continue;
    s.hand[p] = w.dealt[p];
    for (int i = 0; i < kPass; ++i) s.given[p] |= bit(choose_pass(w.dealt[p] & ~s.given[p]));
  }
}

static void tell_holders(const Sim& root, std::int8_t* holders) {
  for (int p = 0; p < kPlayers; ++p)
    for (Cards rest = root.hand[p]; rest;) holders[take_lowest(rest)] = std::int8_t(p);
}

// Natural logarithms of 0 (taken as 0), 1, 2, ..., by ln n = ln (n - 1) + 2 artanh(1 / (2 n - 1)). Those of a math
// library differ in the last bit from machine to machine, which could change the result of a search.
static void fill_logs(double* logs, int n) {
  logs[0] = logs[1] = 0;
  for (int i = 2; i < n; ++i) {
    const double x = 1.0 / (2.0 * i - 1), square = x * x;
    double power = x, sum = 0;
    for (int k = 1; k < 40; k += 2, power *= square) sum += power / k;
    logs[i] = logs[i - 1] + 2 * sum;
  }
}

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA

namespace trickformer::hearts::built::TRICKFORMER_ISA {

PimcResult pimc(const Deals& deals, const PimcOptions& options, std::uint64_t seed) {
  const std::unique_ptr<double[]> logs(new double[std::size_t(options.runs) + 2]);
  const std::unique_ptr<UctNode[]> nodes(new UctNode[options.uct ? 1 + std::size_t(options.runs) * kHand : 1]);
  fill_logs(logs.get(), options.runs + 2);
  PimcResult result;
  const SeatView& view = deals.view;
  const Simulator game(view.rules);
  const Sim start = position(view);
  int num_values[kNumCards] = {};  // worlds in which the card was valued
  World world;
  Share share(options.worlds);
  for (int i = 0; i < options.worlds; ++i, share.done()) {
    Rng rng(seed, std::uint64_t(i));
    draw(deals, rng, world);
    Sim root = start;
    place(world, view, root);
    if (options.holders) tell_holders(root, options.holders + std::size_t(i) * kNumCards);
    float* values = options.values ? options.values + std::size_t(i) * kNumCards : nullptr;
    const auto count_in = [&](int card, double value) {
      result.value[card] += value;
      ++num_values[card];
      if (values) values[card] = float(value);
    };
    const Cards cards = game.legal(root);
    if (options.uct && (cards & (cards - 1)) && !game.decided(root)) {
      uct(game, root, options, rng, logs.get(), nodes.get());
      for (int j = nodes[0].first; j < nodes[0].first + nodes[0].children; ++j) {
        count_in(nodes[j].card, double(nodes[j].sum) / (double(nodes[j].visits) * kRewardUnit));
        result.visits[nodes[j].card] += nodes[j].visits;
      }
      continue;
    }
    // Without UCT, or without a choice, the playouts of a world are shared evenly by its legal cards.
    const int playouts = std::max(options.runs / count(cards), 1);
    for (Cards rest = cards; rest;) {
      const int card = take_lowest(rest);
      std::int64_t sum = 0;
      for (int run = 0; run < playouts; ++run) {
        Sim s = root;
        game.apply(s, card);
        game.playout(s, options.light_playouts, rng);
        int reward[kPlayers];
        game.rewards(s, reward);
        sum += reward[view.seat];
      }
      count_in(card, double(sum) / (double(playouts) * kRewardUnit));
      result.visits[card] += playouts;
    }
  }
  for (int card = 0; card < kNumCards; ++card)
    if (num_values[card]) result.value[card] /= num_values[card];
  return result;
}

}  // namespace trickformer::hearts::built::TRICKFORMER_ISA
