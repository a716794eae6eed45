// Bindings that the deal samplers of the card games share: odds for the places of cards, and probabilities.
#pragma once
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "core/placing.hpp"
#include "python/bind.hpp"

namespace trickformer {

template <int kDimensions>
using LogOdds = In<double, nb::ndim<kDimensions>>;

inline void check_shape(const LogOdds<2>& odds, std::size_t cards) {
  if (odds.shape(0) != cards || odds.shape(1) != kPlaces)
    throw std::invalid_argument("log_odds must be float64 [" + std::to_string(cards) + ", 3]");
}

inline void check_shape(const LogOdds<3>& odds, std::size_t n, std::size_t cards) {
  if (odds.shape(0) != n || odds.shape(1) != cards || odds.shape(2) != kPlaces)
    throw std::invalid_argument("log_odds must be float64 [n, " + std::to_string(cards) + ", 3], a row for each view");
}

using HiddenRows = In2<std::int16_t>;

inline void check_hidden(const HiddenRows& hidden, std::size_t width) {
  if (hidden.shape(1) != width) throw std::invalid_argument("hidden is int16 [n, " + std::to_string(width) + "]");
}

// The worlds of a sampler whose World is a struct, as rows of numbers: kRead(row) -> World, kWrite(world, row). A
// sampler that works on rows defines the same functions itself, as in hearts_search.cpp.
template <typename Deals, auto kRead, auto kWrite, std::size_t kRowWidth>
struct WorldRows {
  static constexpr std::size_t kWidth = kRowWidth;
  using Row = const std::int16_t*;
  static void sample(const Deals& d, std::uint64_t seed, std::size_t n, std::int16_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
      Rng rng(seed, i);
      kWrite(d.draw(rng), out + i * kRowWidth);
    }
  }
  static bool is_consistent(const Deals& d, Row row) { return d.is_consistent(kRead(row)); }
  static double log_prob(const Deals& d, Row row) { return d.log_prob(kRead(row)); }
  static void places(const Deals& d, Row row, std::int8_t* at) { d.places(kRead(row), at); }
  static void marginals(const Deals& d, double* out) { d.marginals(out); }
};

// Binds the constructor DealSampler(view, log_odds), `sample` and the queries about its worlds. odds_doc and sample_doc
// describe the columns.
template <typename Rows, typename View, typename Deals>
void bind_worlds(nb::class_<Deals>& bound, std::size_t cards, const char* odds_doc, const char* sample_doc) {
  using namespace nb::literals;
  bound
      .def(
          "__init__",
          [=](Deals* self, const View& view, std::optional<LogOdds<2>> log_odds) {
            if (log_odds) check_shape(*log_odds, cards);
            new (self) Deals(view, log_odds ? log_odds->data() : nullptr);
          },
          "view"_a, "log_odds"_a = nb::none(), odds_doc)
      .def(
          "sample",
          [](const Deals& d, std::uint64_t seed, std::size_t n) {
            auto hidden = make<std::int16_t>({n, Rows::kWidth});
            nb::gil_scoped_release release;
            Rows::sample(d, seed, n, hidden.data());
            return hidden;
          },
          "seed"_a, "n"_a, sample_doc)
      .def(
          "is_consistent",
          [](const Deals& d, const HiddenRows& hidden) {
            check_hidden(hidden, Rows::kWidth);
            auto ok = make<bool>({hidden.shape(0)});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) ok.data()[i] = Rows::is_consistent(d, &hidden(i, 0));
            return ok;
          },
          "hidden"_a, "Return bool [n]: whether each world, a row of `sample`, is consistent with the view.")
      .def(
          "log_prob",
          [](const Deals& d, const HiddenRows& hidden) {
            check_hidden(hidden, Rows::kWidth);
            auto found = make<double>({hidden.shape(0)});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) found.data()[i] = Rows::log_prob(d, &hidden(i, 0));
            return found;
          },
          "hidden"_a,
          "Return float64 [n]: the natural logarithm of the probability with which `sample` draws each world; -inf if "
          "a world is not consistent with the view.")
      .def(
          "places",
          [=](const Deals& d, const HiddenRows& hidden) {
            check_hidden(hidden, Rows::kWidth);
            auto at = make<std::int8_t>({hidden.shape(0), cards});
            for (std::size_t i = 0; i < hidden.shape(0); ++i) {
              if (!Rows::is_consistent(d, &hidden(i, 0)))
                throw std::invalid_argument("world " + std::to_string(i) + " does not explain the view");
              Rows::places(d, &hidden(i, 0), at.data() + i * cards);
            }
            return at;
          },
          "hidden"_a,
          "Return int8 [n, cards]: the place of each card in each world, an index into the columns of log_odds; -1 if "
          "the view shows the place. Raises ValueError if a world is not consistent with the view.")
      .def(
          "marginals",
          [=](const Deals& d) {
            auto out = make<double>({cards, std::size_t(kPlaces)});
            Rows::marginals(d, out.data());
            return out;
          },
          "Return float64 [cards, 3]: the probability of each place of each card; 0 if the view shows the place.");
}

}  // namespace trickformer
