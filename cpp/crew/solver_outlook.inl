// Tests on a position before a trick: the winners and cards that the rules allow, and an estimate of the distance to
// success. Each instruction set has one translation unit that includes this file.
#include "crew/solver_goal.inl"

namespace trickformer::crew::inline TRICKFORMER_ISA {

class Outlook {
 protected:
  // A card that `owner` must win and that is in the hand of `holder`.
  struct Wanted {
    std::uint8_t card;
    std::int8_t holder, owner;
  };

  explicit Outlook(const State& s) : goal_(s) {}

  // Records who holds each card, and which seat must win which cards. Must be repeated after the draw of Rule::kDraw.
  void hold(const Position& at) {
    num_wanted_ = 0;
    wanted_cards_ = 0;
    std::fill(wanted_by_, wanted_by_ + kPlayers, 0);
    std::fill(owner_, owner_ + kNumCards, std::int8_t(-1));
    for (int p = 0; p < kPlayers; ++p)
      for (Cards left = at.hand[p]; left;) {
        const int card = take_lowest(left);
        holder_[card] = std::int8_t(p);
        for (int o = 0; o < kPlayers; ++o)
          if (goal_.owned[o] >> card & 1) want(card, p, o);
        if (goal_.rockets && suit(card) == kRocket) want(card, p, p);
      }
  }

  void want(int card, int holder, int owner) {
    clash_ |= owner_[card] >= 0 && owner_[card] != owner;
    owner_[card] = std::int8_t(owner);
    wanted_cards_ |= bit(card);
    wanted_by_[owner] |= bit(card);
    wanted_[num_wanted_++] = {std::uint8_t(card), std::int8_t(holder), std::int8_t(owner)};
  }

  // ---- rules before a trick ----

  // The seats that may win the trick, as bits.
  unsigned may_win(const Position& at) const {
    const bool first = at.trick == 0, last = at.trick == kTricks - 1;
    unsigned set = 15;
    const auto only = [&](int seat) { set &= 1u << seat; };
    const auto never = [&](int seat) { set &= ~(1u << seat); };
    if (goal_.rules.has(Rule::kSick)) never(goal_.member);
    if (goal_.balance) {
      const int least = *std::min_element(at.wins, at.wins + kPlayers);
      for (int p = 0; p < kPlayers; ++p)
        if (at.wins[p] > least) never(p);
      if (goal_.rules.has(Rule::kBalanceEnds) && (first || last)) only(goal_.commander);
    }
    if (goal_.rules.has(Rule::kOneTrick)) {
      if (at.wins[goal_.member])
        never(goal_.member);
      else if (last)
        only(goal_.member);
    }
    if (goal_.rules.has(Rule::kFirstAndLast)) {
      if (first || last)
        only(goal_.member);
      else
        never(goal_.member);
    }
    if (goal_.rules.has(Rule::kRoles)) {
      if (at.trick < 4)
        only(goal_.first_four);
      else if (last)
        only(goal_.last);
      else {
        never(goal_.first_four);
        never(goal_.last);
      }
    }
    return set;
  }

  // Cards that must be won but cannot be won in this trick, for one of three reasons. Other cards must be won first.
  // Or the order asks for another task in the same trick, but that task has another owner or its card is in the same
  // hand. Or the omega task waits for the last trick.
  Cards banned(const Position& at, Cards open) const {
    Cards out = too_early(at);
    if (!goal_.ordered) return out;
    const auto apart = [&](int a, Cards with) {
      return with & ~goal_.owned[owner_[a]] || with & at.hand[holder_[a]] & ~bit(a);
    };
    const int done = goal_.number_done(open);
    const Cards next = done < kMaxTasks ? goal_.due[done + 1] & open : 0;
    for (Cards left = open; left;) {
      const int card = take_lowest(left);
      Cards with = next;
      if (goal_.numbered >> card & 1)
        for (int n = done + 1; !(goal_.due[n] >> card & 1); ++n) with |= goal_.due[n] & open;
      if (goal_.omega >> card & 1) with |= open;
      Cards before = 0;
      for (const Cards arrows : goal_.arrow) {
        if (arrows >> card & 1) with |= before & open;
        before |= arrows;
      }
      if (apart(card, with)) out |= bit(card);
    }
    if (goal_.rules.has(Rule::kOmegaLast) && at.trick < kTricks - 1) out |= goal_.omega;
    return out;
  }

