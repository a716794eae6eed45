// The Python face of the core, and the only file that knows nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hearts_pimc.hpp"
#include "hearts_random.hpp"
#include "hearts_rules_player.hpp"
#include "hearts_sampler.hpp"

namespace nb = nanobind;

// ---- Hearts: what a seat saw, the deal sampler, and the players that build on it ----------------------------
namespace {
namespace hearts = trickformer::hearts;

using Hidden = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object numpy_array(T* data, std::initializer_list<std::size_t> shape) {
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.begin(), owner));
}

hearts::Rules hearts_rules_of(unsigned options) {
  hearts::Rules r;
  bool* fields[] = {&r.pass_cards, &r.no_pts_on_first_trick, &r.can_lead_any_club, &r.jd_bonus,
                    &r.avoid_all_tricks_bonus, &r.must_break_hearts, &r.qs_breaks_hearts,
                    &r.can_lead_hearts_instead_of_qs};
  for (int i = 0; i < 8; ++i) *fields[i] = options >> i & 1;
  return r;
}

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

hearts::SeatView hearts_seat_view(unsigned options, int seat, int direction, const std::vector<int>& dealt,
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
  v.rules = hearts_rules_of(options);
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
  explicit DealSampler(const hearts::SeatView& v) {
    int fault = 0;
    deals.reset(hearts::new_deals(v, fault));
    if (!deals) hearts_refuse(v, fault);
  }
  struct Free {
    void operator()(hearts::Deals* d) const { hearts::free_deals(d); }
  };
  std::unique_ptr<hearts::Deals, Free> deals;
};

void bind_hearts_search(nb::module_& m) {
  nb::class_<hearts::SeatView>(m, "HeartsSeatView", "What one seat has seen of a hand of Hearts.")
      .def("__init__",
           [](hearts::SeatView* self, unsigned options, int seat, int direction, const std::vector<int>& dealt,
              const std::vector<int>& passes, const std::vector<int>& received, int leader,
              const std::vector<int>& plays, bool on_turn) {
             new (self) hearts::SeatView(
                 hearts_seat_view(options, seat, direction, dealt, passes, received, leader, plays, on_turn));
           },
           nb::arg("options"), nb::arg("seat"), nb::arg("direction"), nb::arg("dealt"), nb::arg("passes"),
           nb::arg("received"), nb::arg("leader"), nb::arg("plays"), nb::arg("on_turn"),
           "options: bit i is OpenSpiel's rule option number i; leader: -1 before the play. Raises ValueError on "
           "numbers out of range.");
  nb::class_<DealSampler>(m, "HeartsDealSampler", "Uniform worlds of one seat's view, by counting.")
      .def(nb::init<const hearts::SeatView&>(), nb::arg("view"), "Raises ValueError if no deal explains the view.")
      .def_prop_ro("assignments", [](const DealSampler& s) { return hearts::num_assignments(*s.deals); },
                   "Ways to lay the unseen cards, exact.")
      .def_prop_ro("pass_histories", [](const DealSampler& s) { return hearts::num_pass_histories(*s.deals); },
                   "Pass histories for each of them, exact.")
      .def("sample",
           [](const DealSampler& s, std::uint64_t seed, std::size_t n) {
             auto* hidden = new std::int16_t[n * hearts::kHidden];
             {
               nb::gil_scoped_release release;
               hearts::sample_worlds(*s.deals, seed, 0, n, hidden);
             }
             return numpy_array(hidden, {n, std::size_t(hearts::kHidden)});
           },
           nb::arg("seed"), nb::arg("n"), "int16 [n, 64]: the seat each card was dealt to, then the 12 passes, -1: none.")
      .def("explains",
           [](const DealSampler& s, const Hidden& hidden) {
             if (hidden.shape(1) != std::size_t(hearts::kHidden))
               throw std::invalid_argument("hidden is int16 [n, 64]");
             auto* ok = new bool[hidden.shape(0)];
             hearts::explains(*s.deals, hidden.data(), hidden.shape(0), ok);
             return numpy_array(ok, {hidden.shape(0)});
           },
           nb::arg("hidden"), "bool [n]: whether each world explains the view.");
  m.def("hearts_rules_player",
        [](const std::vector<const hearts::SeatView*>& views) {
          std::vector<int> cards;
          cards.reserve(views.size());
          for (const hearts::SeatView* v : views) {
            const int card = hearts::rules_player(*v);
            if (card < 0) hearts_refuse(*v, card);
            cards.push_back(card);
          }
          return cards;
        },
        nb::arg("views"), "The card that the scripted player passes or plays in each view.");
  m.def("hearts_pimc",
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
  m.doc() = "C++ core of trickformer";
  bind_hearts_search(m);
}
