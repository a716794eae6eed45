// A game of Skat with the views of all seats, on which scripted players play.
#pragma once
#include <span>

#include "core/tracker.hpp"
#include "skat/rules_player.hpp"
#include "skat/tell.hpp"
#include "skat/worlds.hpp"

namespace trickformer::skat {

struct Table {
  State state;
  SeatView views[kPlayers];

  // listener(seat, token) receives every observation.
  template <typename Listener>
  Table(const State& dealt, Listener listener) : state(dealt) {
    tell_deal(state, as_seen_by(listener));
  }
  explicit Table(const State& dealt) : Table(dealt, [](int, int) {}) {}
  template <typename Listener>
  void apply(int action, Listener listener) {
    tell_action(state, action, as_seen_by(listener));
  }
  void apply(int action) {
    apply(action, [](int, int) {});
  }
  int rules() const { return rules_player(views[state.current]); }

 private:
  template <typename Listener>
  auto as_seen_by(Listener& listener) {
    return [&](int p, int token) {
      listener(p, token);
      if (token != kEndToken) see(views[p], token);
    };
  }
};

// A game in a world after a course of actions since the deal. Another soloist's discards are given by the world, so
// their numbers in the course are ignored. Throws std::invalid_argument if an action is not legal.
inline Table table_after(const World& world, std::span<const int> course) {
  Table t(new_game(world.dealt, world.dealt_skat));
  for (int action : course) {
    if (t.state.phase == Phase::kDiscard) action = world.discards[t.state.discarded];
    check_action(t.state.phase != Phase::kOver && is_legal(t.state, action), action);
    t.apply(action);
  }
  return t;
}

// 200 v(o) of a seat.
inline int own_worth(const Result& r, bool seeger, int seat) {
  std::int16_t score[kPlayers];
  scores(r, seeger, score);
  return 3 * score[seat] - score[0] - score[1] - score[2];
}

}  // namespace trickformer::skat
