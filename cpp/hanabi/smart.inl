// The decisions of `holmes` and `smart`. Each instruction set has one translation unit that includes this file.
#include <algorithm>

#include "hanabi/deductions.hpp"
#include "hanabi/smart_weights.hpp"

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

namespace {

// The effect of a hint on the hand of its receiver, in cards.
struct Effect {
  int plays = 0;        // cards newly known as playable that are playable
  double ease = 0;      // sum of (ranks - rank) / ranks over these cards: low cards make way for more
  int mistakes = 0;     // useful cards newly taken for useless, and useless cards newly taken for playable
  int trash = 0;        // useless cards newly known as such
  int clutter = 0;      // cards touched for the first time that are useless or promised elsewhere
  int kept = 0;         // last copies touched for the first time
  int misled = 0;       // useful cards whose true kind is no longer believed possible
  double narrowed = 0;  // share of all kinds that are newly ruled out, summed over useful cards
  double rescue = 0;    // reduction of the loss in the receiver's move, if it moves next
};

struct Hint {
  int action = -1;
  double value = -1e9, rescue = 0;
};

class Thinker {
 public:
  Thinker(const State& s, const Marks& m)
      : deductions_(s, m), needs_(deductions_.needs), s_(s), rules_(s.rules), seat_(s.player) {
    copies_ = deductions_.unseen(seat_, seat_);
    for (int i = 0; i < s_.sizes[seat_]; ++i) {
      own_[i] = Deductions::belief(hinted_kinds(rules_, s_.hands[seat_][i]), copies_.more_than[0], m.kinds[seat_][i]);
      if (single(own_[i])) known_ |= own_[i];
    }
  }

  int holmes() const {
    const int play = best_play();
    if (play >= 0 && danger() < kWarning) return rules_.play(play);
    const Hint hint = best_hint([](const Effect& e) {
      return kHintPlays * e.plays + kHintMistakes * e.mistakes + kHintMisled * e.misled + e.rescue;
    });
    if (play >= 0 && hint.rescue < kWarning) return rules_.play(play);
    if (hint.action >= 0 && hint.value >= kHolmesHint) return hint.action;
    if (const int slot = last_chance(); slot >= 0) return rules_.play(slot);
    if (s_.hints < rules_.hints) return discard();
    return hint.action >= 0 ? hint.action : rules_.play(s_.sizes[seat_] - 1);
  }

  int smart() const {
    const int play = best_play();
    if (play >= 0 && danger() < kWarning) return rules_.play(play);
    const Hint hint = best_hint([](const Effect& e) {
      return kHintPlays * e.plays + kHintEase * e.ease + kHintMistakes * e.mistakes + kHintMisled * e.misled +
             kHintClutter * e.clutter + kHintTrash * e.trash + kHintKept * e.kept + kHintNarrowed * e.narrowed +
             e.rescue;
    });
    if (play >= 0 && hint.rescue < kWarning) return rules_.play(play);
    if (hint.action >= 0 && hint.value >= kSmartHint - kSmartHintLeft * s_.hints) return hint.action;
    if (const int slot = last_chance(); slot >= 0) return rules_.play(slot);
    if (s_.hints == rules_.hints) return hint.action >= 0 ? hint.action : rules_.play(s_.sizes[seat_] - 1);
    if (hint.action < 0 || trash() >= 0) return discard();
    const int slot = discard();
    const bool risky = s_.hints >= kRiskyHints && share(slot, needs_.critical) > kRiskyShare;
    return risky || spare_turns() <= 0 ? hint.action : slot;
  }

 private:
  // Number of cards that can still be drawn without a play if all reachable cards are to be played.
  int spare_turns() const { return s_.piled() + s_.left() + rules_.players - (rules_.kinds() - unreachable()); }

  int unreachable() const {
    int n = 0;
    for (int c = 0; c < rules_.colors; ++c)
      n += rules_.ranks - s_.fireworks[c] - count(~needs_.dead & (one(rules_.ranks) - 1) << c * rules_.ranks);
    return n;
  }

  Fate fate(int slot) const { return deductions_.fate(s_.hands[seat_][slot].hint_bits, own_[slot]); }

