// Multi-player UCT on a world of Hearts with known cards (Sturtevant 2008: max^n backups, UCB1).
//
// Rewards are v(o) of the GO-MCTS paper, equation 4: mean points of the opponents less own points, over 26. It is
// linear in the own points, between -1 and 1/3, and 1 for a moon; as an integer it is 78 v(o). A position with one
// legal card has no node. A hand is over once its last scoring card is taken.
#pragma once
#include <cmath>

#include "hearts/passing.hpp"

namespace trickformer::hearts {

struct UctOptions {
  int runs = 2000;             // simulations
  double c = 0.4;              // exploration
  bool light_playouts = true;  // true: by Simulator::choose; false: uniformly random
};

inline namespace TRICKFORMER_ISA {

inline constexpr int kRewardUnit = 78;

// A node of the tree: the position after `card`. Children are adjacent in memory, in the order in which they were first
// tried.
struct UctNode {
  std::int64_t sum = 0;  // of rewards of the seat that chose `card`, in units of v(o) / 78
  Cards untried = 0;
  std::int32_t visits = 0, first = -1;  // first child, -1 for a leaf
  std::uint8_t card = 0, children = 0;
};

// A position with known cards. While `passing` > 0, `current` still chooses that many cards to pass. The passes of the
// others are in `given`; all change hands once it has chosen.
struct Sim {
  Cards hand[kPlayers] = {};
  Cards taken[kPlayers] = {};
  Cards given[kPlayers] = {};
  Cards trick = 0;  // cards on the table
  std::uint8_t num_plays = 0, current = 0, led_suit = 0, best_card = 0, best_seat = 0, passing = 0, direction = 0;
  bool hearts_broken = false;
};

class Simulator {
 public:
  explicit Simulator(const Rules& rules) : rules_(rules) {
    if (!rules.avoid_all_tricks_bonus) decisive_ = kPointCards | (rules.jd_bonus ? bit(kJackOfDiamonds) : 0);
  }

  Cards legal(const Sim& s) const {
    if (s.passing) return s.hand[s.current];
    return legal_plays(rules_, s.hand[s.current], s.num_plays, s.led_suit, s.hearts_broken);
  }

  // Returns true if the scores are final: no trick is in progress, and no card that scores is left.
  bool decided(const Sim& s) const {
    return s.num_plays == kNumCards || (s.num_plays % kPlayers == 0 && !s.passing &&
                                        !(decisive_ & (s.hand[0] | s.hand[1] | s.hand[2] | s.hand[3])));
  }

  void apply(Sim& s, int card) const {
    const int seat = s.current;
    s.hand[seat] ^= bit(card);
    if (s.passing) {
      s.given[seat] |= bit(card);
      if (--s.passing == 0) exchange(s);
      return;
    }
    const int suit = card % 4, in_trick = s.num_plays++ % kPlayers;
    s.hearts_broken |= suit == 2 || (card == kQueenOfSpades && rules_.qs_breaks_hearts);
    lay(s, in_trick, seat, card);
    s.trick |= bit(card);
    if (in_trick < kPlayers - 1) {
      s.current = std::uint8_t((seat + 1) % kPlayers);
      return;
    }
    s.taken[s.best_seat] |= s.trick;
    s.trick = 0;
    s.current = s.best_seat;
  }

  // Writes 78 v(o) of every seat. The hand must be decided.
  void rewards(const Sim& s, int out[kPlayers]) const {
    std::int8_t score[kPlayers];
    scores(rules_, s.taken, score);
    const int sum = score[0] + score[1] + score[2] + score[3];
    for (int p = 0; p < kPlayers; ++p) out[p] = sum - kPlayers * score[p];
  }

  void playout(Sim& s, bool light, Rng& rng) const {
    while (!decided(s)) {
      const Cards cards = legal(s);
      apply(s, (cards & (cards - 1)) == 0 ? lowest(cards) : light ? choose(s, cards, rng) : pick(cards, rng));
    }
  }

 private:
  // The script of playouts, with one random move in eight: duck; discard the queen, hearts and high cards; lead low.
  int choose(const Sim& s, Cards cards, Rng& rng) const {
    const int random = pick(cards, rng);
    if (rng.next() >> 61 == 0) return random;
    if (s.passing) return choose_pass(cards);
    const int in_trick = s.num_plays % kPlayers;
    const Cards same = cards & suit_cards(random % 4), queen = bit(kQueenOfSpades);
    if (in_trick == 0) return lowest(same);
    if (random % 4 != s.led_suit) {  // a legal card of another suit: the hand is void in the suit led
      if (cards & queen) return kQueenOfSpades;
      return highest(cards & kHearts ? cards & kHearts : same);
    }
    const Cards under = same & below(s.best_card), other = same & ~queen;
    if (under & queen) return kQueenOfSpades;
    const bool free = s.num_plays < kPlayers || (in_trick == kPlayers - 1 && !(s.trick & kPointCards));
    if (free || (!under && in_trick == kPlayers - 1)) return highest(other ? other : same);
    return under ? highest(under) : lowest(same);
  }

  static void exchange(Sim& s) {
    for (int p = 0; p < kPlayers; ++p) s.hand[p] &= ~s.given[p];
    for (int p = 0; p < kPlayers; ++p) s.hand[(p + s.direction) % kPlayers] |= s.given[p];
    for (int p = 0; p < kPlayers; ++p)
      if (s.hand[p] & bit(kTwoOfClubs)) s.current = std::uint8_t(p);
  }

  Rules rules_;
  Cards decisive_ = kAll;
};

// Runs UCT from `root`, which has a choice and is not decided. nodes: room for 1 + 13 * runs. logs[n]: natural
// logarithm of n, up to runs. Node 0 is the root; its children hold the result.
inline void uct(const Simulator& game, const Sim& root, const UctOptions& options, Rng& rng, const double* logs,
                UctNode* nodes) {
  int used = 1, path[kNumCards + kPass], mover[kNumCards + kPass];
  nodes[0] = UctNode{};
  for (int run = 0; run < options.runs; ++run) {
    Sim s = root;
    int at = 0, depth = 0;
    for (bool fresh = false; !fresh;) {
      Cards cards = 0;
      while (!game.decided(s)) {
        cards = game.legal(s);
        if (cards & (cards - 1)) break;
        game.apply(s, lowest(cards));
        cards = 0;
      }
      if (!cards) break;
      UctNode& node = nodes[at];
      if (node.first < 0) {
        node.first = used;
        node.untried = cards;
        used += count(cards);
      }
      int child = node.first;
      if (node.untried) {
        child += node.children++;
        nodes[child] = UctNode{};
        nodes[child].card = std::uint8_t(pick(node.untried, rng));
        node.untried ^= bit(nodes[child].card);
        fresh = true;
      } else {
        double most = -1e300;
        for (int i = node.first; i < node.first + node.children; ++i) {
          const double n = nodes[i].visits;
          const double ucb = double(nodes[i].sum) / (n * kRewardUnit) + options.c * std::sqrt(logs[node.visits] / n);
          if (ucb > most) {
            most = ucb;
            child = i;
          }
        }
      }
      path[depth] = at = child;
      mover[depth++] = s.current;
      game.apply(s, nodes[child].card);
    }
    game.playout(s, options.light_playouts, rng);
    int reward[kPlayers];
    game.rewards(s, reward);
    ++nodes[0].visits;
    for (int i = 0; i < depth; ++i) {
      ++nodes[path[i]].visits;
      nodes[path[i]].sum += reward[mover[i]];
    }
  }
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::hearts
