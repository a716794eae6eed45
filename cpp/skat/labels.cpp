#include "skat/labels.hpp"

#include <stdexcept>

#include "skat/open.hpp"
#include "skat/pimc.hpp"
#include "skat/table.hpp"
#include "skat/tracker.hpp"

namespace trickformer::skat {
namespace {

// Open cards favour the defenders: the longer the solved ending, the worse contracts look. In the first tricks,
// playouts by `rules` rated cards better than best play with open cards did.
constexpr int kOpenCards = 4;
constexpr int kTailCards = 3;  // number of tricks before the end at which a playout is solved
constexpr int kStray = 16;     // one card in 16 is random; otherwise all playouts would be equal
constexpr int kMost = 6;       // most actions labelled in a decision before card play with more than kFew legal actions
constexpr int kFew = 7;
constexpr std::size_t kOversample = 8;  // uniform worlds drawn for each world that a label uses
constexpr int kNear = 10;               // one of the calls to label is drawn from this many lowest ones

Result play_out(Table g, Rng& rng, Solver& solver) {
  State& s = g.state;
  while (s.phase == Phase::kPlay) {
    if (at_last_tricks(s, kTailCards)) return solve_open(s, solver);
    const Cards legal = legal_cards(s);
    // One random number per card, so that playouts of the different actions use the same ones.
    const std::uint64_t drawn = rng.next();
    if (!(legal & (legal - 1)))
      g.apply(lowest(legal));
    else if (drawn % kStray == 0)
      g.apply(nth(legal, int((drawn >> 32) * std::uint64_t(count(legal)) >> 32)));
    else
      g.apply(g.rules());
  }
  return result(s);
}

// The actions to label, ascending.
int candidates(const Table& g, int taken, Rng& rng, std::uint8_t* out) {
  const State& s = g.state;
  std::uint8_t legal[kActions];
  const int n = legal_actions(s, legal);
  bool chosen[kActions] = {};
  if (s.phase == Phase::kPlay || n <= kFew) {
    for (int i = 0; i < n; ++i) chosen[legal[i]] = true;
  } else {
    chosen[taken] = chosen[g.rules()] = true;
    if (s.phase == Phase::kAuction) {
      const int calls = n - 1;
      chosen[kPass] = chosen[legal[0]] = chosen[legal[rng.below(std::uint32_t(calls))]] = true;
      chosen[legal[rng.below(std::uint32_t(std::min(calls, kNear)))]] = true;
    } else {
      for (int more = kMost - 1 - (taken != g.rules()); more > 0;) {
        bool& drawn = chosen[legal[rng.below(std::uint32_t(n))]];
        more -= !drawn;
        drawn = true;
      }
    }
  }
  int found = 0;
  for (int action = 0; action < kActions; ++action)
    if (chosen[action]) out[found++] = std::uint8_t(action);
  return found;
}

// Data shared by the labels of one sequence.
class Labeller {
 public:
  Labeller(bool seeger, const Evaluation* evaluation, const LabelOptions& options, const std::uint8_t* history,
           int seat, Rng rng, std::vector<Label>& out)
      : seeger_(seeger),
        evaluation_(evaluation),
        options_(options),
        history_(history),
        seat_(seat),
        rng_(rng),
        out_(out) {
    if (options.worlds && !evaluation)
      throw std::invalid_argument("labels in sampled worlds need an evaluation that weights the worlds; give one");
  }

  // The decision of the own seat before action `at` of the history, after token `position`.
  void decide(const Table& g, int at, int position) {
    std::uint8_t actions[kActions];
    if (legal_actions(g.state, actions) < 2 || rng_.uniform() >= options_.share) return;
    const bool play = g.state.phase == Phase::kPlay;
    if (play && options_.worlds) return solve_worlds(g, position);
    const int n = candidates(g, history_[at], rng_, actions);
    const std::uint64_t drawn = rng_.next();
    double worth[kActions] = {};
    solver().reset();
    if (play && count(g.state.hand[seat_]) <= kOpenCards) {
      for (int k = 0; k < n; ++k) {
        Table next = g;
        next.apply(actions[k]);
        worth[k] = own_worth(solve_open(next.state, solver()), seeger_, seat_);
      }
    } else if (options_.worlds) {
      const WeightedWorlds worlds = draw(g);
      for (std::size_t i = 0; i < worlds.worlds.size(); ++i)
        play_on(table_at(worlds.worlds[i], at), actions, n, 1, drawn + i, worlds.weight[i], worth);
    } else {
      play_on(g, actions, n, options_.playouts, drawn, 1, worth);
    }
    for (int k = 0; k < n; ++k) add(position, actions[k], worth[k] / 200);
  }

 private:
  static Solver& solver() {
    static thread_local Solver solver(14);
    return solver;
  }

  void add(int position, int action, double value) {
    out_.push_back({std::uint16_t(position), std::uint16_t(action), float(value)});
  }

  WeightedWorlds draw(const Table& g) {
    return draw_worlds(Deals(g.views[seat_]), *evaluation_, {}, stakes(seeger_), std::size_t(options_.playouts),
                       kOversample, rng_);
  }

  void solve_worlds(const Table& g, int position) {
    const PimcOptions options{std::size_t(options_.playouts), kOversample, {}};
    const PimcResult found =
        pimc_card(Deals(g.views[seat_]), *evaluation_, options, stakes(seeger_), rng_.next(), solver());
    for (Cards rest = legal_cards(g.state); rest;) {
      const int card = take_lowest(rest);
      add(position, card, found.values[std::size_t(card)] / 100);
    }
  }

  // The game up to action `end` of the history, with other cards where the own seat has not seen them.
  Table table_at(const World& world, int end) const {
    Table g(new_game(world.dealt, world.dealt_skat));
    for (int i = kNumCards; i < end; ++i) g.apply(history_[i]);
    return g;
  }

  // Adds to worth[k] the weighted mean of 200 v(o) over this many playouts after actions[k]. All actions get the same
  // random numbers.
  void play_on(const Table& g, const std::uint8_t* actions, int n, int playouts, std::uint64_t drawn, double weight,
               double* worth) const {
    for (int k = 0; k < n; ++k) {
      Table next = g;
      next.apply(actions[k]);
      while (next.state.phase < Phase::kPlay) next.apply(next.rules());
      for (int j = 0; j < playouts; ++j) {
        Rng own(drawn, std::uint64_t(j));
        worth[k] += weight / playouts * own_worth(play_out(next, own, solver()), seeger_, seat_);
      }
    }
  }

  bool seeger_;
  const Evaluation* evaluation_;
  const LabelOptions& options_;
  const std::uint8_t* history_;
  int seat_;
  Rng rng_;
  std::vector<Label>& out_;
};

}  // namespace

void label(bool seeger, const Evaluation* evaluation, const std::uint8_t* history, int seat,
           const LabelOptions& options, std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
  int length = 0;  // number of tokens of the own sequence so far
  const auto tell = [&](int p, int) { length += p == seat; };
  Table g(state_after_deal(history), tell);
  Labeller labeller(seeger, evaluation, options, history, seat, Rng(seed, stream), out);
  for (int i = kNumCards; g.state.phase != Phase::kOver; ++i) {
    const int taken = i < kHistory ? history[i] : kNoAction;
    check_action(is_legal(g.state, taken), taken);
    if (g.state.current == seat) labeller.decide(g, i, length - 1);
    g.apply(taken, tell);
  }
}

}  // namespace trickformer::skat
