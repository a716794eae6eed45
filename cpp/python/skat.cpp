// Python bindings of Skat: rules, random games, tracker, games in lockstep, worlds.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "python/tables.hpp"
#include "python/worlds.hpp"
#include "skat/labels.hpp"
#include "skat/tracker.hpp"
#include "skat/worlds.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::skat;

namespace {

Contract contract(int kind, bool hand, int level) {
  if (kind < 0 || kind > 5 || level < 0 || level > 3) throw nb::value_error("kind must be 0 to 5 and level 0 to 3");
  return {Kind(kind), hand, Level(level)};
}

void bind_rules(nb::module_& m) {
  nb::class_<Result>(m, "Result",
                     "Result of a game. value: the game value if the soloist has won, else minus twice the game value. "
                     "matadors: positive with, negative without, 0 in null. points: the soloist's card points, skat "
                     "included. soloist: -1 if all passed.")
      .def_prop_ro("soloist", [](const Result& r) { return int(r.soloist); })
      .def_ro("won", &Result::won)
      .def_ro("overbid", &Result::overbid)
      .def_ro("schneider", &Result::schneider)
      .def_ro("schwarz", &Result::schwarz)
      .def_prop_ro("matadors", [](const Result& r) { return int(r.matadors); })
      .def_prop_ro("points", [](const Result& r) { return int(r.points); })
      .def_prop_ro("tricks", [](const Result& r) { return int(r.tricks); })
      .def_prop_ro("value", [](const Result& r) { return int(r.value); })
      .def(
          "scores",
          [](const Result& r, bool seeger) {
            std::int16_t score[kPlayers];
            scores(r, seeger, score);
            return std::make_tuple(score[0], score[1], score[2]);
          },
          "seeger"_a);
  m.def(
      "settle",
      [](int kind, bool hand, int level, int bid, int soloist, const std::vector<int>& soloists_cards, int points,
         int tricks) {
        Cards cards = 0;
        for (int card : soloists_cards) cards |= bit(int(checked(card, kNumCards, "card")));
        return settle(contract(kind, hand, level), within(bid, 0, kHighestBid, "a bid"),
                      within(soloist, 0, kPlayers - 1, "a soloist"), cards, within(points, 0, kAllPoints, "points"),
                      within(tricks, 0, kTricks, "tricks"));
      },
      nb::kw_only(), "kind"_a, "hand"_a, "level"_a, "bid"_a, "soloist"_a, "soloists_cards"_a, "points"_a, "tricks"_a,
      "Return the Result of a contract in which the soloist has these card points (with the skat) and this number of "
      "tricks. kind: 0 to 3 for diamonds, hearts, spades and clubs, 4 grand, 5 null. level: the announcement, 0 none, "
      "1 schneider, 2 schwarz, 3 ouvert.");

  nb::class_<State> state(
      m, "State",
      "State of one game after the cards are dealt. kind and level are numbered as in `settle` and hold from the "
      "declaration on. phase: a number of the enumeration Phase in cpp/skat/rules.hpp.");
  bind_copies(state, "State");
  state
      .def(
          "__init__",
          [](State* self, In1<std::uint8_t> deck) {
            Cards hands[kPlayers] = {}, skat = 0;
            if (deck.size() != kNumCards) throw nb::value_error("a deck has 32 cards");
            for (std::size_t i = 0; i < kNumCards; ++i) {
              if (deck(i) >= kNumCards) throw nb::value_error("a deck contains every card exactly once");
              (i < std::size_t(kPlayers * kHand) ? hands[i / kHand] : skat) |= bit(deck(i));
            }
            if ((hands[0] | hands[1] | hands[2] | skat) != kAll)
              throw nb::value_error("a deck contains every card exactly once");
            new (self) State(new_game(hands, skat));
          },
          "deck"_a)
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
      .def_prop_ro("soloist", [](const State& s) { return int(s.auction.soloist); })
      .def_prop_ro("bid", [](const State& s) { return int(s.auction.bid()); })
      .def_prop_ro("phase", [](const State& s) { return int(s.phase); })
      .def_prop_ro("kind", [](const State& s) { return int(s.contract.kind); })
      .def_prop_ro("is_hand", [](const State& s) { return s.contract.hand; })
      .def_prop_ro("level", [](const State& s) { return int(s.contract.level); })
      .def_prop_ro("leader", [](const State& s) { return int(s.leader); })
      .def_prop_ro("soloists_tricks", [](const State& s) { return int(s.tricks); })
      .def_prop_ro(
          "soloists_points", [](const State& s) { return int(s.points); },
          "Card points in the soloist's tricks, without the skat.")
      .def("result", [](const State& s) {
        if (s.phase != Phase::kOver) throw nb::value_error("a game has a result only at its end");
        return result(s);
      });
}

struct Bulk {
  using Codec = skat::Codec;
  using Tables = skat::Tables;
  using Tracker = GameTracker;
  using Score = std::int16_t;
  static constexpr bool kWorlds = true;  // supports labels from deals other than the true one
  static constexpr Sizes sizes(const auto&) { return {kPlayers, kHistory, kMaxLength, kVocabulary, kNumCards}; }
  static void encode(const Codec&, const std::uint8_t* history, int seat, std::int16_t* tokens) {
    skat::encode(history, seat, tokens);
  }
  static void legal(const Tables& t, std::size_t i, bool* mask) {
    std::uint8_t actions[kActions];
    for (int k = legal_actions(t.state(i), actions); k-- > 0;) mask[actions[k]] = true;
  }
  static void history(const Tables& t, std::size_t i, std::uint8_t* out) { t.history(i, out); }
  static void label(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options,
                    std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
    skat::label(codec.seeger(), codec.evaluation(), history, seat, options, seed, stream, out);
  }
  static void scores(const Tables& t, std::size_t i, Score* out) {
    skat::scores(result(t.state(i)), t.codec().seeger(), out);
  }
};

void bind_sampler(nb::module_& m) {
  nb::class_<SeatView>(m, "SeatView", "One seat's view of a game, given by its token sequence.")
      .def(
          "__init__",
          [](SeatView* self, In1<std::int32_t> tokens) {
            SeatView v;
            bool ended = false;  // whether the end token was seen
            const auto seen = tokens_in(tokens);
            for (std::size_t i = 0; i < seen.size(); ++i) {
              const bool over = v.stage == SeatView::Stage::kOver;
              if (over ? ended || seen[i] != kEndToken : !may_come(v, seen[i]))
                throw nb::value_error(("no deal explains token " + std::to_string(i) + " of the view").c_str());
              ended = over;
              see(v, seen[i]);
            }
            new (self) SeatView(v);
          },
          "tokens"_a, "Raises ValueError if no deal is consistent with the tokens. The end token may occur once.");
  m.def(
      "complete_tokens",
      [](In1<std::int32_t> tokens) {
        SeatView v;
        std::vector<int> out;
        const auto lead = [&] {
          if (v.stage != SeatView::Stage::kLead) return;
          out.push_back(kSeatToken + v.current);
          see(v, out.back());
        };
        for (const int token : tokens_in(tokens)) {
          out.push_back(token);
          see(v, token);
          lead();
        }
        if (v.stage == SeatView::Stage::kOver) out.push_back(kEndToken);
        return to_array(out);
      },
      "tokens"_a,
      "Return a seat's complete token sequence, int32 [n], from its tokens of the deal and the actions. The added "
      "tokens follow from the rules: leaders of tricks and the end.");
  m.def(
      "turns",
      [](In2<std::int16_t> tokens, bool absolute) {
        auto out = make<std::int8_t>({tokens.shape(0), tokens.shape(1)}, -1);
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < tokens.shape(0); ++i) {
          SeatView v;
          for (std::size_t t = 0; t < tokens.shape(1) && v.stage != SeatView::Stage::kOver; ++t) {
            see(v, tokens(i, t));
            const int turn = v.turn();
            if (turn >= 0)
              out.data()[i * tokens.shape(1) + t] =
                  std::int8_t(absolute ? turn : (turn - v.seat + kPlayers) % kPlayers);
          }
        }
        return out;
      },
      "tokens"_a, "absolute"_a = false,
      "Return int8 [n, T]: the seat that acts with the token after each position of the sequences, int16 [n, T]; -1 "
      "for none. Seats are counted from the own seat, or are absolute if `absolute`.");
  nb::class_<Deals> sampler(
      m, "DealSampler",
      "Sampler of worlds for one seat's view: uniform over all consistent worlds, or weighted by odds.");
  bind_worlds<WorldRows<Deals, skat::read, skat::write, kHidden>, SeatView>(
      sampler, kNumCards,
      "log_odds: float64 [32, 3], for each card the log odds of its three places: the two seats after the view's own, "
      "then the skat. Raises ValueError if no deal is consistent with the view.",
      "Draw n worlds, int16 [n, 34]: the seat that each of the 32 cards was dealt to (3 is the skat), then the "
      "soloist's two discards; -1 for none.");
  sampler.def_prop_ro("assignments", &Deals::assignments, "Exact number of ways to assign the unseen cards to places.")
      .def_prop_ro("histories", &Deals::histories, "Exact number of ways to pick up and discard for each assignment.");
}

}  // namespace

