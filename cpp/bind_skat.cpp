// The Python face of Skat: rules, random games.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <vector>

#include "bind.hpp"
#include "skat_random.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::skat;

namespace {

std::vector<int> cards_of(Cards cards) {
  std::vector<int> out;
  while (cards) out.push_back(take_lowest(cards));
  return out;
}

Contract contract(int kind, bool hand, int level) {
  if (kind < 0 || kind > 5 || level < 0 || level > 3) throw nb::value_error("a kind is 0 to 5, a level 0 to 3");
  return {Kind(kind), hand, Level(level)};
}

void bind_rules(nb::module_& m) {
  nb::class_<Result>(m, "Result", "How a game ended; value is that of a won game, of a lost one minus twice it.")
      .def_prop_ro("soloist", [](const Result& r) { return int(r.soloist); })
      .def_ro("won", &Result::won)
      .def_ro("overbid", &Result::overbid)
      .def_ro("schneider", &Result::schneider)
      .def_ro("schwarz", &Result::schwarz)
      .def_prop_ro("matadors", [](const Result& r) { return int(r.matadors); })
      .def_prop_ro("points", [](const Result& r) { return int(r.points); })
      .def_prop_ro("tricks", [](const Result& r) { return int(r.tricks); })
      .def_prop_ro("value", [](const Result& r) { return int(r.value); })
      .def("scores",
           [](const Result& r, bool seeger) {
             std::int16_t score[kPlayers];
             scores(r, seeger, score);
             return nb::make_tuple(score[0], score[1], score[2]);
           },
           "seeger"_a);
  m.def("settle",
        [](int kind, bool hand, int level, int bid, int soloist, const std::vector<int>& soloists_cards, int points,
           int tricks) {
          Cards cards = 0;
          for (int card : soloists_cards) cards |= bit(int(checked(card, kNumCards, "card")));
          return settle(contract(kind, hand, level), bid, soloist, cards, points, tricks);
        },
        nb::kw_only(), "kind"_a, "hand"_a, "level"_a, "bid"_a, "soloist"_a, "soloists_cards"_a, "points"_a, "tricks"_a,
        "What a contract is worth that ended with these card points (skat included) and tricks of the soloist's.");

  nb::class_<State>(m, "State", "One game from the moment the cards are dealt.")
      .def(
          "__init__",
          [](State* self, In1<std::uint8_t> deck) {
            Cards hands[kPlayers] = {}, skat = 0;
            if (deck.size() != kNumCards) throw nb::value_error("a deck has 32 cards");
            for (std::size_t i = 0; i < kNumCards; ++i) {
              if (deck(i) >= kNumCards) throw nb::value_error("a deck holds every card once");
              (i < std::size_t(kPlayers * kHand) ? hands[i / kHand] : skat) |= bit(deck(i));
            }
            if ((hands[0] | hands[1] | hands[2] | skat) != kAll) throw nb::value_error("a deck holds every card once");
            new (self) State(new_game(hands, skat));
          },
          "deck"_a)
      .def("__copy__", [](const State& s) { return State(s); })
      .def("__deepcopy__", [](const State& s, nb::handle) { return State(s); })
      .def("__getstate__",
           [](const State& s) { return nb::bytes(reinterpret_cast<const char*>(&s), sizeof(State)); })
      .def("__setstate__",
           [](State& s, const nb::bytes& bytes) {
             if (bytes.size() != sizeof(State)) throw nb::value_error("this is no pickled State of this build");
             std::memcpy(static_cast<void*>(new (&s) State{}), bytes.data(), sizeof(State));
           })
      .def("current_player", [](const State& s) { return s.phase == Phase::kOver ? -4 : int(s.current); })
      .def("is_terminal", [](const State& s) { return s.phase == Phase::kOver; })
      .def("legal_actions",
           [](const State& s) {
             std::uint8_t legal[kActions];
             const int n = legal_actions(s, legal);
             return std::vector<int>(legal, legal + n);
           })
      .def("apply_action",
           [](State& s, int action) {
             if (!is_legal(s, action)) throw nb::value_error("illegal action");
             apply(s, action);
           })
      .def("hand", [](const State& s, std::int64_t p) { return cards_of(s.hand[checked(p, kPlayers, "seat")]); })
      .def_prop_ro("skat", [](const State& s) { return cards_of(s.skat); })
      .def_prop_ro("dealt_skat", [](const State& s) { return cards_of(s.dealt_skat); })
      .def_prop_ro("soloist", [](const State& s) { return int(s.auction.soloist); })
      .def_prop_ro("bid", [](const State& s) { return int(s.auction.bid()); })
      .def_prop_ro("phase", [](const State& s) { return int(s.phase); })
      .def_prop_ro("kind", [](const State& s) { return int(s.contract.kind); })
      .def_prop_ro("is_hand", [](const State& s) { return s.contract.hand; })
      .def_prop_ro("level", [](const State& s) { return int(s.contract.level); })
      .def_prop_ro("leader", [](const State& s) { return int(s.leader); })
      .def_prop_ro("soloists_tricks", [](const State& s) { return int(s.tricks); })
      .def_prop_ro("soloists_points", [](const State& s) { return int(s.points); }, "card points in tricks, no skat")
      .def("result", [](const State& s) {
        if (s.phase != Phase::kOver) throw nb::value_error("a game has a result only at its end");
        return result(s);
      });
}

}  // namespace

void bind_skat(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("skat", "Skat: rules, random games");
  m.attr("CALLS") = std::vector<int>(kCallValues, kCallValues + kCalls);
  m.attr("MAX_ACTIONS") = kMaxActions;
  bind_rules(m);
  m.def(
      "random_games",
      [](bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n) {
        auto history = make<std::uint8_t>({n, kHistory});
        auto score = make<std::int16_t>({n, kPlayers});
        nb::gil_scoped_release release;
        random_games(seeger, seed, first, n, history.data(), score.data());
        return std::make_pair(history, score);
      },
      "seeger"_a, "seed"_a, "first"_a, "n"_a,
      "Uniformly random games: actions uint8 [n, 194] (32 cards dealt first, filled up with 255), scores int16 [n, 3].");
}
