// Helpers that the binding files share. Only this folder uses nanobind.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/bits.hpp"
#include "python/arrays.hpp"

namespace nb = trickformer::nb;

namespace trickformer {

// Returns an index. Raises IndexError unless 0 <= i < n. what: name of the index in the message.
inline std::size_t checked(std::int64_t i, std::size_t n, const char* what) {
  if (i < 0 || std::size_t(i) >= n) throw nb::index_error((std::string(what) + " out of range").c_str());
  return std::size_t(i);
}

// The object behind a handle. Raises TypeError if it was never constructed.
template <typename T>
const T& constructed(nb::handle held) {
  if (!nb::inst_ready(held)) throw nb::type_error("this object was never constructed");
  return *nb::inst_ptr<T>(held);
}

// Returns a number of the rules. Raises ValueError unless it is from `least` to `most`.
inline int within(std::int64_t number, int least, int most, const char* what) {
  if (number < least || number > most)
    throw nb::value_error((std::string(what) + " is " + std::to_string(least) + " to " + std::to_string(most) +
                           ", not " + std::to_string(number))
                              .c_str());
  return int(number);
}

// Raises ValueError unless a number is from 0 to 1. what: name of the argument in the message.
inline void check_share(double share, const char* what) {
  if (!(share >= 0 && share <= 1)) throw nb::value_error((std::string(what) + " must be between 0 and 1").c_str());
}

// Returns a number as a token, clamped to -1 and the largest int16. Such a token makes the history illegal.
inline int as_token(int token) { return std::clamp<int>(token, -1, std::numeric_limits<std::int16_t>::max()); }

// The tokens of a view. Raises ValueError on a number that as_token would clamp.
inline std::span<const std::int32_t> tokens_in(const In1<std::int32_t>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens(i) != as_token(tokens(i)))
      throw nb::value_error(("token " + std::to_string(i) + " is out of range: " + std::to_string(tokens(i))).c_str());
  return {tokens.data(), tokens.size()};
}

// Raises ValueError if a weight of a network or a table is not a number.
template <typename... Shape>
std::span<const float> finite(const In<float, Shape...>& weights) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!std::isfinite(weights.data()[i]))
      throw nb::value_error(("weight " + std::to_string(i) + " is not a finite number").c_str());
  return {weights.data(), weights.size()};
}

// The cards of a set, ascending.
template <std::unsigned_integral Cards>
std::vector<int> cards_of(Cards cards) {
  std::vector<int> out;
  while (cards) out.push_back(take_lowest(cards));
  return out;
}

// (actor, action, seen) for each event that a seat saw; an action below 0 becomes None. A file that calls this includes
// nanobind's casters of optional, tuple and vector.
template <typename Event>
auto seen_events(const std::vector<Event>& events) {
  std::vector<std::tuple<int, std::optional<int>, nb::typed<nb::tuple, int, nb::ellipsis>>> out;
  out.reserve(events.size());
  for (const Event& e : events)
    out.emplace_back(e.actor, e.action < 0 ? std::nullopt : std::optional<int>(e.action), nb::tuple(nb::cast(e.seen)));
  return out;
}

// Checksum of pickled bytes, which detects damage.
inline std::uint64_t checksum(const char* data, std::size_t size) {
  std::uint64_t sum = mix(size);
  for (std::size_t i = 0; i < size; ++i) sum = mix(sum ^ std::uint8_t(data[i]));
  return sum;
}

// Binds copying and pickling of a class of plain data. name: name of the class in messages.
template <typename T>
void bind_copies(nb::class_<T>& bound, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  bound.def("__copy__", [](const T& s) { return T(s); })
      .def("__deepcopy__", [](const T& s, nb::handle) { return T(s); })
      .def("__getstate__",
           [](const T& s) {
             const char* data = reinterpret_cast<const char*>(&s);
             const std::uint64_t sum = checksum(data, sizeof(T));
             return nb::bytes(
                 (std::string(data, sizeof(T)) + std::string(reinterpret_cast<const char*>(&sum), 8)).data(),
                 sizeof(T) + sizeof(sum));
           })
      .def("__setstate__", [what = std::string(name)](T& s, const nb::bytes& bytes) {
        std::uint64_t sum = 0;
        const bool whole = bytes.size() == sizeof(T) + sizeof(sum);
        if (whole) std::memcpy(&sum, bytes.c_str() + sizeof(T), sizeof(sum));
        if (!whole || sum != checksum(bytes.c_str(), sizeof(T)))
          throw nb::value_error(("these bytes are not a pickled " + what + " of this build").c_str());
        std::memcpy(static_cast<void*>(new (&s) T{}), bytes.c_str(), sizeof(T));
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
void bind_hanabi_frames(nb::module_& parent);   // after bind_hanabi
void bind_hanabi_tokens(nb::module_& parent);   // after bind_hanabi
void bind_hanabi_search(nb::module_& parent);   // after bind_hanabi_tokens
void bind_lstm(nb::module_& parent);
void bind_mines(nb::module_& parent);
void bind_skat(nb::module_& parent);
void bind_skat_players(nb::module_& parent);  // after bind_skat
void bind_skat_solver(nb::module_& parent);
void bind_skat_search(nb::module_& parent);
