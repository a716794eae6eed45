// Bindings that the deal samplers of the card games share: odds of where cards lie, and what follows from them.
#pragma once
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "core/placing.hpp"
#include "python/bind.hpp"

namespace trickformer {

template <int Dimensions>
using LogOdds = nb::ndarray<const double, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

inline void check_shape(const LogOdds<2>& odds, std::size_t cards) {
  if (odds.shape(0) != cards || odds.shape(1) != kPlaces)
    throw std::invalid_argument("log_odds is float64 [" + std::to_string(cards) + ", 3]");
}

inline void check_shape(const LogOdds<3>& odds, std::size_t n, std::size_t cards) {
  if (odds.shape(0) != n || odds.shape(1) != cards || odds.shape(2) != kPlaces)
    throw std::invalid_argument("log_odds is float64 [n, " + std::to_string(cards) + ", 3], a row for each view");
}

using HiddenRows = In2<std::int16_t>;

inline void check_hidden(const HiddenRows& hidden, std::size_t width) {
  if (hidden.shape(1) != width) throw std::invalid_argument("hidden is int16 [n, " + std::to_string(width) + "]");
}

// explains(sampler, row), log_prob(sampler, row), places(sampler, row, int8 [cards]), marginals(sampler, double
// [cards][kPlaces]).
template <typename Sampler, typename Explains, typename LogProb, typename Places, typename Marginals>
void bind_worlds(nb::class_<Sampler>& bound, std::size_t cards, std::size_t width, Explains explains, LogProb log_prob,
                 Places places, Marginals marginals) {
  bound
      .def(
          "explains",
          [=](const Sampler& s, const HiddenRows& hidden) {
            check_hidden(hidden, width);
            auto ok = make<bool>({hidden.shape(0)});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) ok.data()[i] = explains(s, &hidden(i, 0));
            return ok;
          },
          nb::arg("hidden"), "Rows as `sample` has them -> bool [n]: whether each world explains the view.")
      .def(
          "log_prob",
          [=](const Sampler& s, const HiddenRows& hidden) {
            check_hidden(hidden, width);
            auto found = make<double>({hidden.shape(0)});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) found.data()[i] = log_prob(s, &hidden(i, 0));
            return found;
          },
          nb::arg("hidden"),
          "float64 [n]: natural logarithm of the probability with which a world is drawn, -inf for what does not "
          "explain the view.")
      .def(
          "places",
          [=](const Sampler& s, const HiddenRows& hidden) {
            check_hidden(hidden, width);
            auto at = make<std::int8_t>({hidden.shape(0), cards});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) {
              if (!explains(s, &hidden(i, 0)))
                throw std::invalid_argument("world " + std::to_string(i) + " does not explain the view");
              places(s, &hidden(i, 0), at.data() + i * cards);
            }
            return at;
          },
          nb::arg("hidden"),
          "int8 [n, cards]: the place where a card lies in a world, as odds count them; -1 where the view says it. "
          "Raises ValueError where a world does not explain the view.")
      .def(
          "marginals",
          [=](const Sampler& s) {
            auto out = make<double>({cards, std::size_t(kPlaces)});
            marginals(s, out.data());
            return out;
          },
          "float64 [cards, 3]: the probability that a card lies at each place; 0 where the view says it.");
}

}  // namespace trickformer
