#include "hanabi/players.hpp"

#include <algorithm>

#include "hanabi/lists.hpp"
#include "hanabi/smart.hpp"

namespace trickformer::hanabi {

namespace {

// The actions that a bot chooses from with equal chances.
std::uint64_t choice(Bot bot, const State& s, const Marks& m) {
  const auto only = [](int action) { return std::uint64_t{1} << action; };
  switch (bot) {
    case Bot::kSimple: return only(simple_action(s, m));
    case Bot::kHolmes: return only(holmes_action(s, m));
    case Bot::kSmart: return only(smart_action(s, m));
    case Bot::kIggi: return iggi_actions(s);
    case Bot::kPiers: return piers_actions(s);
    case Bot::kFlawed: return flawed_actions(s);
  }
  return 0;
}

}  // namespace

void probs(Bot bot, const State& s, const Marks& m, float* out) {
  std::fill(out, out + s.rules.actions(), 0.0f);
  if (s.over()) return;
  std::uint64_t actions = choice(bot, s, m);
  const float each = 1 / float(count(actions));
  while (actions) out[take_lowest(actions)] = each;
}

int draw_action(Bot bot, const State& s, const Marks& m, Rng& rng) { return pick(choice(bot, s, m), rng); }

}  // namespace trickformer::hanabi