  // The slot of a card that is certainly playable, or -1. Prefers low cards, and cards that another hand can follow.
  int best_play() const {
    int best = -1, most = -1;
    for (int i = 0; i < s_.sizes[seat_]; ++i) {
      if (fate(i) != Fate::kPlayable) continue;
      const Kinds live = own_[i] & ~needs_.dead;
      const int rank = lowest(live) % rules_.ranks;
      int value = kPlayLow * (rules_.ranks - rank);
      if (count(live) == 1 && rank + 1 < rules_.ranks && is_in_sight(lowest(live) + 1)) value += kPlayFollowed;
      if (value > most) {
        most = value;
        best = i;
      }
    }
    return best;
  }

  bool is_in_sight(int kind) const {
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != seat_ && i < s_.sizes[p]; ++i)
        if (s_.hands[p][i].card == kind) return true;
    return false;
  }

  // Probability that an own slot is one of these kinds.
  double share(int slot, Kinds set) const {
    int in = 0, all = 0;
    for (Kinds rest = own_[slot]; rest;) {
      const int k = take_lowest(rest), n = std::max(copies_.left(k), 1);
      all += n;
      if (set >> k & 1) in += n;
    }
    return double(in) / all;
  }

  // With an empty deck and a life to spare: the slot that is most likely playable, or -1.
  int last_chance() const {
    int best = -1;
    double most = 0;
    for (int i = 0; s_.left() == 0 && s_.lives > 1 && i < s_.sizes[seat_]; ++i)
      if (const double p = share(i, needs_.playable); p > most) {
        most = p;
        best = i;
      }
    return best;
  }

  int trash() const {
    for (int i = 0; i < s_.sizes[seat_]; ++i)
      if (fate(i) == Fate::kTrash) return i;
    return -1;
  }

  // The slot to discard: a useless card, or one that is promised to another hand, or the chop, or the card that is
  // least likely to be missed.
  int discard() const {
    if (const int i = trash(); i >= 0) return i;
    const Kinds spare = needs_.dead | promised(seat_);
    for (int i = 0; i < s_.sizes[seat_]; ++i)
      if ((own_[i] & ~spare) == 0) return i;
    if (const int chop = chop_of(s_, seat_); chop >= 0) return chop;
    int best = 0;
    double least = 9;
    for (int i = 0; i < s_.sizes[seat_]; ++i) {
      const double miss =
          share(i, needs_.critical) + kMissPlayable * share(i, needs_.playable) + kMissUseful * share(i, ~needs_.dead);
      if (miss < least) {
        least = miss;
        best = i;
      }
    }
    return best;
  }

