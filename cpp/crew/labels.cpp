#include "crew/labels.hpp"

#include "crew/pimc.hpp"
#include "crew/players.hpp"
#include "crew/tell.hpp"
#include "crew/worlds.hpp"

namespace trickformer::crew {
namespace {

constexpr double kErr = 0.05;           // share of moves in a playout that are random errors
constexpr double kSolved = 0.5;         // weight of the solver's answer
constexpr std::uint64_t kNodes = 1000;  // cards that the solver tries: mostly enough, and cheaper than the playouts

// Returns whether chance still moves in this deal: it draws cards or reveals tasks.
bool chance_left(const State& s) {
  const bool draw = s.mission.has(Rule::kDraw) && (s.num_plays < kPlayers || s.phase == Phase::kDraw);
  return draw || s.revealed < s.mission.tasks;
}

class Labeller {
 public:
  Labeller(const LabelOptions& options, std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out)
      : options_(options), rng_(seed, stream), out_(out) {}

  // Appends the labels of a decision of the view's seat. position: index of the last token before it.
  void decide(const State& s, const SeatView& view, int position) {
    const Actions may = legal(s);
    if (!(may & (may - 1)) || rng_.uniform() >= options_.share) return;
    double worth[kActions] = {};
    if (options_.worlds) {
      const Deals deals(view);
      for (int i = 0; i < options_.playouts; ++i) judge(state(view, deals.draw(rng_)), may, 1, worth);
    } else {
      judge(s, may, options_.playouts, worth);
    }
    const int worlds = options_.worlds ? options_.playouts : 1;
    for (Actions rest = may; rest;) {
      const int act = take_lowest(rest);
      out_.push_back({std::uint16_t(position), std::uint16_t(act), float(worth[act] / worlds)});
    }
  }

 private:
  // Adds the value of each of these actions in one deal.
  void judge(const State& s, Actions may, int playouts, double* worth) {
    const std::uint64_t playout_seed = rng_.next(), chance_seed = rng_.next();
    Draws draws;
    for (double& place : draws) place = rng_.uniform();
    const bool chancy = chance_left(s), talk = s.phase == Phase::kRadio || s.phase == Phase::kRadioCard;
    double solver_value = -1;
    for (Actions rest = may; rest;) {
      const int act = take_lowest(rest);
      // The solver plays with open hands, so a message changes its answer only by barring a card from a later draw.
      // Without chance, one answer holds for all messages.
      if (solver_value < 0 || !talk || chancy)
        solver_value = could_succeed(s, act, chance_seed, draws, kNodes, solver_);
      if (solver_value == 0 && !chancy) continue;
      State after = s;
      apply(after, act);
      int good = 0;
      for (int i = 0; i < playouts; ++i) {
        Rng own(playout_seed, std::uint64_t(i));
        good += succeeds(after, kErr, own);
      }
      worth[act] += kSolved * solver_value + (1 - kSolved) * good / playouts;
    }
  }

  const LabelOptions& options_;
  Rng rng_;
  std::vector<Label>& out_;
  Solver solver_{12};  // 2^12 entries suffice, because the solver tries only about kNodes cards
};

}  // namespace

void label(const Logbook& book, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out) {
  State s = state_after_deal(book, history);
  Labeller labeller(options, seed, stream, out);
  SeatView view;
  int length = 0;  // number of tokens of the own sequence so far
  const auto tell = [&](int p, int token) {
    if (p != seat) return;
    ++length;
    if (token != kEndToken) see(book, view, token);
  };
  tell_deal(s, tell);
  for (int i = 1 + kNumCards; i < kHistory && history[i] != kNoAction; ++i) {
    check_action(history[i] < kActions && legal(s) >> history[i] & 1, history[i]);
    if (!s.is_chance() && s.current == seat) labeller.decide(s, view, length - 1);
    tell_action(s, history[i], tell);
  }
}

}  // namespace trickformer::crew
