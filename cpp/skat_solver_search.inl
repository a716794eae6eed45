// The search; included by one translation unit for each instruction set.
#include <algorithm>

#include "skat_solver_table.hpp"

#ifndef TRICKFORMER_ISA
#define TRICKFORMER_ISA base
#endif

namespace trickformer::skat::inline TRICKFORMER_ISA {

inline int highest(Cards cards) { return 31 - std::countl_zero(cards); }
inline Cards above(int card) { return ~Cards{1} << card; }
inline Cards below(int card) { return bit(card) - 1; }

// One search: kNull and kTricks say what is played for; `need` and all values count the soloist's further points,
// or tricks where kTricks.
template <bool kNull, bool kTricks>
class Searcher {
 public:
  Searcher(SearchTable& table, const Task& task) : memory_(table), t_(tables(task.family)), suit_game_(task.family == Family::kSuit) {
    for (int p = 0; p < 3; ++p) {
      hand_[p] = task.hands[p];
      for (Cards left = hand_[p]; left;) code_ ^= std::uint64_t(3 ^ p) << 2 * take_lowest(left);
    }
  }

  int run(const Task& task, int need) {
    Cards all = hand_[0] | hand_[1] | hand_[2];
    for (int i = 0; i < task.played; ++i) all |= bit(task.trick[i]);
    const int rest = kTricks ? std::max({count(hand_[0]), count(hand_[1]), count(hand_[2])}) : points(all);
    if (need <= 0) return 0;
    if (rest < need) return rest;
    const int p = task.leader, q = (p + 1) % 3, r = (q + 1) % 3;
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
    Move move[10];
    int size = 0;
    bool merged = false;  // are there runs of several cards
  };

  static int points(Cards c) {
    if (kNull) return 0;
    constexpr Cards low = 0x00204081u;  // lowest cards of the four blocks
    return 3 * count(c & low << 3) + 4 * count(c & low << 4) + 10 * count(c & low << 5) + 11 * count(c & low << 6) +
           2 * count(c & 0xf0000000u);
  }
  static int most(Cards c) {
    constexpr Cards low = 0x00204081u;
    if (c & low << 6) return 11;
    if (c & low << 5) return 10;
    if (c & low << 4) return 4;
    if (c & low << 3) return 3;
    return c & 0xf0000000u ? 2 : 0;
  }
  static int least(Cards c) {
    constexpr Cards low = 0x00204081u;
    if (c & (low | low << 1 | low << 2)) return 0;
    if (c & 0xf0000000u) return 2;
    if (c & low << 3) return 3;
    if (c & low << 4) return 4;
    return c & low << 5 ? 10 : 11;
  }
  int worth(int card) const { return kTricks ? 0 : t_.points[card]; }
  static int worth3(int a, int b, int c) { return kTricks ? 1 : a + b + c; }

  Cards legal(int p, int lead) const {
    const Cards same = hand_[p] & t_.follow[lead];
    return same ? same : hand_[p];
  }
  static std::uint64_t gone(int card) { return std::uint64_t{3} << 2 * card; }

  std::uint64_t key(int leader, std::uint64_t code) const {
    const Codes& c = codes_;
    if constexpr (kNull) {
      std::uint16_t a = c.eight[code & 0xffff], b = c.eight[code >> 16 & 0xffff], d = c.eight[code >> 32 & 0xffff],
                    e = c.eight[code >> 48];
      order(a, b), order(d, e), order(a, d), order(b, e), order(b, d);
      return (((a * kRadix + b) * kRadix + d) * kRadix + e) * 3 + std::uint64_t(leader);
    } else {
      const std::uint16_t* block = kTricks ? c.tricks : c.points;
      std::uint16_t a = block[code & 0x3fff], b = block[code >> 14 & 0x3fff], d = block[code >> 28 & 0x3fff],
                    e = block[code >> 42 & 0x3fff];
      if (suit_game_) {
        order(a, b), order(b, d), order(a, b);
      } else {
        order(a, b), order(d, e), order(a, d), order(b, e), order(b, d);
      }
      return ((((a * kRadix + b) * kRadix + d) * kRadix + e) * kJackRadix + c.jacks[code >> 56]) * 3 + std::uint64_t(leader);
    }
  }
  static void order(std::uint16_t& a, std::uint16_t& b) {
    const std::uint16_t low = std::min(a, b), high = std::max(a, b);
    a = low, b = high;
  }

