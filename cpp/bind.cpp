// The Python face of the core, and the only file that knows nanobind.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_core, m) { m.doc() = "C++ core of trickformer"; }