  // The kinds of hinted cards in the hands of all seats but the own one and this one.
  Kinds promised(int seat) const {
    Kinds set = 0;
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != seat_ && p != seat && i < s_.sizes[p]; ++i)
        if (s_.hands[p][i].hint_bits) set |= one(s_.hands[p][i].card);
    return set;
  }

  // The loss if a card of another seat is discarded.
  double worth(int seat, int slot) const {
    const int card = s_.hands[seat][slot].card;
    if ((needs_.dead | known_) >> card & 1) return 0;
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != seat_ && i < s_.sizes[p]; ++i)
        if ((p != seat || i != slot) && s_.hands[p][i].card == card) return 0;
    return needs_.critical >> card & 1 ? kCritical : kUseful;
  }

  // Another seat's hand as that seat sees it. Sets are sets of slots.
  struct Hand {
    int seat;
    HintedHand hinted;
    Kinds kinds[kMaxHand];
    unsigned plays = 0, trash = 0;
  };

  // Properties of a receiver that do not change with a hint.
  struct Receiver {
    Hand hand;
    Copies unseen;      // cards that it does not see, except its own hand
    Kinds taken;        // kinds that need no second copy
    double loss;        // loss in its move, if it moves next
    unsigned live = 0;  // slots whose card is not useless
  };

  Receiver receiver(int seat) const {
    Receiver r;
    r.unseen = deductions_.unseen(seat, seat_, false);
    r.hand = believe(seat, r.unseen, HintedHand(s_, deductions_.m, seat));
    r.taken = promised(seat) | known_;
    r.loss = seat == (seat_ + 1) % rules_.players ? loss(r.hand) : 0;
    for (int i = 0; i < s_.sizes[seat]; ++i) r.live |= unsigned(~needs_.dead >> s_.hands[seat][i].card & 1) << i;
    return r;
  }

  // A seat's knowledge of its hand after these hints.
  Hand believe(int seat, Copies unseen, const HintedHand& hinted) const {
    Hand h;
    h.seat = seat;
    h.hinted = hinted;
    for (int i = 0; i < hinted.size; ++i)
      if (single(hinted.possible[i])) unseen.take(hinted.possible[i]);
    for (int i = 0; i < hinted.size; ++i) {
      h.kinds[i] = Deductions::belief(hinted.possible[i], unseen.more_than[0], hinted.marks[i]);
      const Fate fate = deductions_.fate(!(hinted.fresh >> i & 1), h.kinds[i]);
      h.plays |= unsigned(fate == Fate::kPlayable) << i;
      h.trash |= unsigned(fate == Fate::kTrash) << i;
    }
    return h;
  }

  // The loss in the next seat's move if nobody warns it.
  double danger() const {
    const int next = (seat_ + 1) % rules_.players;
    return loss(believe(next, deductions_.unseen(next, seat_, false), HintedHand(s_, deductions_.m, next)));
  }

  // The loss in this seat's move if it moves next and has this knowledge.
  double loss(const Hand& h) const {
    for (unsigned slots = h.plays; slots;)
      if (!(needs_.next >> s_.hands[h.seat][take_lowest(slots)].card & 1)) return kMistake;
    return h.plays == 0 && h.trash == 0 && h.hinted.fresh ? worth(h.seat, lowest(h.hinted.fresh)) : 0;
  }

  template <typename Value>
  Hint best_hint(Value&& worth_of) const {
    Hint best;
    if (s_.hints == 0) return best;
    Receiver receivers[kMaxPlayers];
    for (int offset = 1; offset < rules_.players; ++offset)
      receivers[offset] = receiver((seat_ + offset) % rules_.players);
    int action = 2 * rules_.hand;
    for (const Kind kind : {Kind::kHintColor, Kind::kHintRank})
      for (int offset = 1; offset < rules_.players; ++offset)
        for (int value = 0; value < (kind == Kind::kHintColor ? rules_.colors : rules_.ranks); ++value, ++action) {
          const unsigned names = named_slots(s_, receivers[offset].hand.seat, kind, value);
          if (names == 0) continue;
          const Effect e = effect(kind, value, names, receivers[offset]);
          if (const double v = worth_of(e); v > best.value) best = {action, v, e.rescue};
        }
    return best;
  }

  Effect effect(Kind kind, int value, unsigned names, const Receiver& r) const {
    const Hand& before = r.hand;
    const int seat = before.seat;
    const Hand then = believe(seat, r.unseen, before.hinted.after(rules_, needs_, kind, value, names));
    const unsigned plays = then.plays & ~before.plays, trash = then.trash & ~before.trash;
    const unsigned open = names & ~then.plays & ~then.trash, was_open = ~before.plays & ~before.trash;
    const unsigned fresh = open & before.hinted.fresh;
    Effect e;
    e.trash = count(trash & ~r.live);
    e.mistakes = count(trash & r.live);
    // Among cards of one kind, the newest is the one to be played.
    Kinds taken = r.taken;
    const unsigned all = (1u << before.hinted.size) - 1;
    for (unsigned rest = all & (then.plays | (r.live & ~then.hinted.fresh) | fresh); rest;) {
      const int i = highest(rest);
      const unsigned bit = 1u << i;
      rest ^= bit;
      const int card = s_.hands[seat][i].card;
      const bool spare = !(r.live & bit) || taken >> card & 1;
      if (plays & bit) {
        if (needs_.next >> card & 1 && !spare) {
          ++e.plays;
          e.ease += double(rules_.ranks - card % rules_.ranks) / rules_.ranks;
        } else
          ++e.mistakes;
      }
      if (fresh & bit) {
        e.clutter += spare;
        e.kept += r.live & bit && needs_.critical >> card & 1;
      }
      if ((then.plays | r.live) & bit) taken |= one(card);
    }
    for (unsigned rest = open & r.live & was_open; rest;) {
      const int i = highest(rest);
      rest ^= 1u << i;
      if (then.kinds[i] >> s_.hands[seat][i].card & 1)
        e.narrowed += double(count(before.kinds[i]) - count(then.kinds[i])) / rules_.kinds();
      else
        ++e.misled;
    }
    if ((seat_ + 1) % rules_.players == seat) e.rescue = r.loss - loss(then);
    return e;
  }

  Deductions deductions_;
  const Needs& needs_;
  const State& s_;
  const Rules& rules_;
  int seat_;
  Kinds own_[kMaxHand];  // possible kinds of the own slots
  Copies copies_;        // cards out of sight
  Kinds known_ = 0;      // kinds that an own card is known to be
};

}  // namespace

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