  bool may_win_with(const Position& at, int seat, int card) const {
    if (goal_.nines && kNines >> card & 1) return false;
    if (suit(card) != kRocket) return true;
    if (goal_.no_rocket && seat == goal_.member) return false;
    return !goal_.rules.has(Rule::kRocketsInOrder) || !(at.all() & lower(card));
  }

  // ---- how far it is to success ----

  // The largest number of tricks that a seat may still win.
  int capacity(const Position& at, int seat) const {
    const int left = kTricks - at.trick;
    int most = left;
    if (goal_.rules.has(Rule::kSick) && seat == goal_.member) most = 0;
    if (goal_.balance) most = std::min(most, 3 - at.wins[seat]);
    if (goal_.rules.has(Rule::kOneTrick) && seat == goal_.member) most = std::min(most, 1 - at.wins[seat]);
    if (goal_.rules.has(Rule::kFirstAndLast) && seat == goal_.member) most = std::min(most, 1 + (at.trick == 0));
    if (goal_.rules.has(Rule::kRoles)) {
      const int middle = std::min(left - 1, 5);
      most = std::min(most, seat == goal_.first_four ? std::max(4 - at.trick, 0) : seat == goal_.last ? 1 : middle);
    }
    return most;
  }

  // Returns -1 if a simple test shows that no line can succeed, else an estimate of the work left: mainly the sum of
  // the costs of the cards that must still be won.
  int assess(const Position& at) const {
    if (clash_) return -1;
    const int left = kTricks - at.trick;
    const Cards all = at.all();
    int work = 0;
    Cards to_win[kPlayers] = {}, before[kMostWanted], some_before = 0;
    for (int i = 0; i < num_wanted_; ++i) {
      const Wanted& w = wanted_[i];
      before[i] = 0;
      if (!(all >> w.card & 1)) continue;
      to_win[w.owner] |= bit(w.card);
      const int cost = w.holder == w.owner ? own_cost(at, w, left, before[i]) : cost_of(at, w, left);
      if (cost < 0) return -1;
      some_before |= before[i];
      work += 16 + cost;
    }
    if (some_before && !in_some_order(all, before)) return -1;
    int tricks = 0;
    for (int p = 0; p < kPlayers; ++p) {
      int most = goal_.to_the_end ? sure_rockets(at, p) : 0;
      if (most && goal_.no_rocket && p == goal_.member) return -1;
      for (const Cards hand : at.hand) most = std::max(most, count(to_win[p] & hand));
      if (most > capacity(at, p)) return -1;
      tricks += most;
    }
    if (tricks > left) return -1;
    if (goal_.ones) {
      const int more = ones_cost(at, left);
      if (more < 0) return -1;
      work += more;
    }
    if (goal_.nines) work += 4 * count(all & kNines);
    return work;
  }

  // Cards that their own holder must win, but not in this trick, because another card must be won first.
  Cards too_early(const Position& at) const {
    Cards out = 0;
    for (int i = 0; i < num_wanted_; ++i) {
      const Wanted& w = wanted_[i];
      Cards before = 0;
      if (w.holder == w.owner && at.hand[w.holder] >> w.card & 1) own_cost(at, w, kTricks, before);
      if (before) out |= bit(w.card);
    }
    return out;
  }

  // Returns whether the cards that must be won can be won in some order. before: indexed by wanted card, the cards that
  // come earlier.
  bool in_some_order(Cards left, const Cards* before) const {
    left &= wanted_cards_;
    for (Cards free = 1; free && left; left &= ~free) {
      free = 0;
      for (int i = 0; i < num_wanted_; ++i) {
        const int card = wanted_[i].card;
        if (left >> card & 1 && !((before[i] | goal_.earlier[card]) & left)) free |= bit(card);
      }
    }
    return !left;
  }

  // Rockets that win their trick whatever is played, because the others have too few rockets above them.
  static int sure_rockets(const Position& at, int seat) {
    int above = 0, sure = 0;
    for (int card = kNumCards - 1; card >= kColourCards; --card) {
      if (at.hand[seat] >> card & 1)
        above ? --above : ++sure;
      else
        above += (at.all() >> card & 1) != 0;
    }
    return sure;
  }

  Cards for_others(int seat) const { return wanted_cards_ & ~wanted_by_[seat]; }

