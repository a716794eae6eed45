#include "skat/pimc.hpp"

#include <numeric>
#include <stdexcept>

#include "core/share.hpp"
#include "skat/rules_player.hpp"

namespace trickformer::skat {
namespace {

constexpr int kExactCards = 6;  // hands of at most this many cards are solved for exact card points
// In larger hands only the main threshold is solved, because the other thresholds take the most time there.
constexpr int kStepCards = 9;
constexpr double kIndifferent = 0.25;           // values closer than this are a tie
constexpr int kSteps[] = {1, 31, 61, 90, 120};  // card points at which a score can change
constexpr int kBetween[] = {46, 76, 53, 69};    // no score changes here; solved only to compare card points

SolverPosition position_of(const SeatView& v, const World& w) {
  SolverPosition p;
  p.kind = v.contract.kind;
  p.soloist = std::int8_t(v.soloist());
  const int n_played = v.num_plays % kPlayers;
  p.leader = n_played ? v.player[v.num_plays - n_played] : v.current;
  for (int i = 0; i < n_played; ++i) p.trick[std::size_t(i)] = std::int8_t(v.plays[v.num_plays - n_played + i]);
  Cards held = 0;
  for (int s = 0; s < kPlayers; ++s) {
    p.hands[std::size_t(s)] = w.held[s];
    held |= w.held[s];
  }
  for (int i = 0; i < n_played; ++i) held |= bit(p.trick[std::size_t(i)]);
  p.points[0] = std::int16_t(v.points + card_points(w.skat));
  p.points[1] = std::int16_t(kAllPoints - p.points[0] - card_points(held));
  return p;
}

// A world that is being solved: the result of open play for each legal card.
struct Solving {
  SolverPosition position;
  double weight;
  double worth[std::size(kSteps) + 1];  // below the first step, and from each step on
  // by card: points certainly reached, and points certainly not reached
  std::array<std::uint8_t, kNumCards> low = {}, high = {};
};

class Search {
 public:
  Search(const SeatView& view, const WeightedWorlds& worlds, const Stakes& stakes, Solver& solver)
      : view_(view), solver_(solver), sign_(view.soloist() == view.seat ? 1 : -0.5) {
    for (std::size_t i = 0; i < worlds.worlds.size(); ++i) {
      const World& w = worlds.worlds[i];
      Solving s{position_of(view, w), worlds.weight[i], {}, {}, {}};
      s.high.fill(kAllPoints + 1);
      const Cards cards = w.held[view.soloist()] | view.played[view.soloist()] | w.skat;
      s.worth[0] = skat::worth(view, cards, 0, stakes);
      for (std::size_t k = 0; k < std::size(kSteps); ++k) s.worth[k + 1] = skat::worth(view, cards, kSteps[k], stakes);
      all_.push_back(s);
    }
    legal_ = all_[0].position.legal();
    solver_.reset();
  }

  void play(PimcResult& out) {
    if (view_.contract.kind == Kind::kNull) {
      each([&](const Solving& s) {
        add(s.weight, s.worth[0], s.worth[1] - s.worth[0], solver_.moves_at_least(s.position, 0));
      });
    } else if (count(view_.hand) <= kExactCards) {
      exactly();
    } else {
      by_steps();
    }
    out.card = best();
    for (Cards rest = legal_; rest;) {
      const int card = take_lowest(rest);
      out.values[std::size_t(card)] = value_[card];
    }
    out.value = value_[out.card];
  }

 private:
  template <typename F>
  void each(F solve) {
    Share share(std::int64_t(all_.size()));
    for (Solving& s : all_) {
      solve(s);
      share.done();
    }
  }

  // Adds to the value of every legal card: `base`, and `more` for the cards of `reached`.
  void add(double weight, double base, double more, Cards reached) {
    for (Cards rest = legal_; rest;) {
      const int card = take_lowest(rest);
      value_[card] += sign_ * weight * (base + (reached & bit(card) ? more : 0));
    }
  }

  void exactly() {
    each([&](const Solving& s) {
      const auto points = solver_.moves_exact(s.position);
      for (Cards rest = legal_; rest;) {
        const int card = take_lowest(rest), reached = points[std::size_t(card)];
        std::size_t k = 0;
        while (k < std::size(kSteps) && reached >= kSteps[k]) ++k;
        value_[card] += sign_ * s.weight * (s.worth[k] + kPointWorth * (reached - 61));
      }
    });
  }

