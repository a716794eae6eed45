#include "hanabi_smart.hpp"

#include <algorithm>

#include "hanabi_sight.hpp"

namespace trickformer::hanabi {

namespace {

// What a hint does to the hand of its receiver, in cards.
struct Effect {
  int plays = 0;         // newly known as playable, and playable
  double ease = 0;       // of these, the sum of (ranks - rank) / ranks: low cards open the way for more
  int mistakes = 0;      // useful cards newly taken for trash, useless ones newly taken for playable
  int trash = 0;         // newly known as useless
  int clutter = 0;       // touched for the first time though useless or promised elsewhere
  int kept = 0;          // last copies touched for the first time
  int misled = 0;        // useful cards whose true kind is no longer believed possible
  double narrowed = 0;   // kinds of useful cards newly ruled out, as a share of all
  double rescue = 0;     // by how much it lowers the loss in the receiver's move, if that is the next one
};

struct Hint {
  int action = -1;
  double value = -1e9, rescue = 0;
};

class Thinker {
 public:
  Thinker(const State& s, const Marks& m)
      : sight_(s, m), board_(sight_.board), s_(s), rules_(s.rules), seat_(s.player) {
    sight_.beliefs(seat_, seat_, true, own_);
    sight_.unseen(seat_, seat_, copies_);
    for (int i = 0; i < s_.sizes[seat_]; ++i)
      if (count(own_[i]) == 1) known_ |= own_[i];
  }

  int holmes() const {
    const int play = best_play();
    if (play >= 0 && danger() < kWarning) return rules_.play(play);
    const Hint hint =
        best_hint([](const Effect& e) { return 10 * e.plays - 30 * e.mistakes - 15 * e.misled + e.rescue; });
    if (play >= 0 && hint.rescue < kWarning) return rules_.play(play);
    if (hint.action >= 0 && hint.value >= 10) return hint.action;
    if (const int slot = last_chance(); slot >= 0) return rules_.play(slot);
    if (s_.hints < rules_.hints) return discard();
    return hint.action >= 0 ? hint.action : rules_.play(s_.sizes[seat_] - 1);
  }

  int smart() const {
    const int play = best_play();
    if (play >= 0 && danger() < kWarning) return rules_.play(play);
    const Hint hint = best_hint([](const Effect& e) {
      return 10 * e.plays + 2 * e.ease - 30 * e.mistakes - 15 * e.misled - 4 * e.clutter + e.trash + 2 * e.kept +
             1.5 * e.narrowed + e.rescue;
    });
    if (play >= 0 && hint.rescue < kWarning) return rules_.play(play);
    if (hint.action >= 0 && hint.value >= 4 - 0.5 * s_.hints) return hint.action;
    if (const int slot = last_chance(); slot >= 0) return rules_.play(slot);
    if (s_.hints == rules_.hints) return hint.action >= 0 ? hint.action : rules_.play(s_.sizes[seat_] - 1);
    if (hint.action < 0 || trash() >= 0) return discard();
    const int slot = discard();
    const bool risky = s_.hints >= 4 && share(slot, board_.critical) > 0.3;
    return risky || spare_turns() <= 0 ? hint.action : slot;
  }

 private:
  static constexpr double kCritical = 12, kUseful = 2, kMistake = 6;  // losses: cards discarded, a life
  static constexpr double kWarning = 6;                               // from this loss on a warning goes before a play

  // How many cards can still be drawn in vain if everything that is wanted is to be played.
  int spare_turns() const { return s_.piled() + s_.left() + rules_.players - (rules_.perfect() - unreachable()); }

  int unreachable() const {
    int n = 0;
    for (int c = 0; c < rules_.colors; ++c)
      n += rules_.ranks - s_.fireworks[c] - count(~board_.dead & (one(rules_.ranks) - 1) << c * rules_.ranks);
    return n;
  }

  // The slot to play for sure, or -1: the lowest card, and one that another hand can follow.
  int best_play() const {
    int best = -1, most = -1;
    for (int i = 0; i < s_.sizes[seat_]; ++i) {
      if (sight_.fate(seat_, i, own_[i]) != Fate::kPlayable) continue;
      const Kinds live = own_[i] & ~board_.dead;
      const int rank = lowest(live) % rules_.ranks;
      int value = 3 * (rules_.ranks - rank);
      if (count(live) == 1 && rank + 1 < rules_.ranks && seen(lowest(live) + 1)) value += 4;
      if (value > most) most = value, best = i;
    }
    return best;
  }

  bool seen(int kind) const {
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != seat_ && i < s_.sizes[p]; ++i)
        if (s_.hands[p][i].card == kind) return true;
    return false;
  }

  // How likely an own slot is one of these kinds.
  double share(int slot, Kinds set) const {
    int in = 0, all = 0;
    for (Kinds rest = own_[slot]; rest;) {
      const int k = take_lowest(rest), n = std::max(copies_[k], 1);
      all += n;
      if (set >> k & 1) in += n;
    }
    return double(in) / all;
  }

  // With an empty deck and a life to spare, the slot most likely playable, or -1.
  int last_chance() const {
    int best = -1;
    double most = 0;
    for (int i = 0; s_.left() == 0 && s_.lives > 1 && i < s_.sizes[seat_]; ++i)
      if (const double p = share(i, board_.playable); p > most) most = p, best = i;
    return best;
  }

  int trash() const {
    for (int i = 0; i < s_.sizes[seat_]; ++i)
      if (sight_.fate(seat_, i, own_[i]) == Fate::kTrash) return i;
    return -1;
  }

