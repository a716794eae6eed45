// Python bindings of The Crew's players, and of games that players of the core play in bulk.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "crew/pimc.hpp"
#include "crew/players.hpp"
#include "crew/rules_player.hpp"
#include "crew/tracker.hpp"
#include "python/worlds.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::crew;

namespace {

void on_turn(const std::vector<const SeatView*>& views) {
  for (const SeatView* v : views)
    if (!v || !v->my_turn()) throw nb::value_error("the seat of a view is not on turn");
}

}  // namespace

void bind_crew_players(nb::module_& parent) {
  nb::module_ m = nb::cast<nb::module_>(parent.attr("crew"));
  m.def(
      "rules_player",
      [](const std::vector<const SeatView*>& views) {
        on_turn(views);
        std::vector<int> actions;
        actions.reserve(views.size());
        for (const SeatView* v : views) actions.push_back(rules_action(*v, v->seat, v->hand));
        return actions;
      },
      "views"_a, "Return the scripted player's action in each view. Raises ValueError if a view's seat is not to act.");
  m.def(
      "pimc",
      [](const std::vector<const SeatView*>& views, In1<std::uint64_t> seeds, int worlds, std::uint64_t nodes,
         std::optional<LogOdds<3>> log_odds) {
        on_turn(views);
        if (log_odds) check_shape(*log_odds, views.size(), kNumCards);
        if (seeds.size() != views.size()) throw nb::value_error("seeds must have one seed per view");
        if (worlds < 1 || nodes < 1) throw nb::value_error("worlds and nodes must be at least 1");
        std::vector<SeatView> own;  // a copy, because the list may change while the GIL is released
        for (const SeatView* v : views) own.push_back(*v);
        std::vector<std::tuple<int, double, int>> results;
        nb::gil_scoped_release release;
        Solver solver;
        for (std::size_t i = 0; i < own.size(); ++i) {
          const PimcResult r =
              pimc(own[i], {worlds, nodes}, seeds(i), solver, log_odds ? &(*log_odds)(i, 0, 0) : nullptr);
          results.emplace_back(r.action, r.value, r.worlds);
        }
        return results;
      },
      "views"_a, "seeds"_a, "worlds"_a, "nodes"_a, "log_odds"_a = nb::none(),
      "Run perfect-information Monte Carlo in each view. Returns, per view, (action, share of worlds in which the "
      "mission can still succeed after it, number of worlds solved). That number is 0 if the scripted player decided. "
      "nodes: largest number of cards that the solver tries for an action in a world. log_odds: float64 [n, 40, 3], "
      "see DealSampler. Raises ValueError if a view's seat is not to act.");
  m.def(
      "mixed_games",
      [](const Logbook& book, std::uint64_t seed, std::uint64_t first, std::size_t n, double random, double noise) {
        check_share(random, "random");
        check_share(noise, "noise");
        auto history = make<std::uint8_t>({n, kHistory});
        auto result = make<std::int8_t>({n});
        auto seated = make<std::uint8_t>({n, kPlayers});
        nb::gil_scoped_release release;
        mixed_games(book.missions(), seed, first, n, random, noise, history.data(), result.data(), seated.data());
        return std::make_tuple(history, result, seated);
      },
      "book"_a, "seed"_a, "first"_a, "n"_a, "random"_a, "noise"_a = 0.0,
      "Play games in which each seat is a random player with probability `random`, else a scripted player that makes a "
      "random move with probability `noise`. Returns histories and successes as random_games does, and the players, "
      "uint8 [n, 4]: 0 random, 1 scripted.");
}
