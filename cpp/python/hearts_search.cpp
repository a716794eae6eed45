// The Python face of Hearts, continued: what a seat saw, the deal sampler, and the players that build on them.
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hearts/pimc.hpp"
#include "hearts/rules_player.hpp"
#include "hearts/sampler.hpp"
#include "python/worlds.hpp"

using namespace trickformer;

namespace {

hearts::Cards hearts_cards(const std::vector<int>& list) {
  hearts::Cards cards = 0;
  for (const int card : list) {
    if (card < 0 || card >= hearts::kNumCards) throw std::invalid_argument("a card is 0..51");
    cards |= hearts::bit(card);
  }
  return cards;
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

}  // namespace

void bind_hearts_search(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("hearts"));
  nb::class_<hearts::SeatView>(m, "SeatView", "What one seat has seen of a hand of Hearts.")
      .def(
          "__init__",
          [](hearts::SeatView* self, const hearts::Rules& rules, int seat, int direction, const std::vector<int>& dealt,
             const std::vector<int>& passes, const std::vector<int>& received, int leader,
             const std::vector<int>& plays, bool on_turn) {
            new (self) hearts::SeatView(
                hearts_seat_view(rules, seat, direction, dealt, passes, received, leader, plays, on_turn));
          },
          nb::arg("rules"), nb::arg("seat"), nb::arg("direction"), nb::arg("dealt"), nb::arg("passes"),
          nb::arg("received"), nb::arg("leader"), nb::arg("plays"), nb::arg("on_turn"),
          "leader: -1 before the play. Raises ValueError on numbers out of range.");
  nb::class_<hearts::Deals> sampler(m, "DealSampler", "Worlds of one seat's view: uniform by counting, or by odds.");
  sampler
      .def(
          "__init__",
          [](hearts::Deals* self, const hearts::SeatView& view, std::optional<LogOdds<2>> log_odds) {
            if (log_odds) check_shape(*log_odds, hearts::kNumCards);
            new (self) hearts::Deals(view, log_odds ? log_odds->data() : nullptr);
          },
          nb::arg("view"), nb::arg("log_odds") = nb::none(),
          "log_odds: float64 [52, 3], who rather holds each card: the seats after the own one. Raises ValueError if no "
          "deal explains the view.")
      .def_prop_ro(
          "assignments", [](const hearts::Deals& d) { return hearts::num_assignments(d); },
          "Ways to lay the unseen cards, exact.")
      .def_prop_ro(
          "pass_histories", [](const hearts::Deals& d) { return hearts::num_pass_histories(d); },
          "Pass histories for each of them, exact.")
      .def(
          "sample",
          [](const hearts::Deals& d, std::uint64_t seed, std::size_t n) {
            auto hidden = make<std::int16_t>({n, std::size_t(hearts::kHidden)});
            nb::gil_scoped_release release;
            hearts::sample_worlds(d, seed, 0, n, hidden.data());
            return hidden;
          },
          nb::arg("seed"), nb::arg("n"),
          "int16 [n, 64]: the seat each card was dealt to, then the 12 passes, -1: none.");
  using Row = const std::int16_t*;
  bind_worlds(
      sampler, hearts::kNumCards, hearts::kHidden,
      [](const hearts::Deals& d, Row row) { return hearts::explains(d, row); },
      [](const hearts::Deals& d, Row row) { return hearts::log_prob(d, row); },
      [](const hearts::Deals& d, Row row, std::int8_t* at) { hearts::places(d, row, at); },
      [](const hearts::Deals& d, double* out) { hearts::marginals(d, out); });
  m.def(
      "rules_player",
      [](const std::vector<const hearts::SeatView*>& views) {
        std::vector<int> cards;
        cards.reserve(views.size());
        for (const hearts::SeatView* v : views) cards.push_back(hearts::rules_player(*v));
        return cards;
      },
      nb::arg("views"), "The card that the scripted player passes or plays in each view.");
  m.def(
      "pimc",
      [](const hearts::Deals& d, int worlds, int runs, double c, bool uct, bool light, std::uint64_t seed) {
        if (worlds < 1 || runs < 1) throw std::invalid_argument("worlds and runs are at least 1");
        hearts::PimcResult result;
        {
          nb::gil_scoped_release release;
          result = hearts::pimc(d, {{runs, c, light}, worlds, uct}, seed);
        }
        nb::dict out;
        for (int card = 0; card < hearts::kNumCards; ++card)
          if (result.visits[card]) out[nb::int_(card)] = nb::make_tuple(result.value[card], result.visits[card]);
        return out;
      },
      nb::arg("deals"), nb::arg("worlds"), nb::arg("runs"), nb::arg("c"), nb::arg("uct"), nb::arg("light"),
      nb::arg("seed"), "Perfect-information Monte Carlo: {card: (mean value in units of v(o), simulations)}.");
}
