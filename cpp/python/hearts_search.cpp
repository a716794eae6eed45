// Python bindings of Hearts, continued: views, the deal sampler, and the players that use them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "hearts/pimc.hpp"
#include "hearts/rules_player.hpp"
#include "hearts/sampler.hpp"
#include "python/worlds.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::hearts;

namespace {

constexpr int kMostRuns = 1 << 26;  // a search allocates 13 nodes for each run

Cards card_set(const std::vector<int>& list) {
  Cards cards = 0;
  for (const int card : list) {
    if (card < 0 || card >= kNumCards) throw std::invalid_argument("a card is 0..51");
    cards |= bit(card);
  }
  return cards;
}

SeatView seat_view(const Rules& rules, int seat, int direction, const std::vector<int>& dealt,
                   const std::vector<int>& passes, const std::vector<int>& received, int leader,
                   const std::vector<int>& plays, bool on_turn) {
  if (seat < 0 || seat >= kPlayers) throw std::invalid_argument("a seat is 0..3");
  if (direction < 0 || direction >= kPlayers) throw std::invalid_argument("direction must be 0 to 3");
  if (leader >= kPlayers) throw std::invalid_argument("leader must be 0 to 3, or negative before the play");
  if (passes.size() > kPass || plays.size() > kNumCards)
    throw std::invalid_argument("there are more passes or plays than a hand has");
  card_set(passes);
  card_set(plays);
  SeatView v;
  v.rules = rules;
  v.seat = std::uint8_t(seat);
  v.direction = std::uint8_t(direction);
  v.dealt = card_set(dealt);
  v.received = card_set(received);
  v.leader = leader < 0 ? kNoAction : std::uint8_t(leader);
  v.on_turn = on_turn;
  for (const int card : passes) v.passes[v.num_passes++] = std::uint8_t(card);
  for (const int card : plays) v.plays[v.num_plays++] = std::uint8_t(card);
  return v;
}

struct Worlds {
  static constexpr std::size_t kWidth = kHidden;
  using Row = const std::int16_t*;
  static void sample(const Deals& d, std::uint64_t seed, std::size_t n, std::int16_t* out) {
    sample_worlds(d, seed, 0, n, out);
  }
  static bool is_consistent(const Deals& d, Row row) { return hearts::is_consistent(d, row); }
  static double log_prob(const Deals& d, Row row) { return hearts::log_prob(d, row); }
  static void places(const Deals& d, Row row, std::int8_t* at) { hearts::places(d, row, at); }
  static void marginals(const Deals& d, double* out) { hearts::marginals(d, out); }
};

std::map<int, std::pair<double, std::int64_t>> pimc_of(const Deals& d, const PimcOptions& options, std::uint64_t seed) {
  if (options.worlds < 1 || options.runs < 1 || options.runs > kMostRuns)
    throw std::invalid_argument("worlds and runs must be at least 1, and runs at most " + std::to_string(kMostRuns));
  if (!(options.c >= 0 && std::isfinite(options.c)))
    throw std::invalid_argument("c must be a finite number and at least 0");
  if (d.view.num_plays == kNumCards) throw std::invalid_argument("the hand is over");
  if (!d.may_act) throw std::invalid_argument("the seat of the view is not on turn");
  check_room(std::size_t(options.runs), kHand * sizeof(UctNode));
  PimcResult result;
  {
    nb::gil_scoped_release release;
    result = pimc(d, options, seed);
  }
  std::map<int, std::pair<double, std::int64_t>> out;
  for (int card = 0; card < kNumCards; ++card)
    if (result.visits[card]) out[card] = {result.value[card], result.visits[card]};
  return out;
}

}  // namespace

void bind_hearts_search(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("hearts"));
  nb::class_<SeatView>(m, "SeatView", "One seat's view of a hand of Hearts.")
      .def(
          "__init__",
          [](SeatView* self, const Rules& rules, int seat, int direction, const std::vector<int>& dealt,
             const std::vector<int>& passes, const std::vector<int>& received, int leader,
             const std::vector<int>& plays, bool on_turn) {
            new (self) SeatView(seat_view(rules, seat, direction, dealt, passes, received, leader, plays, on_turn));
          },
          "rules"_a, "seat"_a, "direction"_a, "dealt"_a, "passes"_a, "received"_a, "leader"_a, "plays"_a, "on_turn"_a,
          "direction: number of seats by which cards are passed. leader: the seat that leads, or -1 before the play. "
          "Raises ValueError if a number is out of range.");
  nb::class_<Deals> sampler(
      m, "DealSampler",
      "Sampler of worlds for one seat's view: uniform over all consistent worlds, or weighted by odds.");
  bind_worlds<Worlds, SeatView>(
      sampler, kNumCards,
      "log_odds: float64 [52, 3], for each card the log odds that each of the other seats holds it, in seat order "
      "after the view's own. Raises ValueError if no deal is consistent with the view.",
      "Draw n worlds, int16 [n, 64]: the seat that each of the 52 cards was dealt to, then the 12 passed cards; -1 for "
      "none.");
  sampler
      .def_prop_ro(
          "assignments", [](const Deals& d) { return num_assignments(d); },
          "Exact number of ways to assign the unseen cards to places.")
      .def_prop_ro(
          "pass_histories", [](const Deals& d) { return num_pass_histories(d); },
          "Exact number of pass histories for each assignment.");
  m.def(
      "rules_player",
      [](const std::vector<const SeatView*>& views) {
        std::vector<int> cards;
        cards.reserve(views.size());
        for (const SeatView* v : views) {
          if (!v) throw nb::value_error("views must not contain None");
          cards.push_back(rules_player(*v));
        }
        return cards;
      },
      "views"_a,
      "Return the card that the scripted player passes or plays in each view. Raises ValueError if no deal is "
      "consistent with a view, or if its seat is not to act.");
  m.def(
      "pimc",
      [](const Deals& d, int worlds, int runs, double c, bool uct, bool light, std::uint64_t seed) {
        return pimc_of(d, {{runs, c, light}, worlds, uct}, seed);
      },
      "deals"_a, "worlds"_a, "runs"_a, "c"_a, "uct"_a, "light"_a, "seed"_a,
      "Run perfect-information Monte Carlo. runs: simulations per world. c: exploration constant of UCT. uct: False "
      "gives each card the same number of playouts. light: whether playouts follow a script instead of random moves. "
      "Returns {card: (mean value in units of v(o), number of simulations)}. Raises ValueError if the view's seat is "
      "not to act.");
  m.def(
      "pimc_worlds",
      [](const Deals& d, int worlds, int runs, double c, bool uct, bool light, std::uint64_t seed) {
        if (worlds > 0) check_room(std::size_t(worlds), kNumCards * (sizeof(float) + 1));
        const std::size_t n = std::size_t(worlds > 0 ? worlds : 0);
        auto values = make<float>({n, std::size_t(kNumCards)}, std::numeric_limits<float>::quiet_NaN());
        auto holders = make<std::int8_t>({n, std::size_t(kNumCards)}, -1);
        auto found = pimc_of(d, {{runs, c, light}, worlds, uct, values.data(), holders.data()}, seed);
        return std::make_tuple(found, values, holders);
      },
      "deals"_a, "worlds"_a, "runs"_a, "c"_a, "uct"_a, "light"_a, "seed"_a,
      "Run pimc and return its result together with the worlds: the value of each card in each world, float32 [worlds, "
      "52], NaN if not tried, and the holder of each card, int8 [worlds, 52], -1 for played cards.");
}