  Entry* group_of(std::uint64_t k) const { return &memory_.entries[(k * 0x9e3779b97f4a7c15 >> memory_.shift) << 2]; }
  Entry* find(std::uint64_t k) const {
    Entry* group = group_of(k);
    for (int i = 0; i < 4; ++i)
      if (group[i].key == k && group[i].stamp == memory_.stamp) return &group[i];
    return nullptr;
  }
  void keep(std::uint64_t k, int low, int high, int move, int depth) {
    Entry* group = group_of(k);
    Entry* to = group;
    for (int i = 0; i < 4; ++i) {
      Entry& e = group[i];
      if (e.stamp != memory_.stamp || e.key == k) {
        to = &e;
        break;
      }
      if (e.depth < to->depth) to = &e;
    }
    *to = {k, memory_.stamp, std::uint8_t(low), std::uint8_t(high), std::uint8_t(move), std::uint8_t(depth)};
  }

  // Cards of `legal`, one of each set of neighbours that are worth the same, or several where points differ and
  // `outcome` (1: the mover's side takes the trick for sure, -1: the other side does, 0: open) leaves that open.
  template <class Outcome, class Score>
  void moves(Moves& out, Cards legal, Cards others, Outcome outcome, Score score) {
    int run = 0;
    while (legal) {
      const int top = highest(legal);
      int cards[10], n = 0, c = top, best = top, worst = top;
      const Cards suit = t_.follow[top];
      for (;;) {
        legal ^= bit(c);
        if (n == 0 || worth(c) != worth(cards[n - 1])) cards[n++] = c;
        if (worth(c) > worth(best)) best = c;
        if (worth(c) < worth(worst)) worst = c;
        const Cards next = legal & suit;
        if (!next) break;
        const int d = highest(next);
        if (others & above(d) & below(c)) break;
        c = d;
      }
      const int sure = outcome(top);
      if (n > 1 && sure) cards[0] = sure > 0 ? best : worst, n = 1;
      if (n > 1) out.merged = true;
      for (int i = 0; i < n; ++i) out.move[out.size++] = {score(cards[i], sure), std::int16_t(cards[i]), std::int16_t(run)};
      ++run;
    }
  }

  // In null it is the defenders who want the soloist to take tricks.
  static bool raises(int p) { return (p == 0) != kNull; }

  // Tries moves best first; `play` gives a child's value. Returns the value of the node, as a bound.
  template <class Play>
  int best(Moves& m, bool raises, int need, int& choice, Play play) {
    int value = raises ? -1 : 1000;
    int found[10];
    for (int i = 0; i < m.size; ++i) {
      int pick = i;
      for (int j = i + 1; j < m.size; ++j)
        if (m.move[j].score > m.move[pick].score) pick = j;
      std::swap(m.move[i], m.move[pick]);
      const Move move = m.move[i];
      int v = raises ? 1000 : -1;
      if (m.merged)
        for (int j = 0; j < i; ++j)
          if (m.move[j].run == move.run) {
            const int apart = std::abs(worth(m.move[j].card) - worth(move.card));
            v = raises ? std::min(v, found[j] + apart) : std::max(v, found[j] - apart);
          }
      // Exchanging a neighbour changes the value by no more than their difference in points.
      if (raises ? v >= need : v < need) v = play(move.card);
      found[i] = v;
      if (raises ? v > value : v < value) {
        value = v;
        choice = move.card;
        if (raises ? v >= need : v < need) break;
      }
    }
    return value;
  }

  void praise(int place, int p, int card, int depth) { 
    memory_.history[place][p][card] += depth * depth; }
  int habit(int place, int p, int card) const { return memory_.history[place][p][card]; }

  int lead(int p, std::uint64_t code, int rest, int need) {
    ++nodes;
    const int q = p == 2 ? 0 : p + 1, r = q == 2 ? 0 : q + 1;
    const int depth = count(hand_[p]);
    if (depth == 1) {
      const int a = highest(hand_[p]), b = highest(hand_[q]), c = highest(hand_[r]);
      int w = p, high = a;
      if (t_.beats[high] & bit(b)) w = q, high = b;
      if (t_.beats[high] & bit(c)) w = r;
      return w == 0 ? rest : 0;
    }
    int low = 0, high = rest;
    if (!kNull) bounds(p, low, high, rest);
    if (low >= need) return low;
    if (high < need) return high;
    std::uint64_t k = 0;
    int hint = -1;
    if (depth >= kKeep) {
      k = key(p, code);
      if (const Entry* e = find(k)) {
        low = std::max(low, int(e->low)), high = std::min(high, int(e->high));
        if (low >= need) return low;
        if (high < need) return high;
        hint = e->move;
      }
    }
    const bool up = raises(p);
    Moves m;
    moves(
        m, hand_[p], hand_[q] | hand_[r], [&](int c) { return lead_outcome(p, q, r, c); },
        [&](int c, int sure) { return c == hint ? 1 << 30 : lead_score(p, q, r, c, sure) ; });
    int choice = -1;
    int value = best(m, up, need, choice, [&](int c) {
      hand_[p] ^= bit(c);
      const int v = second(p, q, c, code, rest, need);
      hand_[p] ^= bit(c);
      return v;
    });
    value = std::clamp(value, low, high);
    if (value >= need) low = value;
    else high = value;
    if ((value >= need) == up) praise(0, p, choice, depth);
    if (depth >= kKeep) keep(k, low, high, choice, depth);
    return value;
  }

