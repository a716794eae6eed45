// A position of the search: holders of the cards, values of the cards, and bounds on the points to come.
#include <algorithm>

#include "skat/solver_table.hpp"

namespace trickformer::skat::inline TRICKFORMER_ISA {

inline Cards above(int card) { return ~Cards{1} << card; }
inline Cards below(int card) { return bit(card) - 1; }

// kNull and kTricks select the objective: values count the soloist's further points, or tricks if kTricks.
template <bool kNull, bool kTricks>
class Cardplay {
 protected:
  explicit Cardplay(const Task& task) : t_(tables(task.family)), suit_game_(task.family == Family::kSuit) {
    std::copy(task.hands, task.hands + 3, hand_);
  }

  // ---- points ----

  static constexpr Cards kLow = 0x00204081u;  // the lowest cards of the four blocks
  static constexpr Cards kNothing = kLow | kLow << 1 | kLow << 2, kQueens = kLow << 3, kKings = kLow << 4,
                         kTens = kLow << 5, kAces = kLow << 6, kKnaves = 0xf0000000u;

  static int points(Cards c) {
    return 3 * count(c & kQueens) + 4 * count(c & kKings) + 10 * count(c & kTens) + 11 * count(c & kAces) +
           2 * count(c & kKnaves);
  }
  static int most(Cards c) {
    return c & kAces ? 11 : c & kTens ? 10 : c & kKings ? 4 : c & kQueens ? 3 : c & kKnaves ? 2 : 0;
  }
  static int least(Cards c) {
    return c & kNothing ? 0 : c & kKnaves ? 2 : c & kQueens ? 3 : c & kKings ? 4 : c & kTens ? 10 : 11;
  }
  // Least number of points of k cards of a hand.
  static int cheapest(Cards cards, int k) {
    if (kTricks) return 0;
    k -= count(cards & kNothing);
    int sum = 0;
    const auto take = [&](Cards some, int value) {
      if (k <= 0) return;
      const int n = std::min(k, count(cards & some));
      sum += n * value;
      k -= n;
    };
    take(kKnaves, 2);
    take(kQueens, 3);
    take(kKings, 4);
    take(kTens, 10);
    take(kAces, 11);
    return sum;
  }
  int worth(int card) const { return kTricks ? 0 : t_.points[card]; }
  static int trick_worth(int card_points) { return kTricks ? 1 : card_points; }

  // ---- cards ----

  Cards legal(int p, int lead) const {
    const Cards same = hand_[p] & t_.follow[lead];
    return same ? same : hand_[p];
  }
  Cards suit(int card) const { return t_.follow[card]; }
  Cards beats(int card) const { return t_.beats[card]; }  // cards that would take the trick from this one
  int length(int p, int card) const { return count(hand_[p] & suit(card)); }
  int rank(int card) const { return count(suit(card) & below(card)); }
  bool trump(int card) const { return t_.trump & bit(card); }

  // If only relative ranks count, equivalent positions have one key; suits except trumps are interchangeable.
  std::uint64_t key(int leader, std::uint64_t code) const {
    const Codes& all = codes_;
    std::uint64_t jacks = 0;
    std::uint16_t a, b, c, d;
    if constexpr (kNull) {
      a = all.eight[code & 0xffff];
      b = all.eight[code >> 16 & 0xffff];
      c = all.eight[code >> 32 & 0xffff];
      d = all.eight[code >> 48];
    } else {
      const std::uint16_t* block = kTricks ? all.tricks : all.points;
      a = block[code & 0x3fff];
      b = block[code >> 14 & 0x3fff];
      c = block[code >> 28 & 0x3fff];
      d = block[code >> 42 & 0x3fff];
      jacks = all.jacks[code >> 56];
    }
    if (suit_game_) {
      order(a, b);
      order(b, c);
      order(a, b);
    } else {
      order(a, b);
      order(c, d);
      order(a, c);
      order(b, d);
      order(b, c);
    }
    return ((((a * kRadix + b) * kRadix + c) * kRadix + d) * kJackRadix + jacks) * 3 + std::uint64_t(leader);
  }
  static void order(std::uint16_t& a, std::uint16_t& b) {
    const std::uint16_t low = std::min(a, b), high = std::max(a, b);
    a = low;
    b = high;
  }

  // ---- bounds ----

  // Bounds of the soloist's further points when p leads, from tricks that nothing can prevent. Each trump above all
  // trumps of the other side wins a trick. A side on lead can cash its highest cards of a suit as long as no opponent
  // can trump.
  void bounds(int p, int& low, int& high, int rest) const {
    const Cards s = hand_[0] & t_.trump, a = hand_[1] & t_.trump, b = hand_[2] & t_.trump, d = a | b;
    if (s > d || p == 0) low = soloist_sure(p, s, a, b);
    if (d > s || p != 0) high = rest - defenders_sure(p, s, a, b);
  }

  int soloist_sure(int p, Cards s, Cards a, Cards b) const {
    Cards sure = top(s, a | b);
    int k = count(sure);
    if (p == 0) {
      const bool drawn = k >= count(a) && k >= count(b);  // no defender has a trump left
      if (drawn) {
        sure = s;
        k = count(s);
      }
      for (Cards left = hand_[0] & ~t_.trump; left;) {
        const Cards same = suit(highest(left)), own = left & same, x = hand_[1] & same, y = hand_[2] & same;
        left &= ~same;
        Cards win = top(own, x | y);
        int n = count(win);
        if (drawn) {
          if (n >= count(x) && n >= count(y)) {
            win = own;
            n = count(own);
          }
        } else {
          const int follow = std::min(a ? count(x) : kHand, b ? count(y) : kHand);
          for (; n > follow; --n) win &= win - 1;
        }
        sure |= win;
        k += n;
      }
    }
    return kTricks ? k : k ? points(sure) + cheapest(hand_[1], k) + cheapest(hand_[2], k) : 0;
  }

  int defenders_sure(int p, Cards s, Cards a, Cards b) const {
    Cards sure = top(a | b, s);
    const int k = std::max(count(sure & a), count(sure & b));
    if (p == 0) return kTricks ? k : k ? points(sure) + cheapest(hand_[0], k) : 0;
    const Cards mate = hand_[3 - p];
    int more = 0, spare = count(mate & ~t_.trump);  // cards with which the partner can stay off lead
    for (Cards left = hand_[p] & ~t_.trump; left;) {
      const Cards same = suit(highest(left)), own = left & same, x = hand_[0] & same, y = mate & same;
      left &= ~same;
      Cards win = top(own, x | y);
      int n = count(win);
      if (!s && n >= count(x) && n >= count(y)) {
        win = own;
        n = count(own);
      }
      const int follow = std::min(spare, s ? count(x) : kHand);
      for (; n > follow; --n) win &= win - 1;
      sure |= win;
      more += n;
      spare -= n;
    }
    if (kTricks || k + more == 0) return k + more;
    return points(sure) + cheapest(hand_[0], k + more) + cheapest(mate & ~sure, more);
  }

  // The cards above all cards of `against`.
  static Cards top(Cards cards, Cards against) { return against ? cards & above(highest(against)) : cards; }

  const FamilyTables& t_;
  const Codes& codes_ = codes();
  const bool suit_game_;
  Cards hand_[3];
};

}  // namespace trickformer::skat::inline TRICKFORMER_ISA
