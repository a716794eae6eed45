#include "hanabi/labels.hpp"

#include <stdexcept>

#include "core/tracker.hpp"
#include "hanabi/decision.hpp"
#include "hanabi/tables.hpp"

namespace trickformer::hanabi {
namespace {

void check(const Rules& rules, const std::uint8_t* history) {
  if (!is_deck(rules, history))
    throw std::invalid_argument("these cards are no deck of the game; a deck holds every card");
  State s = new_game(rules, history);
  const std::uint8_t *action = history + rules.deck(), *end = action + longest(rules);
  for (; action != end && !s.over() && *action != 255; ++action) {
    check_action(*action < rules.actions() && legal(s) >> *action & 1, *action);
    apply(s, *action);
  }
}

// A game and the meaning of its hints so far.
struct Course {
  State s;
  Marks m;
};

void label_game(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options,
                std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
  const Rules& rules = codec.rules();
  Rng rng(seed, stream);
  const auto decide = [&](const Course& now, int position) {
    const std::uint64_t actions = legal(now.s);
    if (!(actions & (actions - 1)) || rng.uniform() >= options.share) return;
    const std::uint64_t drawn = rng.next();
    int sums[kMaxActions] = {};
    // with at most one card left, all playouts are equal
    const int playouts = now.s.left() > 1 ? options.playouts : 1;
    for (int i = 0; i < playouts; ++i) {
      Course with = now;
      Rng own(drawn, std::uint64_t(i));
      if (i > 0) shuffle_rest(with.s, own);
      for (std::uint64_t rest = actions; rest;) {
        const int action = take_lowest(rest);
        sums[action] += play_out_smart(with.s, with.m, action);
      }
    }
    for (std::uint64_t rest = actions; rest;) {
      const int action = take_lowest(rest);
      const double mean = double(sums[action]) / (double(playouts) * rules.kinds());
      out.push_back({std::uint16_t(position), std::uint16_t(action), float(mean)});
    }
  };

  Course course{new_game(rules, history), {}};
  course.m = plain_marks(course.s);
  int length = 0;  // number of tokens of the own sequence so far
  const auto tell = [&](int p, int) { length += p == seat; };
  tell_deal(codec, course.s, tell);
  for (const std::uint8_t* action = history + rules.deck(); !course.s.over() && *action != 255; ++action) {
    if (course.s.player == seat) decide(course, length - 1);
    Course after = course;
    apply(after.s, after.m, *action);
    tell_action(codec, course.s, *action, tell);
    course.m = after.m;
  }
}

}  // namespace

void label(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out) {
  check(codec.rules(), history);
  label_game(codec, history, seat, options, seed, stream, out);
}

}  // namespace trickformer::hanabi