  bool can_beat(Cards cards, int w) const { return cards & t_.beats[w]; }

  int lead_outcome(int p, int q, int r, int c) const {
    const Cards b = legal(q, c), d = legal(r, c);
    const Cards beats = t_.beats[c];
    if (p == 0) {
      if (!((b | d) & beats)) return 1;
      return !(b & ~beats) || !(d & ~beats) ? -1 : 0;
    }
    const Cards s = q == 0 ? b : d;
    if (!(s & beats)) return 1;
    return 0;
  }

  int lead_score(int p, int q, int r, int c, int sure) const {
    const Cards b = legal(q, c), d = legal(r, c);
    const Cards beats = t_.beats[c];
    int score;
    if constexpr (kNull) {
      score = sure;
    } else if (p == 0) {
      const bool win = !((b | d) & beats);
      score = win ? worth(c) + least(b) + least(d) : -(worth(c) + most(b) + most(d));
    } else {
      const Cards s = q == 0 ? b : d, e = q == 0 ? d : b;
      int w = c;
      if (e & t_.beats[w]) w = highest(e & t_.beats[w]);
      const bool win = !(s & t_.beats[w]);
      score = win ? worth(c) + least(s) + most(e) : -(worth(c) + least(e));
    }
    return score * kStatic + habit(0, p, c);
  }

  int second(int p, int q, int c1, std::uint64_t code, int rest, int need) {
    ++nodes;
    const int r = q == 2 ? 0 : q + 1;
    const bool up = raises(q);
    const Cards l = legal(q, c1), third_legal = legal(r, c1);
    Moves m;
    moves(
        m, l, hand_[p] | hand_[r] | bit(c1), [&](int c) { return second_outcome(p, q, c1, c, third_legal); },
        [&](int c, int sure) { return second_score(p, q, r, c1, c, third_legal, sure); });
    int choice = -1;
    const int value = best(m, up, need, choice, [&](int c) {
      hand_[q] ^= bit(c);
      const int v = third(p, q, r, c1, c, code, rest, need);
      hand_[q] ^= bit(c);
      return v;
    });
    if ((value >= need) == up) praise(1, q, choice, count(hand_[q]));
    return value;
  }

  int second_outcome(int p, int q, int c1, int c, Cards next) const {
    const bool beat = t_.beats[c1] & bit(c);
    const int w = beat ? c : c1;
    const Cards over = next & t_.beats[w];
    if (q == 0) return !beat ? -1 : !over ? 1 : next & ~t_.beats[w] ? 0 : -1;
    if (p == 0) {  // the other defender is last
      if (beat) return 1;
      return !over ? -1 : next & ~t_.beats[w] ? 0 : 1;
    }
    return !over ? 1 : next & ~t_.beats[w] ? 0 : -1;  // the soloist is last
  }

  int second_score(int p, int q, int r, int c1, int c, Cards next, int sure) const {
    (void)r;
    int score;
    if constexpr (kNull) {
      score = sure;
    } else {
      const bool beat = t_.beats[c1] & bit(c);
      const int w = beat ? c : c1;
      const bool over = next & t_.beats[w];
      bool win;
      if (q == 0) win = beat && !over;
      else if (p == 0) win = beat || over;
      else win = !over;
      score = win ? worth(c1) + worth(c) : -(worth(c1) + worth(c));
    }
    return score * kStatic + habit(1, q, c);
  }

  int third(int p, int q, int r, int c1, int c2, std::uint64_t code, int rest, int need) {
    ++nodes;
    const bool up = raises(r), soloist = r == 0;
    const bool beat2 = t_.beats[c1] & bit(c2);
    const int w = beat2 ? c2 : c1, wp = beat2 ? q : p;
    const Cards beats = t_.beats[w];
    code |= gone(c1) | gone(c2);
    Moves m;
    const auto side = [&](int c) {
      const int winner = beats & bit(c) ? r : wp;
      return (winner == 0) == soloist ? 1 : -1;
    };
    const int so_far = worth(c1) + worth(c2);
    moves(
        m, legal(r, c1), hand_[p] | hand_[q] | bit(w), side,
        [&](int c, int sure) { return (kNull ? sure : sure * (so_far + worth(c))) * kStatic + habit(2, r, c); });
    int choice = -1;
    const int value = best(m, up, need, choice, [&](int c) {
      const int winner = beats & bit(c) ? r : wp;
      const int trick = worth3(worth(c1), worth(c2), worth(c));
      const int gain = winner == 0 ? trick : 0;
      const int left = rest - trick, still = need - gain;
      if (still <= 0) return gain;
      if (left < still) return gain + left;
      hand_[r] ^= bit(c);
      const int v = hand_[r] ? gain + lead(winner, code | gone(c), left, still) : gain;
      hand_[r] ^= bit(c);
      return v;
    });
    if ((value >= need) == up) praise(2, r, choice, 1 + count(hand_[p]));
    return value;
  }

