// Python bindings of Hearts: rules, hands in bulk, tracker, hands in lockstep.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "hearts/labels.hpp"
#include "hearts/players.hpp"
#include "hearts/random.hpp"
#include "hearts/text.hpp"
#include "hearts/tracker.hpp"
#include "python/tables.hpp"

using namespace nb::literals;
using namespace trickformer;

namespace {

struct HeartsBulk {
  using Codec = hearts::Codec;
  using Tables = hearts::Tables;
  using Tracker = hearts::HandTracker;
  using Score = std::int8_t;
  static constexpr Sizes sizes(const auto&) {
    return {hearts::kPlayers, hearts::kHistory, hearts::kMaxLength, hearts::kVocabulary, hearts::kDeal};
  }
  static void encode(const Codec& codec, const std::uint8_t* history, int seat, std::int16_t* tokens) {
    hearts::encode(codec.rules(), history, seat, tokens);
  }
  static void legal(const Tables& t, std::size_t i, bool* mask) {
    for (hearts::Cards rest = t.current(i) < 0 ? 0 : hearts::legal(t.state(i)); rest;) mask[take_lowest(rest)] = true;
  }
  static constexpr bool kRollout = true;  // supports labels by a rollout network
  static constexpr bool kWorlds = true;   // supports labels from deals other than the true one
  static void history(const Tables& t, std::size_t i, std::uint8_t* out) { hearts::history(t.state(i), out); }
  static void label(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options,
                    std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
    hearts::label(codec.rules(), history, seat, options, seed, stream, out);
  }
  static void scores(const Tables& t, std::size_t i, Score* out) {
    hearts::scores(t.state(i).rules, t.state(i).taken, out);
  }
};

}  // namespace

void bind_hearts(nb::module_& parent) {
  using namespace hearts;
  nb::module_ m = parent.def_submodule("hearts", "Hearts: rules, random hands, tracker, batched tables.");
  nb::class_<Rules>(m, "Rules", "Rules of Hearts, with the names of OpenSpiel's parameters.")
      .def(
          "__init__",
          [](Rules* self, bool pass_cards, bool no_pts_on_first_trick, bool can_lead_any_club, bool jd_bonus,
             bool avoid_all_tricks_bonus, bool must_break_hearts, bool qs_breaks_hearts,
             bool can_lead_hearts_instead_of_qs) {
            new (self) Rules{pass_cards,       no_pts_on_first_trick,        can_lead_any_club,
                             jd_bonus,         avoid_all_tricks_bonus,       must_break_hearts,
                             qs_breaks_hearts, can_lead_hearts_instead_of_qs};
          },
          nb::kw_only(), "pass_cards"_a = true, "no_pts_on_first_trick"_a = true, "can_lead_any_club"_a = false,
          "jd_bonus"_a = false, "avoid_all_tricks_bonus"_a = false, "must_break_hearts"_a = true,
          "qs_breaks_hearts"_a = true, "can_lead_hearts_instead_of_qs"_a = false);

  nb::class_<State>(m, "State", "State of one hand after the cards are dealt, equal to OpenSpiel's.")
      .def(
          "__init__",
          [](State* self, const Rules& rules, int direction, In1<std::uint8_t> deck) {
            Cards hands[kPlayers] = {};
            if (deck.size() != kNumCards) throw nb::value_error("a deck has 52 cards");
            check_deck(deck.data(), kNumCards);
            for (std::size_t i = 0; i < kNumCards; ++i) hands[i % kPlayers] |= bit(deck(i));
            within(direction, 0, rules.pass_cards ? kPlayers - 1 : 0, "a direction");
            new (self) State(new_hand(rules, direction, hands));
          },
          "rules"_a, "direction"_a, "deck"_a,
          "direction: number of seats by which cards are passed, 0 to 3. deck: uint8 [52], dealt to seats 0 to 3 in "
          "turn.")
      .def("current_player", [](const State& s) { return s.phase == Phase::kOver ? -4 : int(s.current); })
      .def("is_terminal", [](const State& s) { return s.phase == Phase::kOver; })
      .def("legal_actions", [](const State& s) { return cards_of(legal(s)); })
      .def("apply_action",
           [](State& s, int card) {
             if (card < 0 || card >= kNumCards || !(legal(s) & bit(card))) throw nb::value_error("illegal card");
             apply(s, card);
           })
      .def("scores",
           [](const State& s) {
             std::int8_t score[kPlayers];
             scores(s.rules, s.taken, score);
             return std::make_tuple(score[0], score[1], score[2], score[3]);
           })
      .def(
          "information_state_string",
          [](const State& s, std::int64_t player) {
            return information_state_string(s, int(checked(player, kPlayers, "player")));
          },
          "player"_a);

  nb::class_<Codec> codec(m, "Codec",
                          "Tokens and outcomes of the game under some rules. labels: int8 [outcomes, 4], the scores of "
                          "each outcome, the own seat first.");
  codec.def(
      "__init__",
      [](Codec* self, const Rules& rules, In<std::int8_t, nb::shape<-1, kPlayers>> labels) {
        new (self) Codec(rules, {labels.data(), labels.size()});
      },
      "rules"_a, "labels"_a);
  bind_tables<HeartsBulk>(m, codec);

  m.def(
      "random_hands",
      [](const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n) {
        auto history = make<std::uint8_t>({n, kHistory});
        auto score = make<std::int8_t>({n, kPlayers});
        nb::gil_scoped_release release;
        random_hands(rules, seed, first, n, history.data(), score.data());
        return std::make_pair(history, score);
      },
      "rules"_a, "seed"_a, "first"_a, "n"_a,
      "Play uniformly random hands. Returns histories, uint8 [n, 117], OpenSpiel's actions padded with 255, and "
      "scores, int8 [n, 4].");
  m.def(
      "mixed_hands",
      [](const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, double random, double noise,
         const RolloutNet* net, double rollout) {
        check_share(random, "random");
        check_share(noise, "noise");
        check_share(rollout, "rollout");
        if (rollout > 0 && !net) throw nb::value_error("a share of network rollouts needs a network");
        if (net && (net->features != kFeatures || net->actions != kVocabulary))
          throw nb::value_error("the network was trained for another game");
        auto history = make<std::uint8_t>({n, kHistory});
        auto score = make<std::int8_t>({n, kPlayers});
        auto seated = make<std::uint8_t>({n, kPlayers});
        {
          nb::gil_scoped_release release;
          mixed_hands(rules, seed, first, n, {random, rollout, noise, net}, history.data(), score.data(),
                      seated.data());
        }
        return std::make_tuple(history, score, seated);
      },
      "rules"_a, "seed"_a, "first"_a, "n"_a, "random"_a, "noise"_a = 0.0, "net"_a = nb::none(), "rollout"_a = 0.0,
      "Play hands on the deals of random_hands. Each seat is a random player with probability `random`, a player by "
      "the network `net` with probability `rollout`, else the scripted player. The last two make a random move with "
      "probability `noise`. Returns histories and scores as random_hands does, and the players, uint8 [n, 4]: 0 "
      "random, 1 scripted, 2 network.");
}
