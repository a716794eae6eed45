// Python bindings of Hanabi: rules, one state, games in lockstep with their observations.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <vector>

#include "hanabi/tables.hpp"
#include "python/guarded.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::hanabi;

namespace {

void bind_rules(nb::module_& m) {
  nb::class_<Rules> rules(m, "Rules",
                          "Parameters of OpenSpiel's Hanabi. A kind of card has the number colour * ranks + rank.");
  bind_copies(rules, "Rules");
  rules
      .def(
          "__init__",
          [](Rules* self, int players, int colors, int ranks, int hand, int hints, int lives) {
            const Rules rules{players, colors, ranks, hand, hints, lives};
            const auto outside = [](int number, int least, int most) { return number < least || number > most; };
            if (outside(players, 2, kMaxPlayers) || outside(colors, 1, kMaxColors) || outside(ranks, 1, kMaxRanks) ||
                outside(hand, 1, kMaxHand) || outside(hints, 1, 16) || outside(lives, 1, 16))
              throw nb::value_error(
                  "Hanabi has 2 to 5 players, up to 5 colours, 5 ranks, 7 cards a hand, 16 hints and 16 lives");
            if (rules.cards_in_hands() > rules.deck())
              throw nb::value_error("the deck has fewer cards than these hands need; choose a smaller hand_size");
            new (self) Rules(rules);
          },
          "players"_a = 2, "colors"_a = 5, "ranks"_a = 5, "hand"_a = 5, "hints"_a = 8, "lives"_a = 3)
      .def_ro("players", &Rules::players)
      .def_ro("colors", &Rules::colors)
      .def_ro("ranks", &Rules::ranks)
      .def_ro("hand", &Rules::hand)
      .def_ro("hints", &Rules::hints)
      .def_ro("lives", &Rules::lives)
      .def_prop_ro("kinds", &Rules::kinds)
      .def_prop_ro("deck", &Rules::deck)
      .def_prop_ro("actions", &Rules::actions)
      .def_prop_ro(
          "longest", [](const Rules& rules) { return longest(rules); }, "Largest number of moves of a game.")
      .def_prop_ro(
          "observation", [](const Rules& rules) { return observation_size(rules); }, "Length of an observation.")
      .def("copies", [](const Rules& rules, int kind) {
        checked(kind, std::size_t(rules.kinds()), "kind");
        return rules.copies(kind % rules.ranks);
      });
}

int checked_action(const State& s, std::int64_t action) {
  if (action < 0 || action >= s.rules.actions() || !(legal(s) >> action & 1)) throw nb::value_error("illegal action");
  return int(action);
}

Out<float> observation(const State& s, int seat, bool with_v0) {
  auto out = make<float>({std::size_t(observation_size(s.rules))});
  observe(s, seat, with_v0, out.data());
  return out;
}

void bind_state(nb::module_& m) {
  nb::class_<State> state(
      m, "State",
      "State of one game after the hands are dealt. discards: number of cards by kind. fireworks: number of cards by "
      "colour. deck: cards to be drawn, in order. hints: number of hint tokens left.");
  bind_copies(state, "State");
  state
      .def(
          "__init__",
          [](State* self, const Rules& rules, In1<std::uint8_t> deck) {
            if (deck.size() != std::size_t(rules.deck()) || !is_deck(rules, deck.data()))
              throw nb::value_error("a deck contains every copy of every card exactly once");
            new (self) State(new_game(rules, deck.data()));
          },
          "rules"_a, "deck"_a)
      .def_prop_ro("rules", [](const State& s) { return s.rules; })
      .def("current_player", [](const State& s) { return s.over() ? -4 : int(s.player); })
      .def("is_terminal", &State::over)
      .def("score", &State::score)
      .def("legal_actions", [](const State& s) { return cards_of(legal(s)); })
      .def(
          "harmless_actions", [](const State& s) { return cards_of(harmless(s)); },
          "Return the legal actions that cannot cost a life.")
      .def(
          "apply_action", [](State& s, int action) { apply(s, checked_action(s, action)); }, "action"_a)
      .def(
          "observation",
          [](const State& s, std::int64_t seat, bool with_v0) {
            return observation(s, int(checked(seat, std::size_t(s.rules.players), "seat")), with_v0);
          },
          "seat"_a, "v0"_a = false, "Return a seat's observation, float32 [rules.observation].")
      .def("hand",
           [](const State& s, std::int64_t seat) {
             const auto p = checked(seat, std::size_t(s.rules.players), "seat");
             std::vector<int> cards;
             for (int i = 0; i < s.sizes[p]; ++i) cards.push_back(s.hands[p][i].card);
             return cards;
           })
      .def(
          "knowledge",
          [](const State& s, std::int64_t seat) {
            const auto p = checked(seat, std::size_t(s.rules.players), "seat");
            std::vector<std::vector<int>> slots;
            for (int i = 0; i < s.sizes[p]; ++i)
              slots.push_back({s.hands[p][i].colors, s.hands[p][i].ranks, s.hands[p][i].hint_bits});
            return slots;
          },
          "Return a list [colours, ranks, named] for each slot: the colours and the ranks that hints leave possible, "
          "as bit sets, and the properties of the card that a hint has named (1 colour, 2 rank, 3 both).")
      .def_prop_ro("discards",
                   [](const State& s) { return std::vector<int>(s.discards, s.discards + s.rules.kinds()); })
      .def_prop_ro("fireworks",
                   [](const State& s) { return std::vector<int>(s.fireworks, s.fireworks + s.rules.colors); })
      .def_prop_ro("deck", [](const State& s) { return std::vector<int>(s.deck + s.drawn, s.deck + s.rules.deck()); })
      .def_prop_ro("deck_size", &State::left, "Number of cards in the deck.")
      .def_prop_ro("hints", [](const State& s) { return int(s.hints); })
      .def_prop_ro("lives", [](const State& s) { return int(s.lives); })
      .def_prop_ro("moves", [](const State& s) { return int(s.moves); });
}

using Rows = nb::ndarray<nb::numpy, float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Returns the seat of game i in a batched call: seats[i] if given, else the seat on turn.
int seat_of(const Tables& t, const std::optional<In1<std::int8_t>>& seats, std::size_t i) {
  return seats ? (*seats)(i) : t.state(i).player;
}

void check_seats(const Tables& t, const std::optional<In1<std::int8_t>>& seats) {
  if (!seats) return;
  if (seats->size() != t.size())
    throw nb::value_error("the numbers of seats and tables differ; give one seat per table");
  for (std::size_t i = 0; i < t.size(); ++i) checked((*seats)(i), std::size_t(t.rules().players), "seat");
}

using Hands = In3<std::int8_t>;

// Calls put(table, hands of the table) for every table. hidden: int8 [n, players, hand]. Returns the results, bool [n].
template <typename Put>
Out<bool> put_hands(const Tables& t, const Hands& hidden, Put put) {
  const std::size_t players = std::size_t(t.rules().players), hand = std::size_t(t.rules().hand);
  if (hidden.shape(0) != t.size() || hidden.shape(1) != players || hidden.shape(2) != hand)
    throw nb::value_error("hidden hands must be int8 [n, players, hand]");
  for (std::size_t i = 0; i < hidden.size(); ++i)
    if (hidden.data()[i] >= t.rules().kinds()) throw nb::value_error("a card number is out of range");
  auto out = make<bool>({t.size()});
  nb::gil_scoped_release release;
  for (std::size_t i = 0; i < t.size(); ++i) out.data()[i] = put(i, hidden.data() + i * players * hand);
  return out;
}

// Converts a vector of plain values to bytes and back.
template <typename T>
nb::bytes packed(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> unpacked(const nb::bytes& bytes) {
  if (bytes.size() % sizeof(T)) throw nb::value_error("these bytes are not pickled Tables of this build");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (bytes.size()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

void bind_tables(nb::module_& m) {
  Guarded<Tables>(m, "Tables",
                  "Many games that are played in lockstep: games `first` to `first + n - 1` of the series `seed`.")
      .def("__getstate__",
           [](const Tables& t) {
             std::vector<State> states;
             std::vector<Marks> marks;
             for (std::size_t i = 0; i < t.size(); ++i) {
               states.push_back(t.state(i));
               marks.push_back(t.marks(i));
             }
             return std::make_tuple(t.rules(), packed(states), packed(marks));
           })
      .def("__setstate__",
           [](Tables& t, const std::tuple<Rules, nb::bytes, nb::bytes>& held) {
             auto states = unpacked<State>(std::get<1>(held));
             auto marks = unpacked<Marks>(std::get<2>(held));
             bool good = states.size() == marks.size();
             for (std::size_t i = 0; good && i < states.size(); ++i)
               good = in_range(std::get<0>(held), states[i], marks[i]);
             if (!good) throw nb::value_error("these bytes are not pickled Tables of this build");
             new (&t) Tables(std::get<0>(held), std::move(states), std::move(marks));
           })
      .def(
          "__init__",
          [](Tables* self, const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n) {
            check_room(n, sizeof(State) + sizeof(Marks));
            new (self) Tables(rules, seed, first, n);
          },
          "rules"_a, "seed"_a, "first"_a, "n"_a)
      .def("__len__", &Tables::size)
      .def_prop_ro("rules", &Tables::rules)
      .def("__getitem__", [](const Tables& t, std::int64_t i) { return t.state(checked(i, t.size(), "table")); })
      .def("__setitem__",
           [](Tables& t, std::int64_t i, const State& s) {
             if (!(s.rules == t.rules())) throw nb::value_error("the states have different rules");
             t.set(checked(i, t.size(), "table"), s);
           })
      .def(
          "take",
          [](const Tables& t, In1<std::int64_t> rows) {
            for (std::size_t i = 0; i < rows.size(); ++i) checked(rows(i), t.size(), "table");
            return t.take({rows.data(), rows.size()});
          },
          "rows"_a, "Return a copy of the tables with these indices, int64 [k].")
      .def(
          "current",
          [](const Tables& t) {
            auto out = make<std::int8_t>({t.size()});
            for (std::size_t i = 0; i < t.size(); ++i)
              out.data()[i] = t.state(i).over() ? std::int8_t(-1) : std::int8_t(t.state(i).player);
            return out;
          },
          "Return the seat to act at each table, int8 [n]; -1 after the end.")
      .def(
          "legal",
          [](const Tables& t) {
            const std::size_t actions = std::size_t(t.rules().actions());
            auto out = make<bool>({t.size(), actions});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < t.size(); ++i)
              for (std::uint64_t rest = legal(t.state(i)); rest;)
                out.data()[i * actions + std::size_t(take_lowest(rest))] = true;
            return out;
          },
          "Return the legal actions, bool [n, actions].")
      .def(
          "step",
          [](Tables& t, In1<std::int64_t> actions) {
            if (actions.size() != t.size())
              throw nb::value_error("the numbers of actions and tables differ; give one action per table");
            for (std::size_t i = 0; i < t.size(); ++i)  // all of them before the first changes a table
              if (!t.state(i).over()) checked_action(t.state(i), actions(i));
            for (std::size_t i = 0; i < t.size(); ++i)
              if (!t.state(i).over()) t.step(i, int(actions(i)));
          },
          "actions"_a, "Apply one action per table, int64 [n]. Actions of finished games are ignored.")
      .def(
          "random_step",
          [](Tables& t, std::uint64_t seed, std::uint64_t step) {
            auto scores = make<std::int8_t>({t.size()});
            Rng rng(seed, step);
            nb::gil_scoped_release release;
            t.random_step(rng, scores.data());
            return scores;
          },
          "seed"_a, "step"_a,
          "Make a uniformly random legal move at every table, drawn from seed and step. If a game ends, a new game is "
          "dealt at its table. Returns int8 [n]: the score of the game that ended at each table, -1 if none did.")
      .def(
          "deal",
          [](Tables& t, In1<std::int64_t> rows, std::uint64_t seed, std::uint64_t first) {
            for (std::size_t k = 0; k < rows.size(); ++k) t.deal(checked(rows(k), t.size(), "table"), seed, first + k);
          },
          "rows"_a, "seed"_a, "first"_a,
          "Deal new games at these tables: the games number `first` and following of the series `seed`.")
      .def(
          "observe",
          [](const Tables& t, std::optional<In1<std::int8_t>> seats, bool with_v0, std::optional<Rows> out) {
            check_seats(t, seats);
            const std::size_t size = std::size_t(observation_size(t.rules()));
            if (!out) out = Rows(make<float>({t.size(), size}));
            if (out->shape(0) != t.size() || out->shape(1) != size)
              throw nb::value_error("out must be float32 [n, rules.observation]");
            {
              nb::gil_scoped_release release;
              for (std::size_t i = 0; i < t.size(); ++i)
                observe(t.state(i), seat_of(t, seats, i), with_v0, out->data() + i * size);
            }
            return *out;
          },
          "seats"_a = nb::none(), "v0"_a = false, "out"_a.noconvert() = nb::none(),
          "Return observations, float32 [n, rules.observation], of one seat per table (int8 [n], by default the seat "
          "to act). out: an array of this shape to write into. Reusing one array is much faster than allocating one "
          "per call.")
      .def(
          "hands",
          [](const Tables& t) {
            const std::size_t players = std::size_t(t.rules().players), hand = std::size_t(t.rules().hand);
            auto out = make<std::int8_t>({t.size(), players, hand}, -1);
            for (std::size_t i = 0; i < t.size(); ++i)
              for (std::size_t p = 0; p < players; ++p)
                for (std::size_t k = 0; k < t.state(i).sizes[p]; ++k)
                  out.data()[(i * players + p) * hand + k] = std::int8_t(t.state(i).hands[p][k].card);
            return out;
          },
          "Return the hands, int8 [n, players, hand]: kinds of cards, the oldest first, padded with -1.")
      .def(
          "possible",
          [](const Tables& t) {
            const Rules& r = t.rules();
            const auto players = std::size_t(r.players), hand = std::size_t(r.hand), kinds = std::size_t(r.kinds());
            auto out = make<bool>({t.size(), players, hand, kinds});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < t.size(); ++i)
              for (std::size_t p = 0; p < players; ++p)
                for (std::size_t k = 0; k < t.state(i).sizes[p]; ++k) {
                  const Slot& slot = t.state(i).hands[p][k];
                  bool* o = out.data() + ((i * players + p) * hand + k) * kinds;
                  for (std::size_t c = 0; c < kinds; ++c)
                    o[c] = slot.colors >> c / std::size_t(r.ranks) & slot.ranks >> c % std::size_t(r.ranks) & 1;
                }
            return out;
          },
          "Return bool [n, players, hand, kinds]: whether hints leave a kind possible. All are False for an empty "
          "slot.")
      .def(
          "unseen_counts",
          [](const Tables& t) {
            const std::size_t kinds = std::size_t(t.rules().kinds());
            auto out = make<float>({t.size(), kinds});
            for (std::size_t i = 0; i < t.size(); ++i) unseen(t.state(i), out.data() + i * kinds);
            return out;
          },
          "Return float32 [n, kinds]: the number of cards of each kind that are neither in the fireworks nor "
          "discarded.")
      .def(
          "hint_bits",
          [](const Tables& t) {
            const std::size_t players = std::size_t(t.rules().players), hand = std::size_t(t.rules().hand);
            auto out = make<float>({t.size(), players, hand, 2});
            for (std::size_t i = 0; i < t.size(); ++i)
              for (std::size_t p = 0; p < players; ++p)
                for (std::size_t k = 0; k < t.state(i).sizes[p]; ++k)
                  for (std::size_t bit = 0; bit < 2; ++bit)
                    out.data()[((i * players + p) * hand + k) * 2 + bit] =
                        float(t.state(i).hands[p][k].hint_bits >> bit & 1);
            return out;
          },
          "Return float32 [n, players, hand, 2]: whether a hint has named the card's colour, and whether one has named "
          "its rank.")
      .def(
          "traits",
          [](const Tables& t) {
            const std::size_t kinds = std::size_t(t.rules().kinds());
            auto out = make<float>({t.size(), kinds, 3});
            for (std::size_t i = 0; i < t.size(); ++i) {
              const Needs needs = needs_of(t.state(i));
              float* o = out.data() + i * kinds * 3;
              for (std::size_t k = 0; k < kinds; ++k)
                for (const Kinds set : {needs.playable, needs.dead, needs.critical}) *o++ = float(set >> k & 1);
            }
            return out;
          },
          "Return float32 [n, kinds, 3]: whether a card of the kind is playable, dead (never playable any more) and "
          "critical (the last copy of a kind still to be played).")
      .def(
          "redeal",
          [](Tables& t, const Hands& hidden, std::uint64_t seed) {
            return put_hands(t, hidden, [&](std::size_t i, const std::int8_t* hands) {
              Rng rng(seed, i);
              return t.redeal(i, hands, rng);
            });
          },
          "hidden"_a, "seed"_a,
          "Replace cards of hands, int8 [n, players, hand] (-1 keeps a slot), and shuffle the deck. Returns bool [n]: "
          "whether the remaining cards and the hints allow it; if not, the table is unchanged.")
      .def(
          "redraw",
          [](Tables& t, In1<std::int8_t> seats, std::uint64_t seed) {
            check_seats(t, seats);
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < t.size(); ++i) {
              Rng rng(seed, i);
              t.redraw(i, seats(i), rng);
            }
          },
          "seats"_a, "seed"_a,
          "Replace the hand of one seat per table, int8 [n], by a random hand that is consistent with what the seat "
          "has seen, and shuffle the deck. Each hand has its probability given the deal only; the other players' "
          "actions are no evidence.")
      .def(
          "suppose",
          [](Tables& t, const Hands& hidden) {
            return put_hands(t, hidden, [&](std::size_t i, const std::int8_t* hands) { return t.suppose(i, hands); });
          },
          "hidden"_a,
          "Put cards into hands, in redeal's form, without taking them from the deck. A table may then have too many "
          "copies of a card. The method serves to compute how a player who sees these cards would act. Returns bool "
          "[n]: whether the hints allow it; if not, the table is unchanged.")
      .def(
          "scores",
          [](const Tables& t) {
            auto out = make<std::int8_t>({t.size()});
            for (std::size_t i = 0; i < t.size(); ++i) out.data()[i] = std::int8_t(t.state(i).score());
            return out;
          },
          "Return the scores, int8 [n]: the number of cards in the fireworks, 0 if no life is left.")
      .def("over", [](const Tables& t) {
        auto out = make<bool>({t.size()});
        for (std::size_t i = 0; i < t.size(); ++i) out.data()[i] = t.state(i).over();
        return out;
      });

  m.def(
      "random_games",
      [](const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, bool careful) {
        auto decks = make<std::uint8_t>({n, std::size_t(rules.deck())});
        auto actions = make<std::uint8_t>({n, std::size_t(longest(rules))});
        auto scores = make<std::int8_t>({n});
        {
          nb::gil_scoped_release release;
          random_games(rules, seed, first, n, careful, decks.data(), actions.data(), scores.data());
        }
        return std::make_tuple(decks, actions, scores);
      },
      "rules"_a, "seed"_a, "first"_a, "n"_a, "careful"_a = false,
      "Play games of uniformly random players; careful ones play no card that costs a life unless every action costs "
      "one. Returns decks, uint8 [n, rules.deck], actions, uint8 [n, rules.longest] padded with 255, and scores, int8 "
      "[n].");
}

}  // namespace

void bind_hanabi(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("hanabi", "Hanabi: the same game as OpenSpiel's, for many tables at once.");
  bind_rules(m);
  bind_state(m);
  bind_tables(m);
}
