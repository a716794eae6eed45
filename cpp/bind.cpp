// The Python face of the core: searches, the decoder, Hearts. Arrays go in and out as numpy; the GIL is released
// wherever work is done.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bind_tables.hpp"
#include "bind_tracker.hpp"
#include "bind_worlds.hpp"
#include "gomcts.hpp"
#include "gomcts_run.hpp"
#include "gpt2.hpp"
#include "hearts_labels.hpp"
#include "hearts_pimc.hpp"
#include "hearts_players.hpp"
#include "hearts_random.hpp"
#include "hearts_rules_player.hpp"
#include "hearts_sampler.hpp"
#include "hearts_text.hpp"
#include "hearts_tracker.hpp"

using namespace nb::literals;
using namespace trickformer;

namespace {

Out<std::int32_t> to_numpy(const std::vector<int>& values) {
  auto out = make<std::int32_t>({values.size()});
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// Searches and the table of outcome values that they share.
struct SearchBatch {
  std::vector<float> outcome_values;
  std::size_t players;
  gomcts::Batch batch;
};

void bind_gomcts(nb::module_& parent) {
  using namespace gomcts;
  nb::module_ m = parent.def_submodule("gomcts", "Search over observation sequences");
  nb::class_<SearchBatch>(m, "SearchBatch")
      .def(
          "__init__",
          [](SearchBatch* self, In2<float> outcome_values) {
            new (self) SearchBatch{{outcome_values.data(), outcome_values.data() + outcome_values.size()},
                                   outcome_values.shape(1),
                                   {}};
          },
          "outcome_values"_a)
      .def(
          "add",
          [](SearchBatch& self, nb::handle given, std::uint64_t seed, int root, int runs, int steps, double c,
             double threshold, double mu, int wave, bool legal, bool early, bool facts, bool action_values,
             bool leaf_action_values) {
            std::unique_ptr<Tracker> tracker = copy_tracker(given);
            if (!tracker->my_turn()) throw nb::value_error("a search begins at the own turn");
            if (tracker->vocabulary() > 256) throw nb::value_error("a vocabulary has at most 256 tokens");
            if (runs < 1 || steps < 0 || wave < 1) throw nb::value_error("runs and wave are 1 or more, steps 0 or more");
            self.batch.add(Search(std::move(tracker), {runs, steps, c, threshold, mu, wave, legal, early, facts,
                                                    action_values, leaf_action_values}, seed, root,
                                  self.outcome_values, int(self.players)));
          },
          "tracker"_a, "seed"_a, "root"_a, nb::kw_only(), "runs"_a, "steps"_a, "c"_a, "threshold"_a, "mu"_a,
          "wave"_a, "legal"_a, "early"_a, "facts"_a = false, "action_values"_a = false,
          "leaf_action_values"_a = false)
      .def("__len__", [](const SearchBatch& self) { return self.batch.size(); })
      .def("advance",
           [](SearchBatch& self) {
             nb::gil_scoped_release release;
             return self.batch.advance();
           })
      .def("branches",
           [](const SearchBatch& self) {
             std::vector<int> parents, tokens;
             std::vector<float> facts;
             self.batch.branches(parents, tokens, facts);
             auto rows = make<float>({tokens.size(), tokens.empty() ? 0 : facts.size() / tokens.size()});
             std::copy(facts.begin(), facts.end(), rows.data());
             return nb::make_tuple(to_numpy(parents), to_numpy(tokens), rows);
           })
      .def("give_nodes",
           [](SearchBatch& self, In1<std::int32_t> nodes) {
             if (nodes.size() != self.batch.asked_nodes()) throw nb::value_error("one node for each branch");
             self.batch.give_nodes({nodes.data(), nodes.size()});
           })
      .def("policy_nodes", [](const SearchBatch& self) { return to_numpy(self.batch.policy_nodes()); })
      .def("value_nodes", [](const SearchBatch& self) { return to_numpy(self.batch.value_nodes()); })
      .def("answer",
           [](SearchBatch& self, In2<float> policy, In2<float> values, std::optional<In2<float>> actions) {
             if (policy.shape(0) != self.batch.asked_policies() || policy.shape(1) > 256 ||
                 values.shape(0) != self.batch.asked_values() || values.shape(1) < 1)
               throw nb::value_error("one row of logits (at most 256) for each policy node, of values for each value node");
             if (actions && (actions->shape(0) != policy.shape(0) || actions->shape(1) != policy.shape(1)))
               throw nb::value_error("action values have the shape of the policy");
             nb::gil_scoped_release release;
             self.batch.answer(policy.data(), policy.shape(1), actions ? actions->data() : nullptr, values.data(),
                               values.shape(1));
           },
           "policy"_a, "values"_a, "actions"_a = nb::none())
      .def(
          "run",
          [](SearchBatch& self, gpt2::Engine& engine, bool actions) {
            if (engine.config().vocab > 256) throw nb::value_error("a vocabulary has at most 256 tokens");
            nb::gil_scoped_release release;
            gomcts::run(self.batch, engine, actions);
          },
          "engine"_a, "actions"_a, "All searches to their end on the CPU's engine; actions: they use action values.")
      .def("edges",
           [](const SearchBatch& self, std::int64_t i) {
             nb::list out;
             for (const Edge& e : self.batch[checked(i, self.batch.size(), "search")].root_edges())
               out.append(nb::make_tuple(e.token, e.value, e.visits));
             return out;
           })
      .def("best", [](const SearchBatch& self,
                      std::int64_t i) { return self.batch[checked(i, self.batch.size(), "search")].best(); })
      .def("illegal", [](const SearchBatch& self,
                         std::int64_t i) { return self.batch[checked(i, self.batch.size(), "search")].illegal(); })
      .def("engine_nodes", [](const SearchBatch& self) {
        std::vector<int> out;
        for (std::size_t i = 0; i < self.batch.size(); ++i)
          for (int node : self.batch[i].engine_nodes()) out.push_back(node);
        return to_numpy(out);
      });
}

struct HeartsBulk {
  using Table = hearts::Table;
  using Tables = hearts::Tables;
  using Tracker = hearts::HandTracker;
  using Score = std::int8_t;
  static constexpr Sizes sizes(const auto&) {
    return {hearts::kPlayers, hearts::kHistory, hearts::kMaxLength, hearts::kVocabulary};
  }
  static void encode(const Table&, const std::uint8_t* history, int seat, std::int16_t* tokens) {
    hearts::encode(history, seat, tokens);
  }
  static void legal(const Tables& t, std::size_t i, bool* mask) {
    for (hearts::Cards rest = t.current(i) < 0 ? 0 : hearts::legal(t.state(i)); rest;) mask[take_lowest(rest)] = true;
  }
  static constexpr bool kQuick = true;   // labels by a quick network
  static constexpr bool kWorlds = true;  // and from other deals than the true one
  static void history(const Tables& t, std::size_t i, std::uint8_t* out) { hearts::history(t.state(i), out); }
  static void label(const Table& table, const std::uint8_t* history, int seat, const LabelOptions& options,
                    std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
    hearts::label(table.rules(), history, seat, options, seed, stream, out);
  }
  static void scores(const Tables& t, std::size_t i, Score* out) {
    hearts::scores(t.state(i).rules, t.state(i).taken, out);
  }
};

void bind_hearts(nb::module_& parent) {
  using namespace hearts;
  nb::module_ m = parent.def_submodule("hearts", "Hearts: rules, random hands, tracker, batched tables");
  nb::class_<Rules>(m, "Rules")
      .def(
          "__init__",
          [](Rules* self, bool pass_cards, bool no_pts_on_first_trick, bool can_lead_any_club, bool jd_bonus,
             bool avoid_all_tricks_bonus, bool must_break_hearts, bool qs_breaks_hearts,
             bool can_lead_hearts_instead_of_qs) {
            new (self) Rules{pass_cards,       no_pts_on_first_trick, can_lead_any_club,
                             jd_bonus,         avoid_all_tricks_bonus, must_break_hearts,
                             qs_breaks_hearts, can_lead_hearts_instead_of_qs};
          },
          nb::kw_only(), "pass_cards"_a = true, "no_pts_on_first_trick"_a = true, "can_lead_any_club"_a = false,
          "jd_bonus"_a = false, "avoid_all_tricks_bonus"_a = false, "must_break_hearts"_a = true,
          "qs_breaks_hearts"_a = true, "can_lead_hearts_instead_of_qs"_a = false);

  nb::class_<State>(m, "State", "One hand: the twin of OpenSpiel's state, from the moment the cards are dealt.")
      .def(
          "__init__",
          [](State* self, const Rules& rules, int direction, In1<std::uint8_t> deck) {
            Cards hands[kPlayers] = {};
            if (deck.size() != kNumCards) throw nb::value_error("a deck has 52 cards");
            for (std::size_t i = 0; i < kNumCards; ++i) hands[i % kPlayers] |= bit(deck(i));
            if ((hands[0] | hands[1] | hands[2] | hands[3]) != kAll)
              throw nb::value_error("a deck holds every card once");
            if (direction < 0 || direction > 3) throw nb::value_error("a direction is 0 to 3");
            new (self) State(new_hand(rules, direction, hands));
          },
          "rules"_a, "direction"_a, "deck"_a)
      .def("current_player", [](const State& s) { return s.phase == Phase::kOver ? -4 : int(s.current); })
      .def("is_terminal", [](const State& s) { return s.phase == Phase::kOver; })
      .def("legal_actions",
           [](const State& s) {
             nb::list out;
             for (Cards rest = legal(s); rest;) out.append(take_lowest(rest));
             return out;
           })
      .def("apply_action",
           [](State& s, int card) {
             if (card < 0 || card >= kNumCards || !(legal(s) & bit(card))) throw nb::value_error("illegal card");
             apply(s, card);
           })
      .def("scores",
           [](const State& s) {
             std::int8_t score[kPlayers];
             scores(s.rules, s.taken, score);
             return nb::make_tuple(score[0], score[1], score[2], score[3]);
           })
      .def("information_state_string", &information_state_string, "player"_a);

  nb::class_<Table> table(m, "Table");
  table.def(
          "__init__",
          [](Table* self, const Rules& rules, nb::ndarray<const std::int8_t, nb::shape<-1, 4>, nb::c_contig> labels) {
            new (self) Table(rules, {labels.data(), labels.size()});
          },
          "rules"_a, "labels"_a);
  bind_tables<HeartsBulk>(m, table);

  m.def(
      "random_hands",
      [](const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n) {
        auto history = make<std::uint8_t>({n, kHistory});
        auto score = make<std::int8_t>({n, kPlayers});
        nb::gil_scoped_release release;
        random_hands(rules, seed, first, n, history.data(), score.data());
        return std::make_pair(history, score);
      },
      "rules"_a, "seed"_a, "first"_a, "n"_a);
  m.def(
      "mixed_hands",
      [](const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, double random, double noise,
         const QuickNet* net, double quick) {
        if (quick > 0 && !net) throw nb::value_error("there is no network for the seats that play by one");
        if (net && (net->facts != kFacts || net->actions != kVocabulary))
          throw nb::value_error("a network of another game");
        auto history = make<std::uint8_t>({n, kHistory});
        auto score = make<std::int8_t>({n, kPlayers});
        auto seated = make<std::uint8_t>({n, kPlayers});
        {
          nb::gil_scoped_release release;
          mixed_hands(rules, seed, first, n, {random, quick, noise, net}, history.data(), score.data(), seated.data());
        }
        return nb::make_tuple(history, score, seated);
      },
      "rules"_a, "seed"_a, "first"_a, "n"_a, "random"_a, "noise"_a = 0.0,
      "net"_a = nb::none(), "quick"_a = 0.0);
}

// ------------------------------------------------------------------------------------------ GPT-2 decoder

namespace gpt2_binding {

using trickformer::gpt2::Config;
using trickformer::gpt2::Engine;
using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

std::span<const std::int32_t> ids(const Ids& array) { return {array.data(), array.size()}; }

void create(Engine* self, const nb::dict& sizes, float epsilon, const nb::dict& tensors, const Floats& values,
            bool bf16, const std::string& isa) {
    const auto size = [&](const char* name) { return nb::cast<int>(sizes[name]); };
    const Config config{size("n_layer"), size("n_embd"),     size("n_head"),   size("n_inner"),
                        size("vocab_size"), size("n_positions"), size("n_outcomes"),
                        size("n_facts"),    size("n_actions") > 0,   size("masked") > 0, epsilon};
    std::vector<Floats> kept;  // the spans stay valid as long as the constructor reads them
    const auto tensor = [&](const std::string& name) -> std::span<const float> {
        if (!tensors.contains(name.c_str())) throw std::invalid_argument("there is no tensor " + name);
        kept.push_back(nb::cast<Floats>(tensors[name.c_str()]));
        return {kept.back().data(), kept.back().size()};
    };
    new (self) Engine(config, tensor, {values.data(), values.size()}, bf16, isa);
}

Out<std::int32_t> extend(Engine& self, const Ids& parents, const Ids& tokens,
                                            const std::optional<Ids>& lengths,
                                            const std::optional<Floats>& facts) {
    if (lengths && lengths->size() != parents.size())
        throw std::invalid_argument("there are " + std::to_string(parents.size()) + " parents, but " +
                                    std::to_string(lengths->size()) + " lengths");
    const int n = self.config().facts;
    if (facts && (facts->ndim() != 2 || facts->shape(0) != tokens.size() || facts->shape(1) != std::size_t(n)))
        throw std::invalid_argument("facts are [tokens, " + std::to_string(n) + "]");
    if (n && !facts && tokens.size()) throw std::invalid_argument("this model needs the facts of each token");
    auto nodes = make<std::int32_t>({tokens.size()});
    const nb::gil_scoped_release released;
    self.extend(ids(parents), ids(tokens), lengths ? lengths->data() : nullptr,
                facts ? std::span<const float>{facts->data(), facts->size()} : std::span<const float>{}, nodes.data());
    return nodes;
}

template <void (Engine::*Head)(std::span<const std::int32_t>, float*)>
Out<float> head(Engine& self, const Ids& nodes, int columns) {
    auto out = make<float>({nodes.size(), static_cast<std::size_t>(columns)});
    const nb::gil_scoped_release released;
    (self.*Head)(ids(nodes), out.data());
    return out;
}

void bind(nb::module_& m) {
    m.def("gpt2_instruction_sets", &trickformer::gpt2::instruction_sets, nb::arg("bf16"));
    nb::class_<Engine>(m, "GPT2Engine", "Transformer inference on the CPU; see trickformer.models.engine.Engine.")
        .def("__init__", create, nb::arg("sizes"), nb::arg("epsilon"), nb::arg("tensors"), nb::arg("values"),
             nb::arg("bf16"), nb::arg("isa") = "")
        .def("extend", extend, nb::arg("parents"), nb::arg("tokens"), nb::arg("lengths") = nb::none(),
             nb::arg("facts") = nb::none())
        .def("policy", [](Engine& e, const Ids& n) { return head<&Engine::policy>(e, n, e.config().vocab); },
             nb::arg("nodes"))
        .def("outcomes", [](Engine& e, const Ids& n) { return head<&Engine::outcomes>(e, n, e.config().outcomes); },
             nb::arg("nodes"))
        .def("values", [](Engine& e, const Ids& n) { return head<&Engine::values>(e, n, e.players()); },
             nb::arg("nodes"))
        .def("action_values",
             [](Engine& e, const Ids& n) { return head<&Engine::action_values>(e, n, e.config().vocab); },
             nb::arg("nodes"))
        .def("hidden_states",
             [](Engine& e, const Ids& n) { return head<&Engine::hidden_states>(e, n, e.config().embd); },
             nb::arg("nodes"))
        .def("release", [](Engine& e, const Ids& n) { e.release(ids(n)); }, nb::arg("nodes"))
        .def("reset", &Engine::reset)
        .def_prop_ro("used", &Engine::used)
        .def_prop_ro("generation", &Engine::generation)
        .def_prop_ro("vocab_size", [](const Engine& e) { return e.config().vocab; })
        .def_prop_ro("n_outcomes", [](const Engine& e) { return e.config().outcomes; })
        .def_prop_ro("n_facts", [](const Engine& e) { return e.config().facts; })
        .def_prop_ro("masked", [](const Engine& e) { return e.config().masked; })
        .def_prop_ro("has_action_values", [](const Engine& e) { return e.config().action_values; })
        .def_prop_ro("width", [](const Engine& e) { return e.config().embd; })
        .def_prop_ro("n_positions", [](const Engine& e) { return e.config().positions; })
        .def_prop_ro("dtype", [](const Engine& e) { return e.bf16() ? "bfloat16" : "float32"; })
        .def_prop_ro("isa", &Engine::isa);
}

}  // namespace gpt2_binding

// ---- Hearts: what a seat saw, the deal sampler, and the players that build on it

hearts::Cards hearts_cards(const std::vector<int>& list) {
  hearts::Cards cards = 0;
  for (const int card : list) {
    if (card < 0 || card >= hearts::kNumCards) throw std::invalid_argument("a card is 0..51");
    cards |= hearts::bit(card);
  }
  return cards;
}

[[noreturn]] void hearts_refuse(const hearts::SeatView& v, int fault) {
  switch (fault) {
    case hearts::kBadDeal: throw std::invalid_argument("a seat is dealt 13 different cards");
    case hearts::kBadPasses: throw std::invalid_argument("three different own cards are passed, or none without a pass");
    case hearts::kBadReceived: throw std::invalid_argument("three new cards are received in a pass, none without one");
    case hearts::kBadLeader: throw std::invalid_argument("the leader of the first trick cannot hold the two of clubs");
    default: break;
  }
  const int card = v.plays[fault];
  throw std::invalid_argument("no deal lets the seat on turn play card " + std::to_string(card) + " as play number " +
                              std::to_string(fault));
}

hearts::SeatView hearts_seat_view(const hearts::Rules& rules, int seat, int direction, const std::vector<int>& dealt,
                                  const std::vector<int>& passes, const std::vector<int>& received, int leader,
                                  const std::vector<int>& plays, bool on_turn) {
  if (seat < 0 || seat >= hearts::kPlayers) throw std::invalid_argument("a seat is 0..3");
  if (direction < 0 || direction >= hearts::kPlayers) throw std::invalid_argument("a pass direction is 0..3");
  if (leader >= hearts::kPlayers) throw std::invalid_argument("a leader is 0..3, or negative before the play");
  if (passes.size() > hearts::kPass || plays.size() > hearts::kNumCards)
    throw std::invalid_argument("more passes or plays than a hand has");
  hearts_cards(passes);
  hearts_cards(plays);
  hearts::SeatView v;
  v.rules = rules;
  v.seat = std::uint8_t(seat);
  v.direction = std::uint8_t(direction);
  v.dealt = hearts_cards(dealt);
  v.received = hearts_cards(received);
  v.leader = leader < 0 ? hearts::kNoAction : std::uint8_t(leader);
  v.on_turn = on_turn;
  for (const int card : passes) v.passes[v.num_passes++] = std::uint8_t(card);
  for (const int card : plays) v.plays[v.num_plays++] = std::uint8_t(card);
  return v;
}

struct DealSampler {
  DealSampler(const hearts::SeatView& v, std::optional<LogOdds<2>> log_odds) {
    if (log_odds) check_shape(*log_odds, hearts::kNumCards);
    int fault = 0;
    deals.reset(hearts::new_deals(v, fault, log_odds ? log_odds->data() : nullptr));
    if (!deals) hearts_refuse(v, fault);
  }
  struct Free {
    void operator()(hearts::Deals* d) const { hearts::free_deals(d); }
  };
  std::unique_ptr<hearts::Deals, Free> deals;
};

void bind_hearts_search(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("hearts"));
  nb::class_<hearts::SeatView>(m, "SeatView", "What one seat has seen of a hand of Hearts.")
      .def("__init__",
           [](hearts::SeatView* self, const hearts::Rules& rules, int seat, int direction, const std::vector<int>& dealt,
              const std::vector<int>& passes, const std::vector<int>& received, int leader,
              const std::vector<int>& plays, bool on_turn) {
             new (self) hearts::SeatView(
                 hearts_seat_view(rules, seat, direction, dealt, passes, received, leader, plays, on_turn));
           },
           nb::arg("rules"), nb::arg("seat"), nb::arg("direction"), nb::arg("dealt"), nb::arg("passes"),
           nb::arg("received"), nb::arg("leader"), nb::arg("plays"), nb::arg("on_turn"),
           "leader: -1 before the play. Raises ValueError on numbers out of range.");
  nb::class_<DealSampler> sampler(m, "DealSampler", "Worlds of one seat's view: uniform by counting, or by odds.");
  sampler
      .def(nb::init<const hearts::SeatView&, std::optional<LogOdds<2>>>(), nb::arg("view"),
           nb::arg("log_odds") = nb::none(),
           "log_odds: float64 [52, 3], who rather holds each card: the seats after the own one. Raises ValueError if no "
           "deal explains the view.")
      .def_prop_ro("assignments", [](const DealSampler& s) { return hearts::num_assignments(*s.deals); },
                   "Ways to lay the unseen cards, exact.")
      .def_prop_ro("pass_histories", [](const DealSampler& s) { return hearts::num_pass_histories(*s.deals); },
                   "Pass histories for each of them, exact.")
      .def("sample",
           [](const DealSampler& s, std::uint64_t seed, std::size_t n) {
             auto hidden = make<std::int16_t>({n, std::size_t(hearts::kHidden)});
             nb::gil_scoped_release release;
             hearts::sample_worlds(*s.deals, seed, 0, n, hidden.data());
             return hidden;
           },
           nb::arg("seed"), nb::arg("n"), "int16 [n, 64]: the seat each card was dealt to, then the 12 passes, -1: none.");
  using Row = const std::int16_t*;
  bind_worlds(
      sampler, hearts::kNumCards, hearts::kHidden,
      [](const DealSampler& s, Row row) { return hearts::explains(*s.deals, row); },
      [](const DealSampler& s, Row row) { return hearts::log_prob(*s.deals, row); },
      [](const DealSampler& s, Row row, std::int8_t* at) { hearts::places(*s.deals, row, at); },
      [](const DealSampler& s, double* out) { hearts::marginals(*s.deals, out); });
  m.def("rules_player",
        [](const std::vector<const hearts::SeatView*>& views) {
          std::vector<int> cards;
          cards.reserve(views.size());
          for (const hearts::SeatView* v : views) {
            int fault = hearts::kNoFault;
            cards.push_back(hearts::rules_player(*v, fault));
            if (fault != hearts::kNoFault) hearts_refuse(*v, fault);
          }
          return cards;
        },
        nb::arg("views"), "The card that the scripted player passes or plays in each view.");
  m.def("pimc",
        [](const DealSampler& s, int worlds, int runs, double c, bool uct, bool light, std::uint64_t seed) {
          if (worlds < 1 || runs < 1) throw std::invalid_argument("worlds and runs are at least 1");
          hearts::PimcResult result;
          {
            nb::gil_scoped_release release;
            result = hearts::pimc(*s.deals, {worlds, runs, c, uct, light}, seed);
          }
          nb::dict out;
          for (int card = 0; card < hearts::kNumCards; ++card)
            if (result.visits[card]) out[nb::int_(card)] = nb::make_tuple(result.value[card], result.visits[card]);
          return out;
        },
        nb::arg("deals"), nb::arg("worlds"), nb::arg("runs"), nb::arg("c"), nb::arg("uct"), nb::arg("light"),
        nb::arg("seed"), "Perfect-information Monte Carlo: {card: (mean value in units of v(o), simulations)}.");
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of trickformer.";
  bind_tracker(m);
  bind_gomcts(m);
  gpt2_binding::bind(m);
  bind_hearts(m);
  bind_hearts_search(m);
  bind_crew(m);
  bind_crew_search(m);
  bind_crew_players(m);
  bind_crew_solver(m);
  bind_hanabi(m);
  bind_hanabi_players(m);
  bind_hanabi_tokens(m);
  bind_lstm(m);
  bind_mines(m);
  bind_skat(m);
  bind_skat_players(m);
  bind_skat_solver(m);
  bind_skat_search(m);
}
