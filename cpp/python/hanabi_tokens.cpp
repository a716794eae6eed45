// Python bindings of Hanabi, continued: views as tokens, and the own hands that are consistent with them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "hanabi/labels.hpp"
#include "hanabi/tracker.hpp"
#include "hanabi/worlds.hpp"
#include "python/tables.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::hanabi;

namespace {

struct Bulk {
  using Codec = hanabi::Codec;
  using Tables = TokenTables;
  using Tracker = SeatTracker;
  using Score = std::int8_t;
  static Sizes sizes(const Codec& t) {
    return {std::size_t(t.rules().players), std::size_t(history_size(t.rules())), std::size_t(t.length()),
            std::size_t(t.vocabulary()), std::size_t(t.rules().deck())};
  }
  static Sizes sizes(const Tables& t) { return sizes(t.codec()); }
  static void encode(const Codec& codec, const std::uint8_t* history, int seat, std::int16_t* tokens) {
    hanabi::encode(codec, history, seat, tokens);
  }
  static void legal(const Tables& t, std::size_t i, bool* mask) {
    for (std::uint64_t rest = hanabi::legal(t.state(i)); rest;) mask[take_lowest(rest)] = true;
  }
  static void history(const Tables& t, std::size_t i, std::uint8_t* out) { t.history(i, out); }
  static void label(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options,
                    std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
    hanabi::label(codec, history, seat, options, seed, stream, out);
  }
  static void scores(const Tables& t, std::size_t i, Score* out) {
    std::fill(out, out + t.codec().rules().players, Score(t.state(i).score()));
  }
};

SeatView seat_view(const Codec& codec, const In1<std::int32_t>& tokens) { return view_of(codec, tokens_in(tokens)); }

void bind_table(nb::module_& m) {
  nb::class_<Codec> codec(
      m, "Codec", "Token numbers: own actions, moves of others, cards, slots that a hint names, seats, the end.");
  codec.def(nb::init<const Rules&>(), "rules"_a, "Raises ValueError if more than 256 tokens are needed.")
      .def("__getstate__", &Codec::rules)
      .def("__setstate__", [](Codec& t, const Rules& rules) { new (&t) Codec(rules); })
      .def_prop_ro("rules", &Codec::rules)
      .def_prop_ro("other", &Codec::other, "First token for the moves of other players.")
      .def_prop_ro("card", &Codec::card, "Token of card 0.")
      .def_prop_ro("slots", &Codec::slots,
                   "Offset of the tokens for sets of slots. A set, as a bit set of at least one slot, has the token "
                   "offset + set.")
      .def_prop_ro("seat", &Codec::seat, "Token of own seat 0; own seat s has the token seat + s.")
      .def_prop_ro("end", &Codec::end)
      .def_prop_ro("length", &Codec::length, "Number of tokens of the longest sequence.")
      .def(
          "token",
          [](const Codec& t, int action, int actor) {
            checked(action, std::size_t(t.rules().actions()), "action");
            within(actor, 1, t.rules().players - 1, "an actor");
            const Move move = move_of(t.rules(), action);
            return t.token(move, (actor + move.offset) % t.rules().players);
          },
          "action"_a, "actor"_a,
          "Return the token of an action by the player `actor` places after the own seat; actor is at least 1.")
      .def(
          "over", [](const Codec& t, In1<std::int32_t> tokens) { return seat_view(t, tokens).state.over(); },
          "tokens"_a, "Return whether the game has ended. Raises ValueError if no deal is consistent with the tokens.")
      .def(
          "events", [](const Codec& t, In1<std::int32_t> tokens) { return seen_events(events(t, tokens_in(tokens))); },
          "tokens"_a,
          "Return (actor, action, seen) for each event of a token sequence. actor: a seat, or -1 for chance. action: "
          "None if absent. seen: the event's tokens. Raises ValueError if no view has these tokens.");
  bind_tables<Bulk>(m, codec, "TokenTables");
}

void bind_hands(nb::module_& m) {
  nb::class_<Hands>(
      m, "HandSampler",
      "Sampler of own hands that are consistent with a view, each with its probability given the deal only.")
      .def(
          "__init__",
          [](Hands* self, const Codec& codec, In1<std::int32_t> tokens) {
            new (self) Hands(codec, seat_view(codec, tokens));
          },
          "codec"_a, "tokens"_a,
          "Raises ValueError if no deal is consistent with the tokens, or if they end within an event of several "
          "tokens.")
      .def_prop_ro("count", &Hands::total,
                   "Number of ways to draw the own cards from the unseen ones. Copies of a card count as different.")
      .def(
          "sample",
          [](const Hands& hands, std::uint64_t seed, std::size_t n) {
            auto out = make<std::int16_t>({n, std::size_t(hands.slots())});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < n; ++i) {
              Rng rng(seed, i);
              hands.draw(rng, out.data() + i * std::size_t(hands.slots()));
            }
            return out;
          },
          "seed"_a, "n"_a, "Draw n own hands, int16 [n, hand]: kinds of cards, the oldest first, padded with -1.")
      .def(
          "ways",
          [](const Hands& hands, In2<std::int16_t> hidden) {
            if (hidden.shape(1) != std::size_t(hands.slots()))
              throw nb::value_error("a hand must have a card or -1 for each slot");
            auto out = make<std::uint64_t>({hidden.shape(0)});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) out.data()[i] = hands.ways(&hidden(i, 0));
            return out;
          },
          "hidden"_a,
          "Return uint64 [n]: the number of ways to draw each hand, int16 [n, hand]; 0 if it is not consistent with "
          "the view.");
}

}  // namespace

void bind_hanabi_tokens(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("hanabi"));
  bind_table(m);
  bind_hands(m);
}
