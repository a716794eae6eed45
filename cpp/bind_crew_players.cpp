// The Python face of The Crew's scripted player and of games that players of the core play in bulk.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "bind.hpp"
#include "crew_players.hpp"
#include "crew_rules_player.hpp"
#include "crew_tracker.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::crew;

namespace {

// What a seat that is on turn has seen.
SeatView view_of(const Logbook& book, const In1<std::int32_t>& tokens) {
  SeatView v;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!see(book, v, tokens(i))) throw nb::value_error("no deal explains these tokens");
  if (!v.my_turn()) throw nb::value_error("the seat of a view is not on turn");
  return v;
}

}  // namespace

void bind_crew_players(nb::module_& parent) {
  nb::module_ m = nb::cast<nb::module_>(parent.attr("crew"));
  m.def(
      "rules_actions",
      [](const Logbook& book, const std::vector<In1<std::int32_t>>& tokens) {
        std::vector<int> actions;
        actions.reserve(tokens.size());
        for (const auto& seen : tokens) {
          const SeatView v = view_of(book, seen);
          actions.push_back(rules_action(v, v.seat, v.hand));
        }
        return actions;
      },
      "book"_a, "tokens"_a,
      "The action of the scripted player by what its seat has seen, a list of int32 [T]. Raises ValueError where no deal "
      "explains the tokens, or the seat is not on turn.");
  m.def(
      "mixed_games",
      [](const Logbook& book, std::uint64_t seed, std::uint64_t first, std::size_t n, double random) {
        auto history = make<std::uint8_t>({n, kHistory});
        auto result = make<std::int8_t>({n});
        auto seated = make<std::uint8_t>({n, kPlayers});
        nb::gil_scoped_release release;
        mixed_games(book.missions(), seed, first, n, random, history.data(), result.data(), seated.data());
        return std::make_tuple(history, result, seated);
      },
      "book"_a, "seed"_a, "first"_a, "n"_a, "random"_a,
      "Games with every seat drawn for itself, random with that probability, else scripted: history and result as of "
      "random_games, and who sat there uint8 [n, 4], 0 uniformly random, 1 scripted.");
}
