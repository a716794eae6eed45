// The search, built for each instruction set.
#include <cstdlib>

#include "skat/solver_order.inl"

namespace trickformer::skat::inline TRICKFORMER_ISA {

template <bool kNull, bool kTricks>
class Searcher : Order<kNull, kTricks> {
  using Base = Order<kNull, kTricks>;
  using Base::hand_, Base::beats, Base::suit, Base::legal, Base::worth, Base::trick_worth;

 public:
  Searcher(SearchTable& table, const Task& task) : Base(task), memory_(table) {
    for (int p = 0; p < 3; ++p)
      for (Cards left = hand_[p]; left;) code_ ^= std::uint64_t(3 ^ p) << 2 * take_lowest(left);
  }

  int run(const Task& task, int need) {
    Cards all = hand_[0] | hand_[1] | hand_[2];
    for (int i = 0; i < task.played; ++i) all |= bit(task.trick[i]);
    const int rest = kTricks ? std::max({count(hand_[0]), count(hand_[1]), count(hand_[2])}) : Base::points(all);
    if (need <= 0) return 0;
    if (rest < need) return rest;
    const int p = task.leader, q = next(p), r = next(q);
    if (task.played == 0) return lead(p, code_, rest, need);
    if (task.played == 1) return second(p, q, task.trick[0], code_, rest, need);
    return third(p, q, r, task.trick[0], task.trick[1], code_, rest, need);
  }

  std::uint64_t nodes = 0;

 private:
  struct Move {
    std::int32_t score;
    std::int16_t card, run;
  };
  struct Moves {
    Move move[kHand];
    int size = 0;
    bool merged = false;  // some group of neighbours has several cards
  };

  static int next(int p) { return p == 2 ? 0 : p + 1; }
  static std::uint64_t gone(int card) { return std::uint64_t{3} << 2 * card; }

  // In null the defenders want the soloist to take tricks.
  static bool raises(int p) { return (p == 0) != kNull; }

  // ---- memory ----

  Entry* group(std::uint64_t key) const { return memory_.groups[key * 0x9e3779b97f4a7c15 >> memory_.shift].entry; }

  const Entry* find(std::uint64_t key) const {
    const Entry* e = group(key);
    for (int i = 0; i < 4; ++i)
      if (e[i].key == key && e[i].stamp == memory_.stamp) return &e[i];
    return nullptr;
  }

  void keep(std::uint64_t key, int low, int high, int move, int depth) {
    Entry* const first = group(key);
    Entry* to = first;
    for (Entry* e = first; e < first + 4; ++e) {
      if (e->stamp != memory_.stamp || e->key == key) {
        to = e;
        break;
      }
      if (e->depth < to->depth) to = e;
    }
    *to = {key, memory_.stamp, std::uint8_t(low), std::uint8_t(high), std::uint8_t(move), std::uint8_t(depth)};
  }

  // ---- moves ----

  // Lists the cards to try. Cards of one hand are neighbours if no card of another hand lies between them. Of
  // neighbours with equal points, one is listed. If `outcome` decides who takes the trick, only one of all neighbours
  // is listed: the one with most points if the own side takes the trick, else the one with fewest.
  template <class Outcome, class Score>
  void list(Moves& out, Cards cards, Cards others, Outcome outcome, Score score, int place, int p, int hint) const {
    for (int run = 0; cards; ++run) {
      const int top = highest(cards);
      const Cards same = suit(top);
      int some[kHand], n = 0, dearest = top, cheapest = top;
      for (int card = top;;) {
        cards ^= bit(card);
        if (n == 0 || worth(card) != worth(some[n - 1])) some[n++] = card;
        if (worth(card) > worth(dearest)) dearest = card;
        if (worth(card) < worth(cheapest)) cheapest = card;
        if (!(cards & same)) break;
        const int lower = highest(cards & same);
        if (others & above(lower) & below(card)) break;
        card = lower;
      }
      const int sure = outcome(top);
      if (n > 1 && sure) {
        some[0] = sure > 0 ? dearest : cheapest;
        n = 1;
      }
      out.merged |= n > 1;
      for (int i = 0; i < n; ++i) {
        const int card = some[i];
        const int value = card == hint ? 1 << 30 : score(card, sure) * kScale + memory_.history[place][p][card];
        out.move[out.size++] = {value, std::int16_t(card), std::int16_t(run)};
      }
    }
  }

  // Tries cards, best first; `play` returns the value after a card. Returns a bound on the value of the node, and in
  // `choice` the card that gives it.
  template <class Play>
  int best(Moves& m, int place, int p, int depth, int need, int& choice, Play play) {
    const bool up = raises(p);
    int value = up ? -1 : 1000;
    int found[kHand];
    for (int i = 0; i < m.size; ++i) {
      int pick = i;
      for (int j = i + 1; j < m.size; ++j)
        if (m.move[j].score > m.move[pick].score) pick = j;
      std::swap(m.move[i], m.move[pick]);
      const Move move = m.move[i];
      int v = up ? 1000 : -1;
      if (m.merged)  // playing a neighbour instead changes the value by at most the difference in points
        for (int j = 0; j < i; ++j)
          if (m.move[j].run == move.run) {
            const int apart = std::abs(worth(m.move[j].card) - worth(move.card));
            v = up ? std::min(v, found[j] + apart) : std::max(v, found[j] - apart);
          }
      if ((v >= need) == up) v = play(move.card);
      found[i] = v;
      if (up ? v > value : v < value) {
        value = v;
        choice = move.card;
        if ((v >= need) == up) {
          praise(memory_.history[place][p], choice, depth);
          break;
        }
      }
    }
    return value;
  }

