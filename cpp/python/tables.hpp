// Bindings that every game with tokens has: its codec, whole games as tokens, many games in lockstep.
#pragma once
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "core/label.hpp"
#include "core/tracker.hpp"
#include "nn/rollout_net.hpp"
#include "python/bind.hpp"
#include "python/guarded.hpp"

namespace trickformer {

// Sizes of a game: seats, bytes of a history, tokens of the longest sequence, tokens of the vocabulary, bytes of a
// deal.
struct Sizes {
  std::size_t players, history, length, vocabulary, deal;
};

// Raises ValueError unless there is a seat for each of n hands.
inline void check_seats(const In1<std::uint8_t>& seats, std::size_t n, std::size_t players) {
  if (seats.size() != n) throw nb::value_error("the numbers of seats and hands differ; give one seat per hand");
  for (std::size_t i = 0; i < n; ++i) within(seats(i), 0, int(players) - 1, "a seat");
}

inline void check_deals(const In2<std::uint8_t>& deals, std::size_t width) {
  if (deals.shape(1) != width)
    throw nb::value_error(("deals must be uint8 [n, " + std::to_string(width) + "]").c_str());
}

// Requirements on Game: types Codec, Tables, Tracker and Score; functions sizes(codec or tables), encode(codec,
// history, seat, tokens), legal(tables, i, mask) and scores(tables, i, out). Optional: label, for `labels`, with
// kRollout if networks may play and kWorlds if deals may be sampled; history, for `Tables.history`. name: name of the
// Tables class in Python.
template <typename Game>
nb::class_<typename Game::Tables> bind_tables(nb::module_& m, nb::class_<typename Game::Codec>& bound,
                                              const char* name = "Tables") {
  using namespace nb::literals;
  using Codec = typename Game::Codec;
  using Tables = typename Game::Tables;
  using Score = typename Game::Score;

  bound
      .def(
          "tracker",
          [](std::shared_ptr<const Codec> t) -> std::unique_ptr<Tracker> {
            return std::make_unique<typename Game::Tracker>(std::move(t));
          },
          "Return a tracker of an empty sequence.")
      .def(
          "outcomes",
          [](const Codec& t, In2<Score> score, In1<std::uint8_t> seats) {
            const std::size_t players = Game::sizes(t).players;
            if (score.shape(1) != players)
              throw nb::value_error("the numbers of scores and seats differ; give one score per seat");
            check_seats(seats, score.shape(0), players);
            auto out = make<std::int32_t>({score.shape(0)});
            for (std::size_t i = 0; i < score.shape(0); ++i)
              out.data()[i] = t.outcome(score.data() + i * players, int(seats(i)));
            return out;
          },
          "scores"_a, "seats"_a,
          "Return the index of each game's outcome as one seat sees it, int32 [n]. scores: integers [n, players]. "
          "seats: uint8 [n].");

  bound.def(
      "encode",
      [](const Codec& codec, In2<std::uint8_t> history, In1<std::uint8_t> seats) {
        const Sizes sizes = Game::sizes(codec);
        const std::size_t n = history.shape(0);
        if (history.shape(1) != sizes.history) throw nb::value_error("the history has another length");
        check_seats(seats, n, sizes.players);
        auto tokens = make<std::int16_t>({n, sizes.length});
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < n; ++i)
          Game::encode(codec, history.data() + i * sizes.history, int(seats.data()[i]),
                       tokens.data() + i * sizes.length);
        return tokens;
      },
      "history"_a, "seats"_a,
      "Return one seat's tokens of each game, int16 [n, T], padded with the end token. history: uint8 [n, H]. seats: "
      "uint8 [n].");

