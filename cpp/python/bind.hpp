// What the files of bindings share: numpy arrays in and out. Only this folder knows nanobind.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/bits.hpp"

namespace nb = nanobind;

namespace trickformer {

template <typename T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T>;

// A new numpy array that owns its memory.
template <typename T>
Out<T> make(std::initializer_list<std::size_t> shape, T fill = T{}) {
  std::size_t n = 1;
  for (auto d : shape) n *= d;
  T* data = new T[n];
  std::fill(data, data + n, fill);
  return Out<T>(data, shape, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

inline std::size_t checked(std::int64_t i, std::size_t n, const char* what) {
  if (i < 0 || std::size_t(i) >= n) throw nb::index_error((std::string(what) + " out of range").c_str());
  return std::size_t(i);
}

// The cards of a set, ascending.
template <std::unsigned_integral Cards>
std::vector<int> cards_of(Cards cards) {
  std::vector<int> out;
  while (cards) out.push_back(take_lowest(cards));
  return out;
}

// (actor, action, seen) of events that a seat saw; an action below 0 is hidden. The file that binds it includes the casters.
template <typename Event>
auto seen_events(const std::vector<Event>& events) {
  std::vector<std::tuple<int, std::optional<int>, nb::typed<nb::tuple, int, nb::ellipsis>>> out;
  out.reserve(events.size());
  for (const Event& e : events)
    out.emplace_back(e.actor, e.action < 0 ? std::nullopt : std::optional<int>(e.action), nb::tuple(nb::cast(e.seen)));
  return out;
}

// Copies and pickles of plain data; name: what the error calls it.
template <typename T>
void bind_copies(nb::class_<T>& bound, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  bound.def("__copy__", [](const T& s) { return T(s); })
      .def("__deepcopy__", [](const T& s, nb::handle) { return T(s); })
      .def("__getstate__", [](const T& s) { return nb::bytes(reinterpret_cast<const char*>(&s), sizeof(T)); })
      .def("__setstate__", [what = std::string(name)](T& s, const nb::bytes& bytes) {
        if (bytes.size() != sizeof(T)) throw nb::value_error(("this is no pickled " + what + " of this build").c_str());
        std::memcpy(static_cast<void*>(new (&s) T{}), bytes.data(), sizeof(T));
      });
}

}  // namespace trickformer

void bind_tracker(nb::module_& m);
void bind_gomcts(nb::module_& parent);  // after bind_tracker
void bind_gpt2(nb::module_& m);
void bind_hearts(nb::module_& parent);
void bind_hearts_search(nb::module_& parent);  // after bind_hearts
void bind_crew(nb::module_& parent);
void bind_crew_search(nb::module_& parent);   // after bind_crew
void bind_crew_players(nb::module_& parent);  // after bind_crew_search
void bind_crew_solver(nb::module_& parent);   // after bind_crew
void bind_hanabi(nb::module_& parent);
void bind_hanabi_players(nb::module_& parent);  // after bind_hanabi
void bind_hanabi_tokens(nb::module_& parent);   // after bind_hanabi
void bind_lstm(nb::module_& parent);
void bind_mines(nb::module_& parent);
void bind_skat(nb::module_& parent);
void bind_skat_players(nb::module_& parent);  // after bind_skat
void bind_skat_solver(nb::module_& parent);
void bind_skat_search(nb::module_& parent);
