// Python bindings of The Crew: missions, rules, random games, tracker, games in lockstep.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "crew/labels.hpp"
#include "python/tables.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::crew;

namespace {

// Raises ValueError if the mission would leave a player without an action, or if a rule is about a member whom the
// allocation does not name. trickformer.games.missions checks more.
void check(const Mission& m) {
  const bool tasked = m.allocation <= Allocation::kDistribution, draft = m.allocation == Allocation::kDraft;
  if (tasked != (m.tasks > 0))
    throw nb::value_error("tasks and allocation do not fit: draft, decision and distribution need tasks, others none");
  int tokens = 0;
  unsigned seen = 0;
  for (int i = 0; i < m.tasks; ++i) {
    if (m.tiles[i] == kNoTile) continue;
    if (seen >> m.tiles[i] & 1) throw nb::value_error("a task token lies on two tasks; put each token on one task");
    seen |= 1u << m.tiles[i];
    ++tokens;
  }
  const bool swap = m.has(Rule::kSwapTiles), move = m.has(Rule::kMoveTile);
  if ((swap || move) && (!draft || swap == move || tokens < (swap ? 2 : 1) || (move && tokens == m.tasks)))
    throw nb::value_error("the rule to swap or move task tokens needs a draft, and two tokens or a task without one");
  if (m.any(Rule::kSick | Rule::kOneTrick | Rule::kFirstAndLast) != (m.allocation == Allocation::kMember))
    throw nb::value_error(
        "rules and allocation do not fit: a rule about one member and allocation by member need each other");
  if (m.has(Rule::kRoles) != (m.allocation == Allocation::kRoles))
    throw nb::value_error("rules and allocation do not fit: the rule of roles and allocation by roles need each other");
  if (m.distress == 2) throw nb::value_error("distress is 2; give 1 to pass cards to the left, or 3 to the right");
}

void bind_missions(nb::module_& m) {
  nb::class_<Mission> mission(m, "Mission",
                              "A mission of the logbook. Missions are written in trickformer.games.missions.");
  bind_copies(mission, "Mission");
  mission
      .def(
          "__init__",
          [](Mission* self, int id, const std::vector<int>& tiles, int communication, int allocation, int distress,
             const std::vector<int>& rules) {
            if (id < 1 || id > 250 || tiles.size() > kMaxTasks || rules.size() > std::size_t(kMaxRules))
              throw nb::value_error("a mission has a number from 1 to 250, at most 10 tasks and at most 2 rules");
            Mission made;
            made.id = std::uint8_t(id);
            made.tasks = std::uint8_t(tiles.size());
            for (std::size_t i = 0; i < tiles.size(); ++i)
              made.tiles[i] = std::uint8_t(checked(tiles[i], kTiles, "task token"));
            made.communication = Communication(checked(communication, 4, "communication"));
            made.allocation = Allocation(checked(allocation, 6, "allocation"));
            made.distress = std::uint8_t(checked(distress, kPlayers, "distress"));
            for (int rule : rules) made.rules |= 1u << checked(rule, kRules, "rule");
            check(made);
            new (self) Mission(made);
          },
          "id"_a, "tiles"_a, "communication"_a, "allocation"_a, "distress"_a, "rules"_a,
          "tiles: the token of each task, 10 for none. communication, allocation, rules: numbers of the enumerations "
          "in cpp/crew/types.hpp. distress: 0 for none, 1 to pass cards to the left, 3 to the right.")
      .def_prop_ro("id", [](const Mission& s) { return int(s.id); })
      .def_prop_ro("tasks", [](const Mission& s) { return int(s.tasks); })
      .def_prop_ro(
          "longest", [](const Mission& s) { return longest(s); }, "Number of tokens of the mission's longest sequence.")
      .def_prop_ro("tokens", [](const Mission& s) {
        std::uint8_t tokens[kMaxPrefix];
        const int n = mission_tokens(s, tokens);
        return std::vector<int>(tokens, tokens + n);
      });
}

std::vector<std::tuple<int, int, int, bool>> tasks_of(const State& s) {
  std::vector<std::tuple<int, int, int, bool>> out;
  for (int i = 0; i < s.mission.tasks; ++i) {
    const Task& task = s.tasks[i];
    out.emplace_back(i < s.revealed ? int(task.card) : -1, int(task.tile), int(task.owner), task.done);
  }
  return out;
}

void bind_rules(nb::module_& m) {
  nb::class_<State> state(m, "State",
                          "State of one mission after the cards are dealt. phase: a number of the enumeration Phase in "
                          "cpp/crew/state.hpp.");
  bind_copies(state, "State");
  state
      .def(
          "__init__",
          [](State* self, const Mission& mission, In1<std::uint8_t> deck) {
            Cards hands[kPlayers] = {}, all = 0;
            if (deck.size() != kNumCards) throw nb::value_error("a deck has 40 cards");
            for (std::size_t i = 0; i < kNumCards; ++i) {
              if (deck(i) >= kNumCards) throw nb::value_error("a deck contains every card exactly once");
              hands[i / kHand] |= bit(deck(i));
              all |= bit(deck(i));
            }
            if (all != kAll) throw nb::value_error("a deck contains every card exactly once");
            new (self) State(new_game(mission, hands));
          },
          "mission"_a, "deck"_a)
      .def("current_player", [](const State& s) { return s.over()        ? -4
                                                         : s.is_chance() ? -1
                                                                         : int(s.current); })
      .def("is_terminal", [](const State& s) { return s.over(); })
      .def("legal_actions", [](const State& s) { return cards_of(legal(s)); })
      .def("apply_action",
           [](State& s, int action) {
             if (action < 0 || action >= kActions || !(legal(s) >> action & 1)) throw nb::value_error("illegal action");
             apply(s, action);
           })
      .def("hand", [](const State& s, std::int64_t p) { return cards_of(s.hand[checked(p, kPlayers, "seat")]); })
      .def_prop_ro("mission", [](const State& s) { return int(s.mission.id); })
      .def_prop_ro(
          "distress", [](const State& s) { return int(s.mission.distress); },
          "Number of seats by which each player passes a card: 0 for none, 1 to the left, 3 to the right.")
      .def_prop_ro("phase", [](const State& s) { return int(s.phase); })
      .def_prop_ro(
          "step", [](const State& s) { return int(s.step); },
          "Number of answers, passes or draws so far in this phase.")
      .def_prop_ro("commander", [](const State& s) { return int(s.commander); })
      .def_prop_ro("leader", [](const State& s) { return int(s.leader); })
      .def_prop_ro(
          "member", [](const State& s) { return int(s.member); },
          "Seat of the crew member whom the mission's rule singles out, or -1.")
      .def_prop_ro(
          "first_four", [](const State& s) { return int(s.first_four); },
          "Seat that must win the first four tricks in a mission with roles, or -1.")
      .def_prop_ro(
          "last", [](const State& s) { return int(s.last); },
          "Seat that must win the last trick in a mission with roles, or -1.")
      .def_prop_ro("tasks", tasks_of,
                   "Tasks in the order in which they are revealed, each as (card, token, owner, done). The card is -1 "
                   "before it is revealed, the owner -1 while nobody has the task.")
      .def_prop_ro(
          "messages",
          [](const State& s) {
            std::vector<std::optional<std::tuple<int, int, int>>> out;
            for (const Message& message : s.message)
              if (message.label)
                out.emplace_back(std::in_place, message.label, message.card, message.before);
              else
                out.emplace_back();
            return out;
          },
          "Message of each seat: None, or (label, card, number of cards played before the message). label: the action "
          "that gives the card's position.")
      .def_prop_ro("plays", [](const State& s) { return std::vector<int>(s.plays, s.plays + s.num_plays); })
      .def_prop_ro("winners", [](const State& s) { return std::vector<int>(s.winner, s.winner + s.trick()); })
      .def_prop_ro("passed_cards", [](const State& s) { return std::vector<int>(s.passed, s.passed + kPlayers); })
      .def_prop_ro("drawn_cards", [](const State& s) { return std::vector<int>(s.drawn, s.drawn + kPlayers); })
      .def_prop_ro(
          "result", [](const State& s) { return int(s.result); },
          "Result: 1 for success, -1 for failure, 0 if the mission is not over.");
}

struct Bulk {
  using Codec = Logbook;
  using Tables = crew::Tables;
  using Tracker = MissionTracker;
  using Score = std::int8_t;
  static constexpr bool kWorlds = true;  // supports labels from deals other than the true one
  static constexpr Sizes sizes(const auto&) { return {kPlayers, kHistory, kMaxLength, kVocabulary, kDeal}; }
  static void encode(const Codec& book, const std::uint8_t* history, int seat, std::int16_t* tokens) {
    crew::encode(book, history, seat, tokens);
  }
  static void legal(const Tables& t, std::size_t i, bool* mask) {
    for (Actions rest = crew::legal(t.state(i)); rest;) mask[take_lowest(rest)] = true;
  }
  static void history(const Tables& t, std::size_t i, std::uint8_t* out) { std::copy_n(t.history(i), kHistory, out); }
  static void label(const Codec& book, const std::uint8_t* history, int seat, const LabelOptions& options,
                    std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
    crew::label(book, history, seat, options, seed, stream, out);
  }
  static void scores(const Tables& t, std::size_t i, Score* out) {
    std::fill(out, out + kPlayers, Score(t.state(i).result > 0));
  }
};

void bind_tokens(nb::module_& m) {
  m.def(
      "complete_tokens",
      [](const Logbook& book, In1<std::int32_t> tokens) {
        SeatView v;
        std::vector<int> out;
        for (const int token : tokens_in(tokens)) {
          out.push_back(v.stage == SeatView::Stage::kGame ? as_token(v, token) : token);
          see(book, v, out.back());
          while (implied_token(v) >= 0 && out.back() != kEndToken) {
            out.push_back(implied_token(v));
            see(v, out.back());
          }
        }
        return to_array(out);
      },
      "book"_a, "tokens"_a,
      "Return a seat's complete token sequence, int32 [n], from its tokens of the mission, the deal and the actions. "
      "The added tokens follow from the rules: owners of tasks, leaders of tricks and the end.");
  m.def(
      "events",
      [](const Logbook& book, In1<std::int32_t> tokens) { return seen_events(events(book, tokens_in(tokens))); },
      "book"_a, "tokens"_a,
      "Return (actor, action, seen) for each event of a token sequence. actor: a seat, or -1 for chance. action: None "
      "if hidden or absent. seen: the event's tokens. Raises ValueError if no view has these tokens.");
}

}  // namespace

