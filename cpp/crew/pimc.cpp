#include "crew/pimc.hpp"

#include "core/share.hpp"
#include "crew/rules_player.hpp"

namespace trickformer::crew {
namespace {

bool left_to_rules(Phase phase) {
  switch (phase) {
    case Phase::kTile:
    case Phase::kTileTo:
    case Phase::kName:
    case Phase::kPass:
    case Phase::kRadio:
    case Phase::kRadioCard: return true;
    default: return false;
  }
}

// Advances to the tricks by the choices of `rules` and of chance. The seed of chance is the world's, so that all
// actions get the same chance moves.
void begin_tricks(State& s, std::uint64_t seed) {
  Rng rng(seed);
  while (!s.over() && s.phase <= Phase::kPass)
    apply(s, s.is_chance() ? pick(legal(s), rng) : rules_action(s, s.current, s.hand[s.current]));
}

}  // namespace

double could_succeed(State s, int action, std::uint64_t seed, const Draws& draws, std::uint64_t nodes, Solver& solver) {
  apply(s, action);
  begin_tricks(s, seed);
  if (s.over()) return s.result > 0;
  switch (solver.can_succeed(s, nodes, draws)) {
    case Verdict::kYes: return 1;
    case Verdict::kNo: return 0;
    default: return kUnknownWorth;
  }
}

PimcResult pimc(const SeatView& view, const PimcOptions& options, std::uint64_t seed, Solver& solver,
                const double* log_odds) {
  const Actions may = legal(view, view.hand);
  const int scripted = rules_action(view, view.seat, view.hand);
  if (count(may) == 1 || left_to_rules(view.phase)) return {scripted, 0, 0};

  const Deals deals(view, log_odds);
  Rng rng(seed);
  double sum[kActions] = {};
  Actions best = may;  // actions that can still turn out the best
  int n = 0;
  const auto most = [&] {
    double most = 0;
    for (Actions rest = best; rest;) most = std::max(most, sum[take_lowest(rest)]);
    return most;
  };
  const auto keep_within = [&](double behind) {
    const double least = most() - behind;
    for (Actions rest = best; rest;) {
      const int act = take_lowest(rest);
      if (sum[act] < least) best &= ~action(act);
    }
  };
  Share share(options.worlds);
  while (n < options.worlds && count(best) > 1) {
    const State world = state(view, deals.draw(rng));
    const std::uint64_t chance = rng.next();
    Draws draws;
    for (double& place : draws) place = rng.uniform();
    for (Actions rest = best; rest;) {
      const int act = take_lowest(rest);
      sum[act] += could_succeed(world, act, chance, draws, options.nodes, solver);
    }
    keep_within(options.worlds - ++n);
    share.done();
    if (2 * n < options.worlds) continue;
    const Actions before = best;
    keep_within(0);
    if (best == before) break;
    best = before;
  }
  keep_within(0);
  const int chosen = best >> scripted & 1         ? scripted
                     : view.phase == Phase::kPlay ? rules_card(view, view.seat, view.hand, best)
                                                  : lowest(best);
  return {chosen, sum[chosen] / n, n};
}

}  // namespace trickformer::crew