  // Cost of a card that its holder must win by playing it. Another seat that has cards of the suit, but none that may
  // fall to this card, must play them in earlier tricks. `before` receives those of them that some seat must win.
  int own_cost(const Position& at, const Wanted& w, int left, Cards& before) const {
    const int s = suit(w.card);
    if (s == kRocket) return 0;
    if (goal_.nines && kNines >> w.card & 1) return -1;
    int cost = 0;
    for (int p = 0; p < kPlayers; ++p) {
      if (p == w.owner) continue;
      const Cards of = at.hand[p] & suit_cards(s);
      if (!of || of & lower(w.card) & ~for_others(w.owner)) {
        cost += of & higher(w.card) ? 1 : 0;
        continue;
      }
      before |= of & wanted_cards_;
      const int tricks = tricks_to_lose(at, p, of, count(at.hand[w.owner] & suit_cards(s)) - 1);
      if (tricks >= left) return -1;
      cost += 6 * tricks;
    }
    return cost;
  }

  // Least number of tricks in which a hand plays all its cards `of` a colour that is led at most `leads` times. Cards
  // that it cannot play by following it must discard, after it has run out of another colour, or of rockets if the
  // others can lead enough of them.
  static int tricks_to_lose(const Position& at, int seat, Cards of, int leads) {
    const int n = count(of), more = n - leads;
    if (more <= 0) return n;
    const Cards hand = at.hand[seat];
    int shortest = kTricks;
    for (int s = 0; s < kRocket; ++s)
      if (!(suit_cards(s) & of)) shortest = std::min(shortest, count(hand & suit_cards(s)));
    const int rockets = count(hand & kRockets);
    if (more <= count(at.all() & kRockets) - rockets) shortest = std::min(shortest, rockets);
    return n + shortest;
  }

  // Cost of a card that the owner must win from another seat, the holder. The owner wins by a higher card of the suit,
  // by a rocket once the owner has no card of the suit, or in a trick of another suit once the holder has none of it.
  int cost_of(const Position& at, const Wanted& w, int left) const {
    const Cards mine = at.hand[w.owner] & ~for_others(w.owner), theirs = at.hand[w.holder];
    const Cards over = mine & higher(w.card) & ~(goal_.nines ? kNines : 0);
    if (over && suit(w.card) != kRocket) return over & (over - 1) ? 0 : 1;
    int cost = kTricks;
    const bool rocket = mine & kRockets && !(goal_.no_rocket && w.owner == goal_.member);
    if (rocket) cost = count(at.hand[w.owner] & suit_cards(suit(w.card)));
    for (int s = 0; s <= kRocket; ++s)
      if (s != suit(w.card) && (mine & suit_cards(s) || (rocket && s != kRocket)) && (s != kRocket || rocket))
        cost = std::min(cost, count(theirs & suit_cards(s)));
    return cost >= left ? -1 : 4 * cost + 2;
  }

  // Cost of winning with a 1 of a colour: the others must have no card of its suit left.
  int ones_cost(const Position& at, int left) const {
    const int missing = goal_.ones - at.ones;
    if (missing <= 0) return 0;
    int first = kImpossible, second = kImpossible;  // costs of the two cheapest
    for (Cards some = at.all() & kOnes; some;) {
      const int card = take_lowest(some);
      int cost = 0;
      for (int p = 0; p < kPlayers; ++p) {
        if (p == holder_[card]) continue;
        const int of = count(at.hand[p] & suit_cards(suit(card)));
        cost = of < left ? cost + of : kImpossible;
      }
      if (cost < first) {
        second = first;
        first = cost;
      } else
        second = std::min(second, cost);
    }
    const int cost = missing == 1 ? first : first + second;
    return cost < kImpossible ? 6 * cost : -1;
  }

  // kMostWanted: all tasks, pink cards and rockets
  static constexpr int kImpossible = 1000, kMostWanted = kMaxTasks + 13;

  const Goal goal_;
  bool clash_ = false;  // two seats must win the same card
  int num_wanted_ = 0;
  Wanted wanted_[kMostWanted];
  Cards wanted_cards_ = 0, wanted_by_[kPlayers] = {};
  // the seat that must win a card, -1: anybody; the seat that holds it
  std::int8_t owner_[kNumCards], holder_[kNumCards];
};

}  // namespace trickformer::crew::inline TRICKFORMER_ISA
