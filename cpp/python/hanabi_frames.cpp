// Python bindings of Hanabi, continued: recorded games as frames for training a network.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "hanabi/frames.hpp"
#include "python/bind.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::hanabi;

namespace {

constexpr std::uint8_t kOver = 255;  // pads the actions of a game

auto frames(const Rules& rules, std::uint64_t seed, const In1<std::uint64_t>& games, const In2<std::uint8_t>& actions,
            bool with_v0) {
  if (actions.shape(0) != games.size()) throw nb::value_error("expected one row of actions per game");
  const std::size_t players = std::size_t(rules.players), size = std::size_t(observation_size(rules));
  const std::size_t num_actions = std::size_t(rules.actions()), most = actions.shape(1);
  std::vector<std::size_t> lengths;
  std::size_t n = 0;
  for (std::size_t i = 0; i < games.size(); ++i) {
    const std::uint8_t* row = actions.data() + i * most;
    lengths.push_back(std::size_t(std::find(row, row + most, kOver) - row));
    n += lengths.back();
  }
  auto seen = make<float>({n, players, size});
  auto legal = make<bool>({n, num_actions});
  auto seats = make<std::int8_t>({n}), rewards = make<std::int8_t>({n});
  {
    nb::gil_scoped_release release;
    std::size_t at = 0;
    for (std::size_t i = 0; i < games.size(); at += lengths[i++])
      play_again(
          rules, seed, games(i), {actions.data() + i * most, lengths[i]}, with_v0,
          {seen.data() + at * players * size, legal.data() + at * num_actions, seats.data() + at, rewards.data() + at});
  }
  return std::make_tuple(seen, legal, seats, rewards);
}

}  // namespace

void bind_hanabi_frames(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("hanabi"));
  m.def("frames", &frames, "rules"_a, "seed"_a, "games"_a, "actions"_a, "v0"_a = false,
        "Replay games of the series `seed`, given by their numbers, uint64 [k], and their actions, uint8 [k, T] padded "
        "with 255. Returns arrays over all n moves, game by game: each seat's observation before the move, float32 [n, "
        "players, rules.observation]; the legal actions, bool [n, actions]; the seat that acts, int8 [n]; and the "
        "change of the score, int8 [n]. Raises ValueError on an illegal action.");
}