  if constexpr (requires { &Game::label; })
    bound.def(
        "labels",
        [](std::shared_ptr<const Codec> shared, In2<std::uint8_t> history, In1<std::uint8_t> seats, std::uint64_t seed,
           In1<std::uint64_t> streams, int playouts, double share, const RolloutNet* net, bool worlds) {
          const Codec& codec = *shared;
          const Sizes sizes = Game::sizes(codec);
          const std::size_t n = history.shape(0);
          if (history.shape(1) != sizes.history) throw nb::value_error("the history has another length");
          check_seats(seats, n, sizes.players);
          if (streams.size() != n)
            throw nb::value_error("the numbers of streams and hands differ; give one stream per hand");
          if (playouts < 1) throw nb::value_error("playouts must be at least 1");
          check_share(share, "share");
          if (!(requires { Game::kRollout; }) && net)
            throw nb::value_error("this game has no labels by a network; leave out net");
          if (!(requires { Game::kWorlds; }) && worlds)
            throw nb::value_error("this game has no labels from sampled deals; leave out worlds");
          if (net && (net->actions != int(sizes.vocabulary) ||
                      net->features != typename Game::Tracker(shared).feature_count()))
            throw nb::value_error("the network was trained for another game");
          std::vector<Label> labels;
          std::vector<std::int32_t> counts(n);
          {
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < n; ++i) {
              const std::size_t before = labels.size();
              Game::label(codec, history.data() + i * sizes.history, int(seats.data()[i]),
                          LabelOptions{playouts, share, net, worlds}, seed, streams.data()[i], labels);
              counts[i] = std::int32_t(labels.size() - before);
            }
          }
          auto count = make<std::int32_t>({n});
          std::copy(counts.begin(), counts.end(), count.data());
          auto position = make<std::int16_t>({labels.size()}), token = make<std::int16_t>({labels.size()});
          auto value = make<float>({labels.size()});
          for (std::size_t i = 0; i < labels.size(); ++i) {
            position.data()[i] = std::int16_t(labels[i].position);
            token.data()[i] = std::int16_t(labels[i].token);
            value.data()[i] = labels[i].value;
          }
          return std::make_tuple(count, position, token, value);
        },
        "history"_a, "seats"_a, "seed"_a, "streams"_a, "playouts"_a, "share"_a, "net"_a = nb::none(),
        "worlds"_a = false,
        "Estimate the values of the legal actions of sampled decisions by playouts. history: uint8 [n, H]. seats: "
        "uint8 [n]. streams: uint64 [n], which with `seed` determine the random numbers. playouts: number per action. "
        "share: fraction of the decisions that get labels. net: network that plays the playouts, by default the "
        "scripted player. worlds: whether each playout starts from a sampled deal. Returns the number of labels of "
        "each hand, int32 [n], and for all labels, hand by hand, the position before the decision, the action (int16) "
        "and its value (float32).");

  Guarded<Tables> tables(m, name, "Many games that are played in lockstep; see trickformer.base.Tables.");
  tables.def("__len__", &Tables::size)
      .def(
          "current",
          [](const Tables& t) {
            auto out = make<std::int8_t>({t.size()});
            for (std::size_t i = 0; i < t.size(); ++i) out.data()[i] = std::int8_t(t.current(i));
            return out;
          },
          "Return the seat to act at each table, int8 [n]; -1 after the end.")
      .def(
          "legal",
          [](const Tables& t) {
            const std::size_t vocabulary = Game::sizes(t).vocabulary;
            auto out = make<bool>({t.size(), vocabulary});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < t.size(); ++i) Game::legal(t, i, out.data() + i * vocabulary);
            return out;
          },
          "Return the legal tokens of the seat to act, bool [n, V]; all False after the end.")
      .def(
          "step",
          [](Tables& t, In1<std::int32_t> tables, In1<std::int32_t> actions) {
            if (tables.size() != actions.size())
              throw nb::value_error("the numbers of actions and tables differ; give one action per table");
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < tables.size(); ++i) t.step(checked(tables(i), t.size(), "table"), actions(i));
          },
          "tables"_a, "actions"_a, "Apply the token actions[i] at table tables[i], int32 [k] each.")
      .def_prop_ro(
          "tokens",
          [](nb::handle_t<Tables> self) {
            const Tables& t = constructed<Tables>(self);
            const Sizes sizes = Game::sizes(t);
            return nb::ndarray<nb::numpy, const std::int32_t>(t.tokens(), {t.size(), sizes.players, sizes.length},
                                                              self);
          },
          "Tokens of each seat, int32 [n, players, T], padded with the end token. `step` changes the array.")
      .def_prop_ro(
          "lengths",
          [](nb::handle_t<Tables> self) {
            const Tables& t = constructed<Tables>(self);
            const std::size_t players = Game::sizes(t).players;
            return nb::ndarray<nb::numpy, const std::int32_t>(t.lengths(), {t.size(), players}, self);
          },
          "Number of tokens of each seat, int32 [n, players]. `step` changes the array.")
      .def(
          "scores",
          [](const Tables& t) {
            const std::size_t players = Game::sizes(t).players;
            auto out = make<Score>({t.size(), players});
            for (std::size_t i = 0; i < t.size(); ++i) Game::scores(t, i, out.data() + i * players);
            return out;
          },
          "Return the scores, integers [n, players]. All games must be over.")
      .def(
          "outcomes",
          [](const Tables& t) {
            const std::size_t players = Game::sizes(t).players;
            auto out = make<std::int32_t>({t.size(), players});
            for (std::size_t i = 0; i < t.size(); ++i)
              for (std::size_t p = 0; p < players; ++p) out.data()[i * players + p] = t.outcome(i, int(p));
            return out;
          },
          "Return the index of each seat's outcome, int32 [n, players]. All games must be over.");
  if constexpr (requires { &Game::history; })
    tables.def(
        "history",
        [](const Tables& t) {
          const std::size_t length = Game::sizes(t).history;
          auto out = make<std::uint8_t>({t.size(), length});
          for (std::size_t i = 0; i < t.size(); ++i) Game::history(t, i, out.data() + i * length);
          return out;
        },
        "Return the actions so far, uint8 [n, H] padded with 255, in the form that `encode` and `labels` take.");
  if constexpr (std::is_constructible_v<Tables, std::shared_ptr<const Codec>, const std::uint8_t*, std::size_t>)
    tables.def(
        "__init__",
        [](Tables* self, std::shared_ptr<const Codec> codec, In2<std::uint8_t> deals) {
          check_deals(deals, Game::sizes(*codec).deal);
          const std::size_t n = deals.shape(0);
          new (self) Tables(std::move(codec), deals.data(), n);
        },
        "codec"_a, "deals"_a,
        "deals: the chance outcomes of each game, in order. Raises ValueError if a deal is not valid.");
  return tables;
}

}  // namespace trickformer
