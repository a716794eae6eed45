// Python bindings of Hanabi, continued: search on beliefs about the own hand.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/threads.hpp"
#include "core/tracker.hpp"
#include "hanabi/decision.hpp"
#include "hanabi/tables.hpp"
#include "python/guarded.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::hanabi;

namespace {

using Hand = std::vector<std::int16_t>;

constexpr int kMostListed = 1'000'000, kMostTries = 10'000'000;  // limits, which take seconds

void check_legal(const Rules& rules, std::uint64_t legal, std::int64_t action) {
  check_action(action >= 0 && action < rules.actions() && legal >> action & 1,
               int(std::clamp<std::int64_t>(action, -1, 255)));
}

std::vector<int> in_order(const Decision& d) {
  std::vector<int> order(d.frames());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void check_hands(const Decision& d, const In2<std::int16_t>& hands) {
  if (hands.shape(1) != std::size_t(d.rules().hand))
    throw nb::value_error("a hand must have a card or -1 for each slot");
  for (std::size_t i = 0; i < hands.shape(0); ++i)
    if (!d.ways(&hands(i, 0)))
      throw nb::value_error(("hand " + std::to_string(i) + " does not explain the view").c_str());
}

// Raises ValueError unless each deck has the unseen cards that are not in its hand.
void check_decks(const Decision& d, const In2<std::int16_t>& hands, const In2<std::uint8_t>& decks) {
  if (decks.shape(0) != hands.shape(0) || decks.shape(1) != std::size_t(d.left()))
    throw nb::value_error("decks must hold the remaining cards, one row per hand");
  std::vector<std::uint8_t> left(decks.shape(1)), cards(decks.shape(1));
  Rng any(0, 0);
  for (std::size_t i = 0; i < decks.shape(0); ++i) {
    d.deck(&hands(i, 0), any, left.data());
    for (std::size_t j = 0; j < cards.size(); ++j) cards[j] = decks(i, j);
    std::sort(left.begin(), left.end());
    std::sort(cards.begin(), cards.end());
    if (left != cards)
      throw nb::value_error(("deck " + std::to_string(i) + " does not hold the cards that its hand leaves").c_str());
  }
}

std::tuple<Out<std::int16_t>, Out<double>, bool> world_arrays(const Decision& d, const Hand& hands,
                                                              const std::vector<double>& weights, bool all) {
  auto cards = make<std::int16_t>({weights.size(), std::size_t(d.rules().hand)});
  auto chances = make<double>({weights.size()});
  std::copy(hands.begin(), hands.end(), cards.data());
  std::copy(weights.begin(), weights.end(), chances.data());
  return {cards, chances, all};
}

}  // namespace

void bind_hanabi_search(nb::module_& parent) {
  nb::module_ m = nb::cast<nb::module_>(parent.attr("hanabi"));
  nb::class_<Decision>(m, "Decision",
                       "A decision of one seat whose partners all play the same scripted player: the own hands that "
                       "are consistent with the partners' moves, and playouts from these hands.")
      .def(
          "__init__",
          [](Decision* self, const Codec& codec, In1<std::int32_t> tokens, int bot) {
            checked(bot, kBotNames.size(), "bot");
            const auto seen = tokens_in(tokens);
            new (self) Decision(codec, std::vector<int>(seen.begin(), seen.end()), Bot(bot));
          },
          "codec"_a, "tokens"_a, "bot"_a,
          "bot: an index into BOTS. Raises ValueError if no deal is consistent with the tokens, or if they do not end "
          "at a turn of the seat.")
      .def_prop_ro("deck_size", &Decision::left, "Number of cards in the deck.")
      .def(
          "blueprint",
          [](const Decision& d, std::uint64_t seed) {
            Rng rng(seed, 0);
            return draw_action(d.bot(), d.state(), d.marks(), rng);
          },
          "seed"_a, "Return the scripted player's action in this view. It does not depend on the seat's own cards.")
      .def(
          "consistent_hands",
          [](const Decision& d, std::size_t most, std::size_t n, std::size_t tries, std::uint64_t seed, double slip) {
            within(std::int64_t(most), 0, kMostListed, "most");
            within(std::int64_t(tries), 0, kMostTries, "tries");
            check_share(slip, "slip");
            Hand hands, kept;
            std::vector<std::uint64_t> ways;
            std::vector<double> weights;
            bool all = false;
            {
              nb::gil_scoped_release release;
              std::vector<int> order = in_order(d);
              const std::size_t size = std::size_t(d.rules().hand);
              all = d.list(most, hands, ways);
              for (std::size_t i = 0; i < ways.size(); ++i)
                if (const double weight = double(ways[i]) * d.likelihood(&hands[i * size], slip, order); weight > 0) {
                  kept.insert(kept.end(), &hands[i * size], &hands[i * size] + size);
                  weights.push_back(weight);
                }
              Hand hand(size);
              for (std::size_t i = 0; !all && i < tries && weights.size() < n; ++i) {
                Rng rng(seed, i);
                d.draw(rng, hand.data());
                if (const double weight = d.likelihood(hand.data(), slip, order); weight > 0) {
                  kept.insert(kept.end(), hand.begin(), hand.end());
                  weights.push_back(weight);
                }
              }
            }
            return world_arrays(d, kept, weights, all);
          },
          "most"_a, "n"_a, "tries"_a, "seed"_a, "slip"_a = 0.0,
          "Return own hands, int16 [k, hand] padded with -1, their weights, float64 [k], up to a factor, and whether "
          "the list is complete. It is complete if the rules allow at most `most` hands. Otherwise up to `tries` hands "
          "are drawn uniformly, and at most `n` are kept with which the partners could have made their moves. slip: "
          "the share of the partners' moves that the model assumes to be random. Raises ValueError if most is above "
          "1,000,000 or tries above 10,000,000.")
      .def(
          "decks",
          [](const Decision& d, In2<std::int16_t> hands, std::uint64_t seed) {
            check_hands(d, hands);
            auto out = make<std::uint8_t>({hands.shape(0), std::size_t(d.left())});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < hands.shape(0); ++i) {
              Rng rng(seed, i);
              d.deck(&hands(i, 0), rng, out.data() + i * std::size_t(d.left()));
            }
            return out;
          },
          "hands"_a, "seed"_a, "Return uint8 [k, deck_size]: the cards that each hand leaves for the deck, shuffled.")
      .def(
          "chances",
          [](const Decision& d, In2<std::int16_t> hands, double slip) {
            check_hands(d, hands);
            check_share(slip, "slip");
            auto out = make<double>({hands.shape(0)});
            nb::gil_scoped_release release;
            std::vector<int> order = in_order(d);
            for (std::size_t i = 0; i < hands.shape(0); ++i) out.data()[i] = d.likelihood(&hands(i, 0), slip, order);
            return out;
          },
          "hands"_a, "slip"_a = 0.0,
          "Return float64 [k]: the probability of the partners' moves if the own cards are these, int16 [k, hand]. "
          "slip: the share of the partners' moves that are taken to be random. Raises ValueError if a hand is not "
          "consistent with the view.")
      .def(
          "play",
          [](const Decision& d, In2<std::int16_t> hands, In2<std::uint8_t> decks, In1<std::int64_t> actions,
             std::uint64_t seed, int threads) {
            check_hands(d, hands);
            check_decks(d, hands, decks);
            for (std::size_t i = 0; i < actions.size(); ++i) check_legal(d.rules(), d.legal(), actions(i));
            auto out = make<std::int8_t>({hands.shape(0), actions.size()});
            nb::gil_scoped_release release;
            on_threads(hands.shape(0), threads, [&](std::size_t i) {
              const State s = d.with(&hands(i, 0), decks.shape(1) ? &decks(i, 0) : nullptr);
              for (std::size_t a = 0; a < actions.size(); ++a) {
                Rng rng(seed, i);
                out.data()[i * actions.size() + a] = std::int8_t(play_out(s, d.marks(), int(actions(a)), d.bot(), rng));
              }
            });
            return out;
          },
          "hands"_a, "decks"_a, "actions"_a, "seed"_a, "threads"_a = 1,
          "Return final scores, int8 [k, a], for each own hand and each action, int64 [a]. After the action, all seats "
          "play the scripted player. decks: uint8 [k, deck_size], in order of drawing. Players that choose at random "
          "use the same random numbers for all actions. Raises ValueError if a world is not consistent with the view.");

  Guarded<Tables> tables(nb::borrow<nb::class_<Tables>>(m.attr("Tables")));
  tables.def(
      "play_out",
      [](const Tables& t, In1<std::int64_t> actions, int bot, std::uint64_t seed, int threads) {
        checked(bot, kBotNames.size(), "bot");
        if (actions.size() != t.size())
          throw nb::value_error("the numbers of actions and tables differ; give one action per table");
        for (std::size_t i = 0; i < t.size(); ++i)
          if (!t.state(i).over()) check_legal(t.rules(), legal(t.state(i)), actions(i));
        auto out = make<std::int8_t>({t.size()});
        nb::gil_scoped_release release;
        on_threads(t.size(), threads, [&](std::size_t i) {
          Rng rng(seed, i);
          const State& s = t.state(i);
          out.data()[i] = std::int8_t(s.over() ? s.score() : play_out(s, t.marks(i), int(actions(i)), Bot(bot), rng));
        });
        return out;
      },
      "actions"_a, "bot"_a, "seed"_a, "threads"_a = 1,
      "Return final scores, int8 [n], after these actions, int64 [n], if then all seats play the scripted player "
      "`bot`, an index into BOTS. A finished game keeps its score. Each table has its own random stream.");
}
