// Python bindings of Hanabi's scripted players.
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <vector>

#include "hanabi/tables.hpp"
#include "python/guarded.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::hanabi;

namespace {

std::vector<Bot> bots_of(const In1<std::int8_t>& bots, std::size_t n, const char* what) {
  if (bots.size() != n) throw nb::value_error(what);
  std::vector<Bot> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(Bot(checked(bots(i), kBotNames.size(), "bot")));
  return out;
}

}  // namespace

void bind_hanabi_players(nb::module_& parent) {
  nb::module_ m = nb::cast<nb::module_>(parent.attr("hanabi"));
  nb::list names;
  for (const auto name : kBotNames) names.append(nb::str(name.data(), name.size()));
  m.attr("BOTS") = nb::tuple(names);

  Guarded<Tables> tables(nb::borrow<nb::class_<Tables>>(m.attr("Tables")));
  tables
      .def(
          "policy",
          [](const Tables& t, In1<std::int8_t> bots) {
            const auto ids = bots_of(bots, t.size(), "bots must have one bot a table");
            const std::size_t actions = std::size_t(t.rules().actions());
            auto out = make<float>({t.size(), actions});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < t.size(); ++i) probs(ids[i], t.state(i), t.marks(i), out.data() + i * actions);
            return out;
          },
          "bots"_a,
          "Return float32 [n, actions]: the probability of each action if a scripted player is the seat to act. bots: "
          "int8 [n], indices into BOTS. Rows of finished games are 0.")
      .def(
          "choose",
          [](const Tables& t, In1<std::int8_t> bots, std::uint64_t seed, std::uint64_t first) {
            const auto ids = bots_of(bots, t.size(), "bots must have one bot a table");
            auto out = make<std::int64_t>({t.size()}, -1);
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < t.size(); ++i)
              if (!t.state(i).over()) out.data()[i] = t.draw(i, ids[i], seed, first + i);
            return out;
          },
          "bots"_a, "seed"_a, "first"_a = 0,
          "Return a scripted player's action at every table, int64 [n]; -1 if a game is over. bots: int8 [n], indices "
          "into BOTS. Table i has its own random stream, which depends on seed, first + i and the number of moves so "
          "far.")
      .def(
          "marks",
          [](const Tables& t) {
            const std::size_t players = std::size_t(t.rules().players), hand = std::size_t(t.rules().hand);
            auto out = make<std::uint32_t>({t.size(), players, hand});
            for (std::size_t i = 0; i < t.size(); ++i)
              for (std::size_t p = 0; p < players; ++p)
                for (std::size_t k = 0; k < t.state(i).sizes[p]; ++k)
                  out.data()[(i * players + p) * hand + k] = t.marks(i).kinds[p][k];
            return out;
          },
          "Return uint32 [n, players, hand]: the kinds that each card may have if hints follow the convention of the "
          "scripted players, as bit sets; 0 for an empty slot.");

  m.def(
      "scripted_games",
      [](const Rules& rules, In1<std::int8_t> bots, std::uint64_t seed, std::uint64_t first, std::size_t n,
         double random, double noise) {
        check_share(random, "random");
        check_share(noise, "noise");
        const auto ids = bots_of(bots, std::size_t(rules.players), "bots must have one bot a seat");
        auto decks = make<std::uint8_t>({n, std::size_t(rules.deck())});
        auto actions = make<std::uint8_t>({n, std::size_t(longest(rules))});
        auto scores = make<std::int8_t>({n});
        {
          nb::gil_scoped_release release;
          scripted_games(rules, ids, random, noise, seed, first, n, decks.data(), actions.data(), scores.data());
        }
        return std::make_tuple(decks, actions, scores);
      },
      "rules"_a, "bots"_a, "seed"_a, "first"_a, "n"_a, "random"_a = 0.0, "noise"_a = 0.0,
      "Play games of scripted players on the decks of random_games. bots: int8 [players], indices into BOTS. Each seat "
      "is a random player instead with probability `random`. A scripted player makes a random move with probability "
      "`noise`, but with one life left no move that is certain to lose it. Without either, the games equal those that "
      "Tables(rules, seed, first, n) plays by choose(..., seed, first). Returns decks, actions and scores as "
      "random_games does.");
}