  // The least that k cards of a hand are worth.
  static int cheapest(Cards cards, int k) {
    if (kTricks || k <= 0) return 0;
    constexpr Cards low = 0x00204081u;
    constexpr Cards zero = low | low << 1 | low << 2;
    k -= count(cards & zero);
    if (k <= 0) return 0;
    int sum = 0;
    const auto take = [&](Cards some, int value) {
      const int n = std::min(k, count(cards & some));
      sum += n * value, k -= n;
    };
    take(0xf0000000u, 2), take(low << 3, 3), take(low << 4, 4), take(low << 5, 10), take(low << 6, 11);
    return sum;
  }

  // Bounds from tricks that nothing can prevent: trumps above all of the other side's are a trick of their own each,
  // and a side on lead can cash its highest cards of a suit as long as nobody against it may trump.
  void bounds(int p, int& low, int& high, int rest) const {
    const Cards trump = t_.trump;
    const Cards s = hand_[0] & trump, a = hand_[1] & trump, b = hand_[2] & trump, d = a | b;
    Cards sure = 0;
    int k = 0;
    if (s > d) {
      sure = d ? s & above(highest(d)) : s;
      k = count(sure);
    }
    if (p == 0) {
      const bool drawn = k >= count(a) && k >= count(b);
      if (drawn) sure = s, k = count(s);
      for (Cards left = hand_[0] & ~trump; left;) {
        const Cards suit = t_.follow[highest(left)], own = left & suit;
        left &= ~suit;
        const Cards x = hand_[1] & suit, y = hand_[2] & suit, against = x | y;
        Cards win = against ? own & above(highest(against)) : own;
        if (!win) {
          continue;
        }
        int n = count(win);
        const int nx = count(x), ny = count(y);
        if (drawn) {
          if (n >= nx && n >= ny) win = own, n = count(own);
        } else {
          const int most = std::min(a ? nx : 8, b ? ny : 8);
          while (n > most) win &= win - 1, --n;
        }
        sure |= win, k += n;
      }
    }
    if (k) low = kTricks ? k : points(sure) + cheapest(hand_[1], k) + cheapest(hand_[2], k);

    sure = 0, k = 0;
    if (d > s) {
      sure = s ? d & above(highest(s)) : d;
      k = std::max(count(sure & a), count(sure & b));
    }
    int more = 0;
    if (p != 0) {
      const Cards own_hand = hand_[p], mate = hand_[3 - p];
      const bool drawn = !s;
      int spare = count(mate & ~trump);  // cards that let the partner stay off lead
      for (Cards left = own_hand & ~trump; left;) {
        const Cards suit = t_.follow[highest(left)], own = left & suit;
        left &= ~suit;
        const Cards x = hand_[0] & suit, y = mate & suit, against = x | y;
        Cards win = against ? own & above(highest(against)) : own;
        if (!win) continue;
        int n = count(win);
        const int nx = count(x), ny = count(y);
        if (drawn && n >= nx && n >= ny) win = own, n = count(own);
        const int most = std::min(spare, drawn ? 10 : nx);
        while (n > most) win &= win - 1, --n;
        sure |= win, more += n, spare -= n;
      }
    }
    if (k + more) high = rest - (kTricks ? k + more : points(sure) + cheapest(hand_[0], k + more) + (p ? cheapest(hand_[3 - p] & ~sure, more) : 0));
  }

  static constexpr int kKeep = 2;    // tricks left from which positions are remembered
  static constexpr int kStatic = 30000;

  SearchTable& memory_;
  const FamilyTables& t_;
  const Codes& codes_ = codes();
  const bool suit_game_;
  Cards hand_[3];
  std::uint64_t code_ = ~std::uint64_t{0};
};

static int search_here(SearchTable& table, const Task& task, int need, std::uint64_t& nodes) {
  const auto go = [&](auto searcher) {
    const int value = searcher.run(task, need);
    nodes += searcher.nodes;
    return value;
  };
  if (task.family == Family::kNull) return go(Searcher<true, true>(table, task));
  if (task.tricks) return go(Searcher<false, true>(table, task));
  return go(Searcher<false, false>(table, task));
}

}  // namespace trickformer::skat::inline TRICKFORMER_ISA