void bind_crew(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("crew", "The Crew: missions, rules, random games, tracker, batched tables.");
  m.attr("MAX_LENGTH") = kMaxLength;
  m.attr("PLAY_TOKEN") = kPlayToken;
  m.attr("RULE_TOKEN") = kRuleToken;
  m.attr("MAX_RULES") = kMaxRules;
  m.attr("MAX_ACTIONS") = kMaxActionsAfterDeal;
  bind_missions(m);
  bind_rules(m);
  nb::class_<Logbook> book(m, "Logbook", "The missions from which a game's mission is drawn.");
  book.def(nb::init<std::vector<Mission>>(), "missions"_a);
  bind_tables<Bulk>(m, book).def(
      "__init__",
      [](Tables* self, std::shared_ptr<const Logbook> book, In2<std::uint8_t> deals, In2<double> draws) {
        check_deals(deals, kDeal);
        const std::size_t n = deals.shape(0);
        if (draws.shape(0) != n || draws.shape(1) != kPlayers) throw nb::value_error("draws must be float64 [n, 4]");
        new (self) Tables(std::move(book), deals.data(), draws.data(), n);
      },
      "codec"_a, "deals"_a, "draws"_a,
      "deals: uint8 [n, 77], the chance outcomes of each game: the mission, the deck of cards and the deck of tasks. "
      "draws: float64 [n, 4] in [0, 1): by seat, the relative position of the card that it draws among those it may "
      "draw. Raises ValueError if a deal is not valid, IndexError if the logbook lacks a mission.");
  bind_tokens(m);
  m.def(
      "random_games",
      [](const Logbook& book, std::uint64_t seed, std::uint64_t first, std::size_t n, int tries) {
        if (tries < 1) throw nb::value_error("tries must be at least 1");
        auto history = make<std::uint8_t>({n, kHistory});
        auto result = make<std::int8_t>({n});
        nb::gil_scoped_release release;
        random_games(book.missions(), seed, first, n, tries, history.data(), result.data());
        return std::make_pair(history, result);
      },
      "book"_a, "seed"_a, "first"_a, "n"_a, "tries"_a = 1,
      "Play uniformly random games. Every second game is dealt anew up to `tries` times until it succeeds. Returns the "
      "histories, uint8 [n, H] (the mission, 40 cards dealt, all later actions, padded with 255), and the successes, "
      "int8 [n], 1 or 0.");
}
