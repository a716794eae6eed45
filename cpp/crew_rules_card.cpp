// Card play of `rules`: what each legal card promises the crew in the trick under way, less what leaves the hand with it.
//
// The trick is thought to its end over the seats still to play: whether each can beat what lies there, must, or cannot,
// by the chances of where cards lie; where it has the choice, it mostly does what is better for the crew. How good an
// end is, the rules of the mission say themselves (judge), by the cards known to be in the trick; cards that others may
// have to add, or may like to, are weighed by their chances.
#include "crew_rules_player.hpp"

namespace trickformer::crew {
namespace {

constexpr double kTogether = 0.85;  // how often another seat does the better of two things
constexpr double kTask = 0.3, kRocketWon = 0.3, kOneWon = 0.5, kNineGone = 0.15, kPinkWon = 0.06;  // steps to success
constexpr double kMemberWon = 0.3;
constexpr double kGives = 0.8;      // how often a card that is wanted is added by its holder

// A card that somebody may add to the trick and that matters.
struct Hot {
  int card, owner;  // owner: who is to capture it, -1: nobody
  bool due;         // it may be captured now
  double gain;
  double forced[kPlayers] = {}, given[kPlayers] = {};  // chance that a seat has to add it; that it can
};

class CardChoice {
 public:
  CardChoice(const Table& t, int seat, Cards hand) : t_(t), sight_(look(t, seat, hand)), me_(seat), hand_(hand) {
    for (int i = 1; i <= t.num_plays % kPlayers; ++i) laid_ |= bit(t.plays[t.num_plays - i]);
    for (int i = 0; i < t.mission.tasks; ++i) due_[i] = may_capture(i);
  }

  int choose() {
    Cards legal = legal_plays(hand_, t_.lead());
    if (count(legal) == 1) return lowest(legal);
    int best = -1;
    double most = -1e9;
    for (Cards rest = legal; rest;) {
      const int card = take_lowest(rest);
      const double worth = promise(card) - keep(card);
      if (worth > most) most = worth, best = card;
    }
    return best;
  }

 private:
  const Mission& mission() const { return t_.mission; }
  int left() const { return kPlayers - 1 - t_.num_plays % kPlayers; }  // seats that play after this one

  // How a trick that ends like this is judged, by the cards known of it; the table after it.
  int verdict(int winner, int best, Cards cards, Table& after) const {
    after = t_;
    after.played |= cards;
    after.num_plays = std::uint8_t((t_.trick() + 1) * kPlayers);
    ++after.wins[winner];
    return judge(after, winner, best, cards);
  }

  // Whether the order of tasks lets this one be fulfilled in the trick under way, with those that lie in it.
  bool may_capture(int task) const {
    const Task& x = t_.tasks[task];
    if (x.done || x.owner < 0) return false;
    Table after = t_;
    after.mission.rules &= 1u << int(Rule::kOmegaLast);
    after.num_plays = std::uint8_t((t_.trick() + 1) * kPlayers);
    Cards cards = bit(x.card);
    for (int i = 0; i < mission().tasks; ++i)
      if (!t_.tasks[i].done && t_.tasks[i].owner == x.owner && (laid_ >> t_.tasks[i].card & 1))
        cards |= bit(t_.tasks[i].card);
    if (after.trick() == kTricks) return true;
    return judge(after, x.owner, x.card, cards) >= 0;
  }

  void add_hot(int card, int owner, bool due, double gain, int lead) {
    if ((t_.played | hand_ | laid_) >> card & 1) return;
    Hot h{card, owner, due, gain, {}, {}};
    const Cards follow = suit_cards(suit(lead));
    for (int k = 1; k <= left(); ++k) {
      const int p = next_seat(me_, k);
      if (!(sight_.maybe[p] >> card & 1)) continue;
      const double holds = 1 - sight_.absent[p][card];
      if (suit(card) == suit(lead)) {
        h.forced[p] = holds * sight_.none(p, follow & ~bit(card));
        h.given[p] = holds;
      } else {
        const double is_void = sight_.none(p, follow);
        h.given[p] = holds * is_void;
        h.forced[p] = h.given[p] * sight_.none(p, kAll & ~follow & ~bit(card));
      }
    }
    hot_[hots_++] = h;
  }

