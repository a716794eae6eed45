// Python bindings of Skat's scripted player, and of games that players of the core play in bulk.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "python/bind.hpp"
#include "skat/players.hpp"
#include "skat/rules_player.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::skat;

void bind_skat_players(nb::module_& parent) {
  nb::module_ m = nb::cast<nb::module_>(parent.attr("skat"));
  m.def(
      "rules_player",
      [](const std::vector<const SeatView*>& views) {
        std::vector<int> actions;
        actions.reserve(views.size());
        for (const SeatView* v : views) {
          if (!v || !v->my_turn()) throw nb::value_error("the seat of a view is not on turn");
          actions.push_back(rules_player(*v));
        }
        return actions;
      },
      "views"_a, "Return the scripted player's action in each view. Raises ValueError if a view's seat is not to act.");
  m.def(
      "mixed_games",
      [](bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, double random, double noise) {
        check_share(random, "random");
        check_share(noise, "noise");
        auto history = make<std::uint8_t>({n, kHistory});
        auto score = make<std::int16_t>({n, kPlayers});
        auto seated = make<std::uint8_t>({n, kPlayers});
        nb::gil_scoped_release release;
        mixed_games(seeger, seed, first, n, random, noise, history.data(), score.data(), seated.data());
        return std::make_tuple(history, score, seated);
      },
      "seeger"_a, "seed"_a, "first"_a, "n"_a, "random"_a, "noise"_a = 0.0,
      "Play games on the deals of random_games. Each seat is a random player with probability `random`, else a "
      "scripted "
      "player. That player makes a random move with probability `noise`, or a tenth of `noise` before the declaration. "
      "Returns histories, uint8 [n, 194] (the 32 cards dealt, then the actions, padded with 255), scores, int16 [n, "
      "3], "
      "and the players, uint8 [n, 3]: 0 random, 1 scripted.");
}
