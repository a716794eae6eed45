// Python bindings of Skat's learned evaluation and of the players that search.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "python/guarded.hpp"
#include "skat/pimc.hpp"
#include "skat/played_on.hpp"
#include "skat/samples.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::skat;

namespace {

Cards cards_in(const std::vector<int>& cards, std::size_t n) {
  Cards set = 0;
  for (int card : cards) set |= bit(int(checked(card, kNumCards, "card")));
  if (std::size_t(count(set)) != n || cards.size() != n)
    throw nb::value_error((std::to_string(n) + " different cards are needed").c_str());
  return set;
}

Known known_of(int known) { return Known(checked(known, 3, "known")); }
int declaration_of(int declaration) { return int(checked(declaration, kDeclarations, "declaration")); }
int seat_of(int seat) { return int(checked(seat, kPlayers, "seat")); }
int bid_of(int bid) { return within(bid, 0, kHighestBid, "a bid"); }
int points_of(int laid) { return int(checked(laid, kAllPoints + 1, "card points")); }

void check_worlds(std::size_t n, std::size_t oversample) {
  if (!n) throw nb::value_error("worlds must be at least 1");
  check_room(n, std::max<std::size_t>(oversample, 1));
  check_room(n * std::max<std::size_t>(oversample, 1), sizeof(World));
}

void bind_evaluation(nb::module_& m) {
  m.attr("ENTRIES") = kEntries;
  nb::class_<Evaluation>(
      m, "Evaluation",
      "Learned chances of winning a contract. weights: float32 [9, 672], models of {after the discard, hand game, "
      "before the skat} x {suit, grand, null}. calibration: float32 [8, 2], shift and scale of the log odds of {suit, "
      "grand, null, null ouvert} after the discard, then for hand games. Raises ValueError on other shapes.")
      .def(
          "__init__",
          [](Evaluation* self, In2<float> weights, In2<float> calibration) {
            new (self) Evaluation(finite(weights), finite(calibration));
          },
          "weights"_a, "calibration"_a)
      .def(
          "logit",
          [](const Evaluation& e, int known, int declaration, const std::vector<int>& ten, int laid, int seat) {
            const Cards cards = cards_in(ten, kHand);
            return e.logit(known_of(known), declaration_of(declaration), cards, points_of(laid), seat_of(seat));
          },
          "known"_a, "declaration"_a, "ten"_a, "laid"_a = 0, "seat"_a = 0,
          "Return the log odds of winning before calibration. known: 0 after the discard, 1 hand game, 2 before the "
          "skat is picked up. declaration: 0 to 3 for suits, 4 grand, 5 null, 6 null ouvert. ten: the cards. laid: "
          "card points of the discards. seat: 0 is forehand.")
      .def(
          "chance",
          [](const Evaluation& e, int known, int declaration, const std::vector<int>& ten, int laid, int seat) {
            const Cards cards = cards_in(ten, kHand);
            return e.chance(known_of(known), declaration_of(declaration), cards, points_of(laid), seat_of(seat));
          },
          "known"_a, "declaration"_a, "ten"_a, "laid"_a = 0, "seat"_a = 0,
          "Return the calibrated probability of winning. `logit` describes the arguments.");
  m.def(
      "features",
      [](int known, int declaration, const std::vector<int>& ten, int laid, int seat) {
        std::uint16_t entry[kEvaluationFeatures];
        const Cards cards = cards_in(ten, kHand);
        evaluation_features(known_of(known), declaration_of(declaration), cards, points_of(laid), seat_of(seat), entry);
        return std::vector<int>(entry, entry + kEvaluationFeatures);
      },
      "known"_a, "declaration"_a, "ten"_a, "laid"_a = 0, "seat"_a = 0,
      "Return the indices of the table entries that the model sums for a hand, a list of 9. If a hand has fewer, "
      "the last entry, whose weight is 0, fills the list. Evaluation.logit describes the arguments.");
  m.def(
      "samples",
      [](const Evaluation& e, int known, int family, std::uint64_t seed, std::uint64_t first, std::size_t n) {
        const Known k = known_of(known);
        checked(family, kFamilies, "family");
        auto entries = make<std::uint16_t>({n, std::size_t(kEvaluationFeatures)});
        auto target = make<float>({n});
        nb::gil_scoped_release release;
        samples(e, k, family, seed, first, n, entries.data(), target.data());
        return std::make_pair(entries, target);
      },
      "evaluation"_a, "known"_a, "family"_a, "seed"_a, "first"_a, "n"_a,
      "Return training samples: entries, uint16 [n, 9], and targets, float32 [n]. A target is 1 if the soloist wins "
      "with open cards, else 0; before the skat is picked up, it is Prospects.mean_chance. known: as in "
      "Evaluation.logit. family: 0 suit, 1 grand, 2 null. cpp/skat/samples.hpp describes how hands are chosen.");
}

void bind_bidding(nb::module_& m) {
  nb::class_<Prospects>(
      m, "Prospects",
      "Expected results with ten cards before the skat is picked up: own score less the mean of the others' scores. "
      "seeger: whether scores are Seeger-Fabian points. Otherwise they are game values.")
      .def(
          "__init__",
          [](Prospects* self, const Evaluation& e, const std::vector<int>& ten, int seat, bool seeger) {
            new (self) Prospects(e, cards_in(ten, kHand), seat_of(seat), stakes(seeger));
          },
          "evaluation"_a, "ten"_a, "seat"_a, "seeger"_a = true)
      .def(
          "picking_up", [](const Prospects& p, int bid) { return p.picking_up(bid_of(bid)); }, "bid"_a,
          "Return the expected score of the best game after picking up the skat.")
      .def(
          "by_hand",
          [](const Prospects& p, int bid) {
            const Offer o = p.by_hand(bid_of(bid));
            return std::make_pair(o.declaration, o.score);
          },
          "bid"_a, "Return (declaration, expected score) of the best hand game.")
      .def(
          "mean_chance", [](const Prospects& p, int declaration) { return p.mean_chance(declaration_of(declaration)); },
          "declaration"_a, "Return the chance of winning a declaration after the discard, as the mean over skats.");
  m.def(
      "prospects",
      [](const Evaluation& e, const SeatView& v, bool seeger) {
        if (v.stage < SeatView::Stage::kAuction) throw nb::value_error("the view's seat has no cards yet");
        nb::gil_scoped_release release;
        return Prospects(e, v.dealt, v.seat, stakes(seeger));
      },
      "evaluation"_a, "view"_a, "seeger"_a, "Return the Prospects of the ten cards dealt to the view's seat.");
  m.def(
      "best_laying",
      [](const Evaluation& e, const std::vector<int>& twelve, int seat) {
        const Laying best = best_laying(e, cards_in(twelve, kHand + kSkat), 0, seat_of(seat));
        std::vector<std::pair<std::vector<int>, double>> out;
        for (int d = 0; d < kDeclarations; ++d) out.emplace_back(cards_of(best.laid[d]), best.logit[d]);
        return out;
      },
      "evaluation"_a, "twelve"_a, "seat"_a,
      "Return, by declaration, the two best cards to discard from twelve and the log odds after the discard, before "
      "calibration.");
  m.def(
      "best_offer",
      [](const Evaluation& e, const std::vector<int>& twelve, int bid, int seat, bool seeger) {
        const Offer o = best_offer(e, cards_in(twelve, kHand + kSkat), 0, bid_of(bid), seat_of(seat), stakes(seeger));
        return std::make_tuple(o.declaration, cards_of(o.laid), o.chance, o.score);
      },
      "evaluation"_a, "twelve"_a, "bid"_a, "seat"_a, "seeger"_a = true,
      "Return (declaration, discards, chance of winning, expected score) of the best contract with twelve cards.");
  m.def(
      "say",
      [](const Evaluation& e, const Prospects& prospects, const SeatView& v, bool seeger, double passing) {
        if (!v.my_turn() || v.stage == SeatView::Stage::kPlay)
          throw nb::value_error("the view's seat has no bid or declaration to make");
        nb::gil_scoped_release release;
        const AuctionChoice s = say_by(e, prospects, v, stakes(seeger), passing);
        return std::make_pair(s.action, s.value);
      },
      "evaluation"_a, "prospects"_a, "view"_a, "seeger"_a, "passing"_a,
      "Return (action, expected result) of the best bid, discard or declaration. passing: the seat bids only if the "
      "expected result exceeds this, or 0 after both other seats have passed. Raises ValueError if the view's seat has "
      "none to make.");
}

using Hidden = In2<std::int16_t>;

void bind_inference(nb::module_& m) {
  constexpr BidModel kUsual;
  nb::class_<BidModel>(
      m, "BidModel",
      "Model of how other players bid and declare. passing: value of passing. bid: temperature of bidding on. choice: "
      "temperature of discards and declaration. These are in Seeger-Fabian points. floor: share of uniformly random "
      "choices. Raises ValueError if passing is not finite, a temperature is not above 0, or the floor is not between "
      "0 and 1.")
      .def(
          "__init__",
          [](BidModel* self, double passing, double bid, double choice, double floor) {
            if (!(std::isfinite(passing) && bid > 0 && choice > 0 && floor >= 0 && floor <= 1))
              throw nb::value_error("passing must be finite, temperatures above 0, and the floor between 0 and 1");
            new (self) BidModel{passing, bid, choice, floor};
          },
          "passing"_a = kUsual.passing, "bid"_a = kUsual.bid, "choice"_a = kUsual.choice, "floor"_a = kUsual.floor);
  m.def(
      "bid_chance",
      [](const Evaluation& e, const BidModel& model, int accepted, int refused, const std::vector<int>& ten, int seat,
         bool seeger) {
        if (accepted < -1 || accepted >= refused || refused > kCalls)
          throw nb::value_error("accepted and refused must satisfy -1 <= accepted < refused <= 63");
        return bid_chance(e, model, {accepted, refused}, cards_in(ten, kHand), seat_of(seat), stakes(seeger));
      },
      "evaluation"_a, "model"_a, "accepted"_a, "refused"_a, "ten"_a, "seat"_a, "seeger"_a = true,
      "Return the probability that a player accepts call number `accepted` (-1 for none) and refuses call number "
      "`refused` (63 for none). Numbers are indices into skat.CALLS.");
  m.def(
      "at_play", [](const SeatView& v) { return v.stage == SeatView::Stage::kPlay; }, "view"_a,
      "Return whether the view is in card play.");
  m.def(
      "bid_ranges",
      [](const SeatView& v) {
        std::vector<std::pair<int, int>> out;
        for (const BidRange& s : bid_ranges(v)) out.emplace_back(s.accepted, s.refused);
        return out;
      },
      "view"_a,
      "Return, by seat, the number of the highest call made or held and of the call refused; (-1, 63) if the seat has "
      "not bid.");
  m.def(
      "log_weight",
      [](const Deals& deals, const Evaluation& e, const BidModel& model, bool seeger, Hidden hidden) {
        if (hidden.shape(1) != kHidden) throw nb::value_error("hidden must be int16 [n, 34]");
        auto out = make<double>({hidden.shape(0)}, -std::numeric_limits<double>::infinity());
        const Stakes s = stakes(seeger);
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < hidden.shape(0); ++i) {
          World w = read(&hidden(i, 0));
          if (!deals.is_consistent(w)) continue;
          deals.hold(w);
          out.data()[i] =
              std::log(spoken_chance(e, model, deals.view(), w, s) * laid_chance(e, model, deals.view(), w, s));
        }
        return out;
      },
      "deals"_a, "evaluation"_a, "model"_a, "seeger"_a, "hidden"_a,
      "Return float64 [n]: the natural logarithm of the weight of each world, int16 [n, 34] as DealSampler.sample "
      "returns them. The weight is the probability of the others' bids and declaration given their cards, times the "
      "probability of the discards given the declaration. The result is -inf if a world is not consistent with the "
      "view.");
  m.def(
      "draw_worlds",
      [](const Deals& deals, const Evaluation& e, const BidModel& model, bool seeger, std::size_t n,
         std::size_t oversample, std::uint64_t seed) {
        check_worlds(n, oversample);
        const Stakes s = stakes(seeger);
        WeightedWorlds w;
        std::vector<double> chances;
        {
          nb::gil_scoped_release release;
          Rng rng(seed);
          w = draw_worlds(deals, e, model, s, n, oversample, rng);
          for (const World& world : w.worlds)
            chances.push_back(spoken_chance(e, model, deals.view(), world, s) *
                              laid_chance(e, model, deals.view(), world, s));
        }
        const std::size_t found = w.worlds.size();
        auto holders = make<std::int8_t>({found, std::size_t(kNumCards)}, -1);
        auto weight = make<double>({found}), chance = make<double>({found});
        auto hidden = make<std::int16_t>({found, std::size_t(kHidden)});
        for (std::size_t i = 0; i < found; ++i) {
          const World& world = w.worlds[i];
          write(world, hidden.data() + i * kHidden);
          for (int card = 0; card < kNumCards; ++card)
            for (int place = 0; place <= kPlayers; ++place)
              if ((place < kPlayers ? world.held[place] : world.skat) >> card & 1)
                holders.data()[i * kNumCards + std::size_t(card)] = std::int8_t(place);
          weight.data()[i] = w.weight[i];
          chance.data()[i] = chances[i];
        }
        return std::make_tuple(holders, weight, chance, w.effective, hidden);
      },
      "deals"_a, "evaluation"_a, "model"_a, "seeger"_a, "n"_a, "oversample"_a, "seed"_a,
      "Draw at most n different worlds. oversample: number of uniform draws for each of them. Returns the current "
      "holder of each card, int8 [m, 32] (3 is the skat, -1 a played card); the weights of the worlds, float64 [m], "
      "which sum to 1; the probability of the bids, the declaration and the discards in each world, float64 [m]; the "
      "effective sample size; and the worlds, int16 [m, 34], as DealSampler.sample returns them. With oversample 0 the "
      "worlds are uniform.");
}