  // The slot to discard: useless, or promised to another hand, or the chop, or what is least likely to be missed.
  int discard() const {
    if (const int i = trash(); i >= 0) return i;
    const Kinds spare = board_.dead | promised(seat_);
    for (int i = 0; i < s_.sizes[seat_]; ++i)
      if ((own_[i] & ~spare) == 0) return i;
    if (const int chop = chop_of(s_, seat_); chop >= 0) return chop;
    int best = 0;
    double least = 9;
    for (int i = 0; i < s_.sizes[seat_]; ++i) {
      const double miss = share(i, board_.critical) + 0.2 * share(i, board_.playable) + 0.1 * share(i, ~board_.dead);
      if (miss < least) least = miss, best = i;
    }
    return best;
  }

  // The kinds that hints have named in the hands of others than the own seat and this one.
  Kinds promised(int seat) const {
    Kinds set = 0;
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != seat_ && p != seat && i < s_.sizes[p]; ++i)
        if (s_.hands[p][i].told) set |= one(s_.hands[p][i].card);
    return set;
  }

  // What the table would miss with a card of another seat.
  double worth(int seat, int slot) const {
    const int card = s_.hands[seat][slot].card;
    if ((board_.dead | known_) >> card & 1) return 0;
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != seat_ && i < s_.sizes[p]; ++i)
        if ((p != seat || i != slot) && s_.hands[p][i].card == card) return 0;
    return board_.critical >> card & 1 ? kCritical : kUseful;
  }

  // What is lost in the next seat's move if nobody warns it.
  double danger() const {
    const int next = (seat_ + 1) % rules_.players;
    Kinds kinds[kMaxHand];
    sight_.beliefs(next, seat_, true, kinds);
    return loss(sight_, next, kinds);
  }

  // What is lost if this seat moves next and sees things so.
  double loss(const Sight& sight, int seat, const Kinds* kinds) const {
    bool idle = true;
    for (int i = 0; i < s_.sizes[seat]; ++i) {
      const Fate fate = sight.fate(seat, i, kinds[i]);
      if (fate == Fate::kPlayable && !s_.playable(s_.hands[seat][i].card)) return kMistake;
      idle = idle && fate == Fate::kUnknown;
    }
    const int chop = chop_of(sight.s, seat);
    return idle && chop >= 0 ? worth(seat, chop) : 0;
  }

  template <typename Value>
  Hint best_hint(Value&& value) const {
    Hint best;
    Kinds before[kMaxPlayers][kMaxHand];
    for (int p = 0; p < rules_.players; ++p)
      if (p != seat_) sight_.beliefs(p, seat_, true, before[p]);
    for (std::uint64_t rest = legal(s_) >> 2 * rules_.hand << 2 * rules_.hand; rest;) {
      const int action = take_lowest(rest);
      const int seat = (seat_ + move_of(rules_, action).offset) % rules_.players;
      const Effect e = effect(action, seat, before[seat]);
      if (const double v = value(e); v > best.value) best = {action, v, e.rescue};
    }
    return best;
  }

  // before: what the receiver believes without the hint.
  Effect effect(int action, int seat, const Kinds* before) const {
    State after = s_;
    apply(after, action);
    Marks marks = sight_.m;
    mark(marks, s_, action, after);
    const Sight then(sight_, after, marks);
    Kinds kinds[kMaxHand];
    then.beliefs(seat, seat_, true, kinds);
    Effect e;
    Kinds taken = promised(seat) | known_;  // kinds that need no second copy
    for (int i = after.sizes[seat] - 1; i >= 0; --i) {
      const int card = s_.hands[seat][i].card;
      const Fate was = sight_.fate(seat, i, before[i]), is = then.fate(seat, i, kinds[i]);
      const bool told = after.hands[seat][i].told != 0, fresh = told && s_.hands[seat][i].told == 0;
      const bool live = !(board_.dead >> card & 1), spare = !live || taken >> card & 1;
      if (is == Fate::kPlayable && was != is) {
        if (s_.playable(card) && !spare)
          ++e.plays, e.ease += double(rules_.ranks - card % rules_.ranks) / rules_.ranks;
        else
          ++e.mistakes;
      } else if (is == Fate::kTrash && was != is) {
        ++(live ? e.mistakes : e.trash);
      } else if (is == Fate::kUnknown) {
        e.clutter += fresh && spare;
        e.kept += fresh && live && board_.critical >> card & 1;
        if (live && was == is && after.last.touched >> i & 1) {
          if (kinds[i] >> card & 1)
            e.narrowed += double(count(before[i]) - count(kinds[i])) / rules_.kinds();
          else
            ++e.misled;
        }
      }
      if (is == Fate::kPlayable || (told && live)) taken |= one(card);
    }
    if (after.player == seat) e.rescue = loss(sight_, seat, before) - loss(then, seat, kinds);
    return e;
  }

  Sight sight_;
  const Board& board_;
  const State& s_;
  const Rules& rules_;
  int seat_;
  Kinds own_[kMaxHand];    // what the own slots may be
  int copies_[kMaxKinds];  // cards of each kind out of sight
  Kinds known_ = 0;        // kinds that an own card is known to be
};

}  // namespace

int holmes_action(const State& s, const Marks& m) { return Thinker(s, m).holmes(); }
int smart_action(const State& s, const Marks& m) { return Thinker(s, m).smart(); }

}  // namespace trickformer::hanabi