  void find_hot(int lead) {
    hots_ = 0;
    for (int i = 0; i < mission().tasks; ++i)
      if (!t_.tasks[i].done) add_hot(t_.tasks[i].card, t_.tasks[i].owner, due_[i], kTask, lead);
    if (mission().has(Rule::kAllPink))
      for (int card = 0; card < kValues; ++card) add_hot(card, t_.member, true, kPinkWon, lead);
    if (mission().any(Rule::kNinesLose | Rule::kNinesLoseTasks))
      for (Cards rest = kNines; rest;) add_hot(take_lowest(rest), -1, false, kNineGone, lead);
    if (mission().any(Rule::kRocketsWin | Rule::kRocketsInOrder))
      for (Cards rest = kRockets; rest;) add_hot(take_lowest(rest), -2, false, 0, lead);
  }

  double end(int winner, int best, Cards cards) const {
    Table after;
    const int r = verdict(winner, best, cards, after);
    if (r) return r;
    double worth = kTask * (after.done - t_.done) + kOneWon * (after.ones - t_.ones) +
                   kRocketWon * (after.rockets - t_.rockets);
    if (mission().any(Rule::kNinesLose | Rule::kNinesLoseTasks)) worth += kNineGone * count(cards & kNines);
    if (mission().has(Rule::kAllPink)) worth += kPinkWon * count(cards & kPink);
    if (mission().has(Rule::kOneTrick) && winner == t_.member) worth += kMemberWon;
    double safe = 1;
    for (int i = 0; i < hots_; ++i) {
      const Hot& h = hot_[i];
      if (cards >> h.card & 1) continue;
      const bool same = suit(h.card) == suit(best);
      bool good = h.owner == winner && h.due;
      if (h.owner == -1) good = !same || h.card < best;  // a 9 is to be beaten
      for (int k = 1; k <= left(); ++k) {
        const int p = next_seat(me_, k);
        if (good && (p == winner || !same || h.card < best))
          worth += h.gain * kGives * h.given[p];
        else if (!good && !(h.owner == -2 && suit(best) != kRocket))
          safe *= 1 - h.forced[p];
      }
    }
    return safe * (worth + 1) - 1;
  }

  // The card that a seat probably beats others with.
  int champion(int p, Cards from) const {
    Cards held = from & sight_.has[p];
    if (!held) held = from & sight_.maybe[p];
    if (mission().any(Rule::kNinesLose | Rule::kNinesLoseTasks) && held & ~kNines) held &= ~kNines;
    return 63 - std::countl_zero(held);
  }

  double on(int step, int lead, int winner, int best, Cards cards) const {
    if (step > left()) return end(winner, best, cards);
    const int p = next_seat(me_, step);
    const Cards follow = suit_cards(suit(lead)), maybe = sight_.maybe[p];
    const Cards over = suit(best) == suit(lead) ? follow & higher(best) : 0;
    const double no_over = sight_.none(p, over), no_under = sight_.none(p, follow & ~over);
    const double stays = on(step + 1, lead, winner, best, cards);
    double worth = no_over * (1 - no_under) * stays;
    if (no_over < 1) {
      const int card = champion(p, over);
      const double beats = on(step + 1, lead, p, card, cards | bit(card));
      worth += (1 - no_over) * (no_under * beats + (1 - no_under) * either(beats, stays));
    }
    const double is_void = no_over * no_under;
    if (is_void > 0.02) {
      const Cards ruffs = suit(lead) == kRocket ? 0 : suit(best) == kRocket ? higher(best) : kRockets;
      const double no_ruff = sight_.none(p, ruffs);
      double free = no_ruff * stays;
      if (no_ruff < 1) {
        const int card = lowest(ruffs & (ruffs & sight_.has[p] ? sight_.has[p] : maybe));
        free += (1 - no_ruff) * either(on(step + 1, lead, p, card, cards | bit(card)), stays);
      }
      worth += is_void * free;
    } else {
      worth += is_void * stays;
    }
    return worth;
  }

  static double either(double a, double b) { return kTogether * std::max(a, b) + (1 - kTogether) * std::min(a, b); }

