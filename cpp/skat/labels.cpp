#include "skat/labels.hpp"

#include <stdexcept>

#include "core/tracker.hpp"
#include "skat/rules_player.hpp"
#include "skat/solver.hpp"
#include "skat/tell.hpp"

namespace trickformer::skat {
namespace {

// Open cards favour the defenders: the longer best play with them lasts, the worse contracts look. By playouts `rules`
// chose better cards in the first tricks than by best play from there on.
constexpr int kOpenCards = 4;  // decisions with so many cards in hand are solved
constexpr int kTailCards = 3;  // playouts are solved from here on
constexpr int kStray = 16;     // one card in so many is random, or all playouts would be the same
constexpr int kMost = 6;       // actions of a decision that has more than kFew of them before the cards are played
constexpr int kFew = 7;
constexpr int kNear = 10;  // calls above the highest that a seat may think of

// A game, and what each seat has seen of it.
struct Game {
  State state;
  SeatView views[kPlayers];

  void apply(int action) {
    tell_action(state, action, [&](int p, int token) {
      if (token != kEndToken) see(views[p], token);
    });
  }
  int rules() const { return rules_player(views[state.current]); }
};

SolverPosition position_of(const State& s) {
  SolverPosition p;
  p.kind = s.contract.kind;
  p.soloist = s.auction.soloist;
  p.leader = s.leader;
  Cards left = 0;
  const int begun = s.num_plays % kPlayers;
  for (int i = 0; i < begun; ++i) {
    p.trick[std::size_t(i)] = std::int8_t(s.plays[s.num_plays - begun + i]);
    left |= bit(p.trick[std::size_t(i)]);
  }
  for (int seat = 0; seat < kPlayers; ++seat) {
    p.hands[std::size_t(seat)] = s.hand[seat];
    left |= s.hand[seat];
  }
  p.points[0] = std::int16_t(s.points + card_points(s.skat));
  p.points[1] = std::int16_t(kAllPoints - p.points[0] - card_points(left));
  return p;
}

// How a game in play ends by best play with open cards; of the card points no more than the score asks for. What a game
// is worth to the soloist rises in steps, of which not a single trick and all of them are the first and the last: it is
// the highest that he can force.
Result solved(const State& s, Solver& solver) {
  if (s.phase == Phase::kOver) return result(s);
  const SolverPosition p = position_of(s);
  const int over = s.num_plays / kPlayers, most = kAllPoints - p.points[1];
  const auto settled = [&](int points, int tricks) {
    return settle(s.contract, s.auction.bid(), s.auction.soloist, s.soloists_cards, points, tricks);
  };
  const auto reaches = [&](int points) {
    return p.points[0] >= points || (most >= points && solver.at_least(p, points));
  };
  if (s.contract.kind == Kind::kNull) return settled(0, solver.tricks_at_least(p, 1));
  if (!reaches(61)) return reaches(31) ? settled(31, 1) : settled(30, s.tricks || solver.tricks_at_least(p, 1));
  if (!reaches(90)) return settled(61, 1);
  return settled(90, s.tricks == over && solver.tricks_at_least(p, kTricks - over) ? kTricks : 1);
}

Result play_out(Game g, Rng& rng, Solver& solver) {
  State& s = g.state;
  while (s.phase == Phase::kPlay) {
    if (s.num_plays % kPlayers == 0 && s.num_plays >= kPlays - kPlayers * kTailCards) return solved(s, solver);
    const Cards legal = legal_cards(s);
    // One number a card, so that the actions of a decision go on alike.
    const std::uint64_t drawn = rng.next();
    if (!(legal & (legal - 1)))
      g.apply(lowest(legal));
    else if (drawn % kStray == 0)
      g.apply(nth(legal, int((drawn >> 32) * std::uint64_t(count(legal)) >> 32)));
    else
      g.apply(g.rules());
  }
  return result(s);
}

// 200 v(o) of a seat.
int worth(const Result& r, bool seeger, int seat) {
  std::int16_t score[kPlayers];
  scores(r, seeger, score);
  return 3 * score[seat] - score[0] - score[1] - score[2];
}

// The actions to label, ascending.
int candidates(const Game& g, int taken, Rng& rng, std::uint8_t* out) {
  const State& s = g.state;
  std::uint8_t legal[kActions];
  const int n = legal_actions(s, legal);
  bool chosen[kActions] = {};
  if (s.phase == Phase::kPlay || n <= kFew) {
    for (int i = 0; i < n; ++i) chosen[legal[i]] = true;
  } else {
    chosen[taken] = chosen[g.rules()] = true;
    if (s.phase == Phase::kAuction) {
      const int calls = n - 1;
      chosen[kPass] = chosen[legal[0]] = chosen[legal[rng.below(std::uint32_t(calls))]] = true;
      chosen[legal[rng.below(std::uint32_t(std::min(calls, kNear)))]] = true;
    } else {
      for (int more = kMost - 1 - (taken != g.rules()); more > 0;) {
        bool& drawn = chosen[legal[rng.below(std::uint32_t(n))]];
        more -= !drawn;
        drawn = true;
      }
    }
  }
  int found = 0;
  for (int action = 0; action < kActions; ++action)
    if (chosen[action]) out[found++] = std::uint8_t(action);
  return found;
}

}  // namespace

void label(bool seeger, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out) {
  static thread_local Solver solver(14);
  check_deck(history, kNumCards);
  Cards hands[kPlayers] = {}, skat = 0;
  for (int i = 0; i < kNumCards; ++i) (i < kPlayers * kHand ? hands[i / kHand] : skat) |= bit(history[i]);
  Game g{new_game(hands, skat), {}};
  int told = 0;  // tokens of the own sequence
  const auto tell = [&](int p, int token) {
    told += p == seat;
    if (token != kEndToken) see(g.views[p], token);
  };
  tell_deal(g.state, tell);
  Rng rng(seed, stream);
  for (int i = kNumCards; g.state.phase != Phase::kOver; ++i) {
    const int taken = i < kHistory ? history[i] : kNoAction;
    check_action(is_legal(g.state, taken), taken);
    std::uint8_t actions[kActions];
    if (g.state.current == seat && legal_actions(g.state, actions) > 1 && rng.uniform() < options.share) {
      const int n = candidates(g, taken, rng, actions);
      const std::uint64_t drawn = rng.next();
      const bool open = g.state.phase == Phase::kPlay && count(g.state.hand[seat]) <= kOpenCards;
      solver.reset();
      for (int k = 0; k < n; ++k) {
        Game next = g;
        next.apply(actions[k]);
        while (next.state.phase < Phase::kPlay) next.apply(next.rules());
        const int playouts = open ? 1 : options.playouts;
        std::int64_t sum = 0;
        for (int j = 0; j < playouts; ++j) {
          Rng own(drawn, std::uint64_t(j));
          sum += worth(open ? solved(next.state, solver) : play_out(next, own, solver), seeger, seat);
        }
        out.push_back({std::uint16_t(told - 1), actions[k], float(double(sum) / (200.0 * playouts))});
      }
    }
    tell_action(g.state, taken, tell);
  }
}

}  // namespace trickformer::skat