void bind_skat(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("skat", "Skat: rules, random games, tracker, batched tables, worlds.");
  m.attr("CALLS") = std::vector<int>(kCallValues, kCallValues + kCalls);
  m.attr("MAX_ACTIONS") = kMaxActions;
  m.attr("MAX_LENGTH") = kMaxLength;
  bind_rules(m);
  nb::class_<Codec> codec(
      m, "Codec",
      "Tokens and outcomes of the game. seeger: whether scores are Seeger-Fabian points. labels: int16 [outcomes, 3], "
      "the scores of each outcome, the own seat first. evaluation: weights the sampled worlds of `labels`.");
  codec.def(
      "__init__",
      [](Codec* self, bool seeger, In<std::int16_t, nb::shape<-1, kPlayers>> labels, const Evaluation* evaluation) {
        new (self) Codec(seeger, {labels.data(), labels.size()},
                         evaluation ? std::optional<Evaluation>(*evaluation) : std::nullopt);
      },
      "seeger"_a, "labels"_a, "evaluation"_a = nb::none());
  bind_tables<Bulk>(m, codec);
  bind_sampler(m);
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
      "Play uniformly random games. Returns histories, uint8 [n, 194] (the 32 cards dealt, then the actions, padded "
      "with 255), and scores, int16 [n, 3].");
}