  double promise(int card) {
    const int lead = t_.lead() < 0 ? card : t_.lead();
    find_hot(lead);
    if (t_.lead() < 0 || beats(card, t_.best_card)) return on(1, lead, me_, card, bit(card));
    return on(1, lead, t_.best_seat, t_.best_card, laid_ | bit(card));
  }

  // What a card is worth in the hand.
  double keep(int card) const {
    const Mission& m = mission();
    const double high = suit(card) == kRocket ? 1.2 : value(card) / 9.0;
    double worth = 0.02 * high;
    bool mine = false, open = false;
    for (int i = 0; i < m.tasks; ++i) {
      const Task& x = t_.tasks[i];
      if (x.done) continue;
      open = true;
      mine |= x.owner == me_;
      if (suit(card) != suit(x.card)) continue;
      if (x.owner == me_)
        worth += x.card == card ? 0.05 : card > x.card ? 0.12 * high : 0.02;
      else
        worth += card > x.card ? -0.08 * high : 0.03;
    }
    if (suit(card) == kRocket) worth += mine ? 0.15 : open ? 0.02 : 0;
    if (m.has(Rule::kSick) || ((m.has(Rule::kOneTrick)) && t_.member >= 0 && t_.wins[t_.member]))
      worth += t_.member == me_ ? -0.2 * high : 0.05 * high;
    else if (m.has(Rule::kOneTrick))
      worth += t_.member == me_ ? (suit(card) == kRocket ? -0.2 : 0) : 0.02 * high;
    if (m.has(Rule::kFirstAndLast)) worth += t_.member == me_ ? last_card(card) : 0.02 * high;
    if (m.any(Rule::kOneWins | Rule::kOnesWinTwice)) {
      if (kOnes >> card & 1) worth += 0.4;
      else if (suit(card) != kRocket) worth -= 0.04 * (suit(card) == target());
      else worth += 0.05;
    }
    if (m.any(Rule::kNinesLose | Rule::kNinesLoseTasks)) worth += suit(card) == kRocket ? 0.1 : 0;
    if (m.any(Rule::kRocketsWin | Rule::kRocketsInOrder))
      worth += suit(card) == kRocket ? 0.05 : -0.05 / count(hand_ & suit_cards(suit(card)));
    if (m.has(Rule::kAllPink)) {
      if (t_.member == me_) worth += suit(card) == 0 ? 0.1 * high : 0.05 * high;
    }
    if (m.has(Rule::kRoles)) {
      const bool late = t_.trick() >= 4;
      if (me_ == t_.last) worth += last_card(card);
      else if (me_ == t_.first_four) worth += late ? -0.1 * high : 0.05 * high;
      else worth += late ? -0.02 * high : 0.08 * high;
    }
    if (m.has(Rule::kBalanceEnds) && me_ == t_.commander) worth += last_card(card);
    return worth;
  }

  // For who must win the last trick: the highest card stays, other high ones go.
  double last_card(int card) const {
    const bool rocket_counts = !mission().has(Rule::kFirstAndLast);
    const auto strength = [&](int c) { return suit(c) == kRocket ? (rocket_counts ? 10 + value(c) : -1) : value(c); };
    int strongest = 0, top = -2;
    for (Cards rest = hand_; rest;) {
      const int c = take_lowest(rest);
      if (strength(c) > top) top = strength(c), strongest = c;
    }
    if (card == strongest) return 0.4;
    return -0.1 * (suit(card) == kRocket ? 1.2 : value(card) / 9.0);
  }

  // Of the colours whose 1 is still out, the one with the fewest cards left: all play it away.
  int target() const {
    int colour = -1, fewest = kNumCards;
    for (int c = 0; c < kColours; ++c) {
      const Cards left = suit_cards(c) & ~t_.played;
      if ((left & kOnes) && count(left) < fewest) fewest = count(left), colour = c;
    }
    return colour;
  }

  const Table& t_;
  const Sight sight_;
  const int me_;
  const Cards hand_;
  Cards laid_ = 0;  // in the trick under way
  bool due_[kMaxTasks] = {};
  Hot hot_[kMaxTasks + kValues + 4];
  int hots_ = 0;
};

}  // namespace

int rules_card(const Table& t, int seat, Cards hand) { return CardChoice(t, seat, hand).choose(); }

}  // namespace trickformer::crew