void bind_playing(nb::module_& m) {
  m.def(
      "play",
      [](const Deals& deals, bool seeger, Hidden hidden, In1<std::int64_t> course, In1<std::int64_t> actions, int open,
         Solver& solver) {
        if (hidden.shape(1) != kHidden) throw nb::value_error("hidden must be int16 [n, 34]");
        const auto numbers = [](const In1<std::int64_t>& from) {
          std::vector<int> out;
          // Numbers that fit no action become -1 or kActions, which are no actions either, so that they fit an int.
          for (std::size_t i = 0; i < from.size(); ++i)
            out.push_back(int(std::clamp<std::int64_t>(from(i), -1, kActions)));
          return out;
        };
        const std::vector<int> taken = numbers(course), tried = numbers(actions);
        within(open, 0, kTricks, "open");
        auto out = make<float>({hidden.shape(0), tried.size()});
        const Use use(&solver, true);
        nb::gil_scoped_release release;
        play_on(deals, hidden.data(), hidden.shape(0), taken, tried, {seeger, open}, solver, out.data());
        return out;
      },
      "deals"_a, "seeger"_a, "hidden"_a, "course"_a, "actions"_a, "open"_a, "solver"_a,
      "Continue each world with each action, int64 [a], and then with the player `rules` in all seats. The last `open` "
      "tricks are played optimally with open cards. Returns float32 [n, a]: the own result less the mean of the "
      "others', in points. hidden: worlds as DealSampler.sample returns them. course: int64 [t], the actions after the "
      "deal; the discards of another soloist may be any numbers, because each world has its own. Raises ValueError if "
      "a world or course is not consistent with the view, or if an action is not legal.");
}

