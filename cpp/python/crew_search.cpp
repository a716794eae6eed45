// Python bindings of The Crew, continued: views, and the worlds that are consistent with them.
#include <nanobind/stl/vector.h>

#include "core/threads.hpp"
#include "crew/players.hpp"
#include "crew/tracker.hpp"
#include "crew/worlds.hpp"
#include "python/worlds.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::crew;

namespace {

using Hidden = In<std::int16_t, nb::shape<-1, kHidden>>;

std::vector<State> states(const Deals& d, const Hidden& hidden) {
  std::vector<State> found;
  for (std::size_t i = 0; i < hidden.shape(0); ++i) {
    const World world = read(&hidden(i, 0));
    if (!d.is_consistent(world))
      throw nb::value_error(("world " + std::to_string(i) + " does not explain the view").c_str());
    found.push_back(state(d.view(), world));
  }
  return found;
}

// The actions of a course. Raises ValueError unless they lead to the view in a world drawn from it.
std::vector<int> course_of(const Deals& d, const In1<std::int64_t>& course) {
  std::vector<int> actions;
  for (std::size_t i = 0; i < course.size(); ++i)
    actions.push_back(course(i) < 0 || course(i) >= kActions ? kActions : int(course(i)));
  Rng rng(0, 0);
  const World world = d.draw(rng);
  const SeatView& v = d.view();
  const bool is_reached = follow(state_after_deal(v.mission, world), world, actions, [&](const State& s, int action) {
    if (action < 0) return !s.over() && s.current == v.seat && static_cast<const PublicState&>(s) == v;
    return !s.over() && action < kActions && (legal(s) >> action & 1);
  });
  if (!is_reached) throw nb::value_error("course is not consistent with the view");
  return actions;
}

}  // namespace

void bind_crew_search(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("crew"));
  nb::class_<SeatView>(m, "SeatView", "One seat's view of a game, given by its token sequence.")
      .def(
          "__init__",
          [](SeatView* self, const Logbook& book, In1<std::int32_t> tokens) {
            SeatView v;
            bool ended = false;  // whether the end token was seen
            const auto seen = tokens_in(tokens);
            for (std::size_t i = 0; i < seen.size(); ++i) {
              const bool over = v.ended();
              if (ended || !see(book, v, seen[i]))
                throw nb::value_error(("no deal explains token " + std::to_string(i) + " of the view").c_str());
              ended = over;
            }
            new (self) SeatView(v);
          },
          "book"_a, "tokens"_a,
          "Raises ValueError if no deal is consistent with the tokens. The end token may occur once.");
  nb::class_<Deals> sampler(
      m, "DealSampler",
      "Sampler of worlds for one seat's view: uniform over all consistent worlds, or weighted by odds.");
  bind_worlds<WorldRows<Deals, crew::read, crew::write, kHidden>, SeatView>(
      sampler, kNumCards,
      "log_odds: float64 [40, 3], for each card the log odds that each of the other seats holds it, in seat order "
      "after the view's own. Raises ValueError if no deal is consistent with the view, or if the view ends within an "
      "event of several tokens.",
      "Draw n worlds, int16 [n, 48]: the seat that each of the 40 cards was dealt to, then by seat the card passed, "
      "then by seat the card drawn; -1 for none.");
  sampler
      .def_prop_ro("count", &Deals::count,
                   "Return the exact number of hidden histories that are consistent with the view.")
      .def(
          "states", [](const Deals& d, const Hidden& hidden) { return states(d, hidden); }, "hidden"_a,
          "Return the State of each world, at a decision. Raises ValueError if a world is not consistent with the "
          "view.")
      .def(
          "sample_consistent",
          [](const Deals& d, In1<std::int64_t> course, std::size_t n, std::size_t tries, std::uint64_t seed) {
            const std::vector<int> actions = course_of(d, course);
            std::vector<World> found;
            {
              nb::gil_scoped_release release;
              for (std::size_t i = 0; i < tries && found.size() < n; ++i) {
                Rng rng(seed, i);
                const World world = d.draw(rng);
                if (plays_so(d.view().mission, world, actions, d.view().seat)) found.push_back(world);
              }
            }
            auto hidden = make<std::int16_t>({found.size(), std::size_t(kHidden)});
            for (std::size_t i = 0; i < found.size(); ++i) write(found[i], hidden.data() + i * kHidden);
            return hidden;
          },
          "course"_a, "n"_a, "tries"_a, "seed"_a,
          "Draw `tries` worlds and return, as rows of `sample`, the first n in which the player `rules` would have "
          "made the actual moves of all other seats. course: int64 [t], the actions of players and chance after the "
          "deal; -1 for a passed or drawn card that the view does not show. Raises ValueError if course is not "
          "consistent with the view.")
      .def(
          "play",
          [](const Deals& d, const Hidden& hidden, In1<std::int64_t> actions, std::uint64_t seed, int threads) {
            if (!d.view().my_turn()) throw nb::value_error("the seat of the view is not on turn");
            const Actions may = legal(d.view(), d.view().hand);
            for (std::size_t a = 0; a < actions.size(); ++a)
              check_action(actions(a) >= 0 && actions(a) < kActions && may >> actions(a) & 1,
                           int(std::clamp<std::int64_t>(actions(a), -1, 255)));
            const std::vector<State> start = states(d, hidden);
            auto out = make<std::int8_t>({start.size(), actions.size()});
            nb::gil_scoped_release release;
            on_threads(start.size(), threads, [&](std::size_t i) {
              for (std::size_t a = 0; a < actions.size(); ++a) {
                State s = start[i];
                apply(s, int(actions(a)));
                Rng rng(seed, i);
                out.data()[i * actions.size() + a] = succeeds(s, 0, rng);
              }
            });
            return out;
          },
          "hidden"_a, "actions"_a, "seed"_a, "threads"_a = 1,
          "Continue each world (a row of `sample`) with each action (int64 [a]) of the view's seat, and then with the "
          "player `rules` in all seats. Returns int8 [n, a]: 1 for success, else 0. Chance events are the same for all "
          "actions of a world. Raises ValueError if a world is not consistent with the view or an action is not "
          "legal.");
}
