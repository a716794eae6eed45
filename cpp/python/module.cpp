// The core as a Python module. Each part has a file in this folder.
#include <nanobind/stl/string_view.h>

#include "core/isa.hpp"
#include "core/share.hpp"
#include "python/bind.hpp"

NB_MODULE(_core, m) {
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // an interrupted command leaves objects behind, which is no fault
#endif
  m.doc() =
      "The C++ core of trickformer. An object that calls change is for one call at a time: two that meet raise "
      "RuntimeError. What searches share, models and codecs, any number of threads may use.";
  m.def(
      "isa", [] { return trickformer::name(trickformer::isa()); },
      "The instruction set that the environment variable TRICKFORMER_ISA names, else the best of this CPU that "
      "rounds nothing: the core uses none beyond it. Raises ValueError if it names none that this CPU has.");
  m.def(
      "under_way",
      [] {
        const trickformer::UnderWay now = trickformer::under_way();
        return nb::make_tuple(now.done, now.of);
      },
      nb::sig("def under_way() -> tuple[int, int]"),
      "Of GO-MCTS's simulations, or the worlds of PIMC, that the searches of this process do now: how many are done, "
      "and of how many. For another thread to ask; (0, 0) if nothing is searched.");
  bind_tracker(m);
  bind_gomcts(m);
  bind_gpt2(m);
  bind_hearts(m);
  bind_hearts_search(m);
  bind_crew(m);
  bind_crew_search(m);
  bind_crew_players(m);
  bind_crew_solver(m);
  bind_hanabi(m);
  bind_hanabi_players(m);
  bind_hanabi_frames(m);
  bind_hanabi_tokens(m);
  bind_hanabi_search(m);
  bind_lstm(m);
  bind_mines(m);
  bind_skat(m);
  bind_skat_players(m);
  bind_skat_solver(m);
  bind_skat_search(m);
}