void bind_search(nb::module_& m) {
  nb::class_<PimcResult>(
      m, "PimcResult",
      "Result of a PIMC search. Values are the own result less the mean of the others'. worlds: number of different "
      "worlds. effective: effective sample size of the uniform draws.")
      .def_ro("card", &PimcResult::card)
      .def_ro("value", &PimcResult::value)
      .def_prop_ro(
          "values", [](const PimcResult& r) { return std::vector<double>(r.values.begin(), r.values.end()); },
          "Value of each card; 0 for illegal cards.")
      .def_ro("worlds", &PimcResult::worlds)
      .def_ro("effective", &PimcResult::effective);
  nb::class_<Solver>(m, "Solver", "Solver with its transposition table, which successive calls of pimc may share.")
      .def(nb::init<>());
  m.def(
      "pimc",
      [](const Deals& deals, const Evaluation& e, std::size_t worlds, std::size_t oversample, const BidModel& model,
         bool seeger, std::uint64_t seed, Solver& solver) {
        const SeatView& v = deals.view();
        if (v.stage != SeatView::Stage::kPlay || !v.my_turn())
          throw nb::value_error("the view's seat has no card to play");
        check_worlds(worlds, oversample);
        const Use use(&solver, true);
        nb::gil_scoped_release release;
        return pimc_card(deals, e, {worlds, oversample, model}, stakes(seeger), seed, solver);
      },
      "deals"_a, "evaluation"_a, "worlds"_a, "oversample"_a, "model"_a, "seeger"_a, "seed"_a, "solver"_a,
      "Choose the card to play by PIMC. worlds: number of worlds solved. oversample: uniform draws for each of them; 0 "
      "for unweighted worlds. Raises ValueError if the view's seat has no card to play.");
}

}  // namespace

void bind_skat_search(nb::module_& parent) {
  nb::module_ m =
      parent.def_submodule("skat_search", "Skat: a learned evaluation of hands, bidding by it, and search.");
  bind_evaluation(m);
  bind_bidding(m);
  bind_inference(m);
  bind_playing(m);
  bind_search(m);
}
