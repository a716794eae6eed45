// The Python face of The Crew, continued: what a seat has seen, and the worlds that explain it.
#include <nanobind/stl/vector.h>

#include "crew/tracker.hpp"
#include "crew/worlds.hpp"
#include "python/worlds.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::crew;

namespace {

using Hidden = In<std::int16_t, nb::shape<-1, kHidden>>;

}  // namespace

void bind_crew_search(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("crew"));
  nb::class_<SeatView>(m, "SeatView", "What one seat has seen, as its sequence of tokens.")
      .def(
          "__init__",
          [](SeatView* self, const Logbook& book, In1<std::int32_t> tokens) {
            SeatView v;
            const auto seen = tokens_in(tokens);
            for (std::size_t i = 0; i < seen.size(); ++i)
              if (!see(book, v, seen[i]))
                throw nb::value_error(("no deal explains token " + std::to_string(i) + " of the view").c_str());
            new (self) SeatView(v);
          },
          "book"_a, "tokens"_a, "Raises ValueError where no deal explains the tokens.");
  nb::class_<Deals> sampler(m, "DealSampler", "Worlds of one seat's view: uniform by counting, or by odds.");
  bind_worlds<WorldRows<Deals, crew::read, crew::write, kHidden>, SeatView>(
      sampler, kNumCards,
      "log_odds: float64 [40, 3], who rather holds each card: the seats after the own one. Raises ValueError if no "
      "deal explains the view, or if it ends amid what is seen at once.",
      "int16 [n, 48]: the seat that each card was dealt to, the card that each seat passed, the card that each "
      "drew; -1: none.");
  sampler.def_prop_ro("count", &Deals::count, "Hidden histories that explain the view, exact.")
      .def(
          "states",
          [](const Deals& d, Hidden hidden) {
            std::vector<State> states;
            for (std::size_t i = 0; i < hidden.shape(0); ++i) {
              const World world = read(&hidden(i, 0));
              if (!d.explains(world))
                throw nb::value_error(("world " + std::to_string(i) + " does not explain the view").c_str());
              states.push_back(state(d.view(), world));
            }
            return states;
          },
          "hidden"_a, "The State of each world, at a decision. Raises ValueError where one does not explain the view.");
}