  static void praise(std::int32_t* history, int card, int depth) {
    history[card] += depth * depth;
    if (history[card] > kMost)
      for (int i = 0; i < kNumCards; ++i) history[i] /= 2;
  }

  // ---- nodes ----
  // Each returns a bound on the soloist's further points out of the `rest` that are left: a lower bound if it reaches
  // `need`, else an upper bound.

  int lead(int p, std::uint64_t code, int rest, int need) {
    ++nodes;
    const int q = next(p), r = next(q), depth = count(hand_[p]);
    if (depth == 1) {
      int winner = p, high = highest(hand_[p]);
      if (beats(high) & hand_[q]) {
        winner = q;
        high = highest(hand_[q]);
      }
      if (beats(high) & hand_[r]) winner = r;
      return winner == 0 ? rest : 0;
    }
    int low = 0, high = rest;
    if (!kNull) Base::bounds(p, low, high, rest);
    if (low >= need) return low;
    if (high < need) return high;
    const std::uint64_t k = Base::key(p, code);
    int hint = -1;
    if (const Entry* e = find(k)) {
      low = std::max(low, int(e->low));
      high = std::min(high, int(e->high));
      if (low >= need) return low;
      if (high < need) return high;
      hint = e->move;
    }
    Moves m;
    list(
        m, hand_[p], hand_[q] | hand_[r], [&](int card) { return Base::lead_outcome(p, q, r, card); },
        [&](int card, int sure) { return Base::lead_score(p, q, r, card, sure); }, 0, p, hint);
    int choice = -1;
    int value = best(m, 0, p, depth, need, choice, [&](int card) {
      hand_[p] ^= bit(card);
      const int v = second(p, q, card, code, rest, need);
      hand_[p] ^= bit(card);
      return v;
    });
    value = std::clamp(value, low, high);
    (value >= need ? low : high) = value;
    keep(k, low, high, choice, depth);
    return value;
  }

  int second(int p, int q, int led, std::uint64_t code, int rest, int need) {
    ++nodes;
    const int r = next(q), depth = count(hand_[q]);
    const Cards last = legal(r, led);
    Moves m;
    list(
        m, legal(q, led), hand_[p] | hand_[r] | bit(led),
        [&](int card) { return Base::second_outcome(p, q, led, card, last); },
        [&](int card, int sure) { return Base::second_score(p, q, led, card, last, sure); }, 1, q, -1);
    int choice = -1;
    return best(m, 1, q, depth, need, choice, [&](int card) {
      hand_[q] ^= bit(card);
      const int v = third(p, q, r, led, card, code, rest, need);
      hand_[q] ^= bit(card);
      return v;
    });
  }

  int third(int p, int q, int r, int led, int then, std::uint64_t code, int rest, int need) {
    ++nodes;
    const bool changed = beats(led) & bit(then);
    const int ahead = changed ? then : led, holder = changed ? q : p, depth = count(hand_[r]);
    const Cards over = beats(ahead);
    const int so_far = worth(led) + worth(then);
    code |= gone(led) | gone(then);
    Moves m;
    list(
        m, legal(r, led), hand_[p] | hand_[q] | bit(ahead),
        [&](int card) { return ((over & bit(card) ? r : holder) == 0) == (r == 0) ? 1 : -1; },
        [&](int card, int sure) { return Base::third_score(r, card, over & bit(card), so_far, sure); }, 2, r, -1);
    int choice = -1;
    return best(m, 2, r, depth, need, choice, [&](int card) {
      const int winner = over & bit(card) ? r : holder;
      const int trick = trick_worth(so_far + worth(card)), gain = winner == 0 ? trick : 0;
      const int left = rest - trick, still = need - gain;
      if (still <= 0) return gain;
      if (left < still) return gain + left;
      hand_[r] ^= bit(card);
      const int v = hand_[r] ? gain + lead(winner, code | gone(card), left, still) : gain;
      hand_[r] ^= bit(card);
      return v;
    });
  }

  static constexpr int kScale = 3000, kMost = 1 << 22;

  SearchTable& memory_;
  std::uint64_t code_ = ~std::uint64_t{0};  // owners of the cards, as in Codes
};

}  // namespace trickformer::skat::inline TRICKFORMER_ISA

namespace trickformer::skat::built::TRICKFORMER_ISA {

int zero_window(SearchTable& table, const Task& task, int need, std::uint64_t& nodes) {
  const auto go = [&](auto searcher) {
    const int value = searcher.run(task, need);
    nodes += searcher.nodes;
    return value;
  };
  if (task.family == Family::kNull) return go(Searcher<true, true>(table, task));
  if (task.tricks) return go(Searcher<false, true>(table, task));
  return go(Searcher<false, false>(table, task));
}

}  // namespace trickformer::skat::built::TRICKFORMER_ISA
