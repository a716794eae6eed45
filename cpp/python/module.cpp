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
      "The C++ core of trickformer. Any number of threads may share a model, or an object that no call changes, such "
      "as "
      "a codec. Tables, Seats, SearchBatch and the solvers serve one call that changes them at a time: a second call "
      "at "
      "the same time raises RuntimeError.";
  m.def(
      "isa", [] { return trickformer::name(trickformer::isa()); },
      "Return the name of the instruction set that the core uses: the environment variable TRICKFORMER_ISA, else the "
      "best of this CPU that does not round activations to bfloat16. Raises ValueError if the variable names a set "
      "that this CPU lacks.");
  m.def(
      "under_way",
      [] {
        const trickformer::UnderWay now = trickformer::under_way();
        return nb::make_tuple(now.done, now.of);
      },
      nb::sig("def under_way() -> tuple[int, int]"),
      "Return (done, total): the progress of this process's current searches, in simulations of GO-MCTS or worlds of "
      "PIMC; (0, 0) if none is running. It may be called from another thread.");
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