  void by_steps() {
    const std::size_t n = std::size(kSteps);
    for (const Solving& s : all_) add(s.weight, s.worth[0], 0, 0);
    std::size_t order[std::size(kSteps)];
    std::iota(order, order + n, std::size_t{0});
    const auto gain = [&](std::size_t k) {
      double sum = 0;
      for (const Solving& s : all_) sum += s.weight * (s.worth[k + 1] - s.worth[k]);
      return sum;
    };
    std::stable_sort(order, order + n, [&](std::size_t a, std::size_t b) { return gain(a) > gain(b); });
    for (std::size_t i = 0; i < n && (i == 0 || gain(order[i]) > 0); ++i) {
      ask(kSteps[order[i]], [&](const Solving& s) { return s.worth[order[i] + 1] - s.worth[order[i]]; });
      if (i + 1 < n && (count(view_.hand) > kStepCards || decided())) {
        // Thresholds below the main one that were not solved count as reached by all cards, higher ones as not reached.
        for (std::size_t j = i + 1; j < n; ++j)
          if (kSteps[order[j]] < kSteps[order[0]])
            for (const Solving& s : all_) add(s.weight, s.worth[order[j] + 1] - s.worth[order[j]], 0, 0);
        return;
      }
    }
    for (int threshold : kBetween) {
      if (decided()) return;
      ask(threshold, [](const Solving&) { return kPointWorth * 15; });  // half of the 30 points between two steps
    }
  }

  template <typename Gain>
  void ask(int threshold, Gain gain) {
    each([&](Solving& s) {
      Cards reached = 0, open = 0;
      for (Cards rest = legal_; rest;) {
        const int card = take_lowest(rest);
        if (s.low[std::size_t(card)] >= threshold)
          reached |= bit(card);
        else if (s.high[std::size_t(card)] > threshold)
          open |= bit(card);
      }
      if (open) reached = solver_.moves_at_least(s.position, threshold);
      for (Cards rest = open; rest;) {
        const int card = take_lowest(rest);
        if (reached & bit(card))
          s.low[std::size_t(card)] = std::uint8_t(threshold);
        else
          s.high[std::size_t(card)] = std::uint8_t(threshold);
      }
      add(s.weight, 0, gain(s), reached);
    });
  }

  double most() const {
    double most = -1e9;
    for (Cards rest = legal_; rest;) most = std::max(most, value_[take_lowest(rest)]);
    return most;
  }

  bool decided() const {
    const double best = most();
    int near = 0;
    for (Cards rest = legal_; rest;) near += value_[take_lowest(rest)] > best - kIndifferent;
    return near == 1;
  }

  int best() const {
    const double best = most();
    Cards tied = 0;
    for (Cards rest = legal_; rest;) {
      const int card = take_lowest(rest);
      if (value_[card] > best - kIndifferent) tied |= bit(card);
    }
    if (count(tied) == 1) return lowest(tied);
    const int scripted = rules_player(view_);
    if (tied & bit(scripted)) return scripted;
    int cheapest = lowest(tied);
    for (Cards rest = tied; rest;) {
      const int card = take_lowest(rest);
      if (kPoints[card % 8] < kPoints[cheapest % 8]) cheapest = card;
    }
    return cheapest;
  }

  const SeatView& view_;
  Solver& solver_;
  double sign_;  // factor from the soloist's result to the seat's: for a defender minus one half
  std::vector<Solving> all_;
  Cards legal_ = 0;
  double value_[kNumCards] = {};
};

}  // namespace

double worth(const SeatView& v, Cards soloists_cards, int points, const Stakes& stakes) {
  const bool null = v.contract.kind == Kind::kNull;
  // In null, 0 points stand for a lost game, with a trick for the soloist, and more points for a game that is won.
  const int tricks = null ? points == 0 : points == 0 ? 0 : points == kAllPoints ? kTricks : 5;
  const Result r = settle(v.contract, v.auction.bid(), v.soloist(), soloists_cards, points, tricks);
  return r.won ? r.value + stakes.win : r.value - stakes.loss;
}

PimcResult pimc_card(const Deals& deals, const Evaluation& evaluation, const PimcOptions& options, const Stakes& stakes,
                     std::uint64_t seed, Solver& solver) {
  Rng rng(seed);
  const WeightedWorlds worlds =
      draw_worlds(deals, evaluation, options.model, stakes, options.worlds, options.oversample, rng);
  PimcResult out;
  out.worlds = worlds.worlds.size();
  out.effective = worlds.effective;
  Search(deals.view(), worlds, stakes, solver).play(out);
  return out;
}

}  // namespace trickformer::skat
