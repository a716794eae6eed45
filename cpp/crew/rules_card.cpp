// Card play of `rules`. The value of a legal card is the expected value of the trick after it, less the value of
// keeping the card in the hand.
//
// The player predicts the cards of the seats that still play to the trick. From the probable locations of the cards it
// estimates whether a seat can beat the best card, must beat it, or cannot. A seat with a choice usually plays for the
// crew. `judge` applies the mission's rules to each end of the trick, with the cards that are known to be in it. Cards
// that other seats may have to add, or may want to add, are weighted by their probabilities.
#include "crew/rules_player.hpp"
#include "crew/rules_weights.hpp"

namespace trickformer::crew {
namespace {

// A card that matters and that somebody may add to the trick.
struct Hot {
  int card, owner;  // owner: the seat that must capture it; -1: a 9, which must be beaten; -2: a rocket
  bool due;         // whether it may be captured now
  double gain;
  double forced[kPlayers] = {}, given[kPlayers] = {};  // probability that a seat must add it; that it can
};

class CardChoice {
 public:
  CardChoice(const PublicState& t, int seat, Cards hand)
      : t_(t), whereabouts_(look(t, seat, hand)), me_(seat), hand_(hand) {
    for (int i = 1; i <= t.num_plays % kPlayers; ++i) laid_ |= bit(t.plays[t.num_plays - i]);
    for (int i = 0; i < t.mission.tasks; ++i) due_[i] = may_capture(i);
    task_ = kTask + kTaskLater * t.trick();
  }

  // Returns the best of several cards. worth: null, or [kNumCards], receives the values of these cards.
  int choose(Cards among, float* worth) {
    int best = -1;
    double most = -1e9;
    for (Cards rest = among; rest;) {
      const int card = take_lowest(rest);
      const double found = promise(card) - keep(card);
      if (worth) worth[card] = float(found);
      if (found > most) {
        most = found;
        best = card;
      }
    }
    return best;
  }

 private:
  const Mission& mission() const { return t_.mission; }
  int left() const { return kPlayers - 1 - t_.num_plays % kPlayers; }  // number of seats that play after this one

  // Value of a trick that ends like this, by the known cards in it; `judge` applies the mission's rules to the position
  // after it.
  int verdict(int winner, int best, Cards cards, PublicState& after) const {
    after = t_;
    after.played |= cards;
    after.num_plays = std::uint8_t((t_.trick() + 1) * kPlayers);
    ++after.wins[winner];
    return judge(after, winner, best, cards);
  }

  // Returns whether the order of tasks allows this task in the current trick, with the tasks already in the trick.
  bool may_capture(int task) const {
    const Task& x = t_.tasks[task];
    if (x.done || x.owner < 0) return false;
    PublicState after = t_;
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
      if (!(whereabouts_.maybe[p] >> card & 1)) continue;
      const double holds = 1 - whereabouts_.absent[p][card];
      if (suit(card) == suit(lead)) {
        h.forced[p] = holds * whereabouts_.none(p, follow & ~bit(card));
        h.given[p] = holds;
      } else {
        const double is_void = whereabouts_.none(p, follow);
        h.given[p] = holds * is_void;
        if (is_void > 0) h.forced[p] = h.given[p] * whereabouts_.none(p, kAll & ~follow & ~bit(card));
      }
    }
    hot_[hots_++] = h;
  }

  // The cards that matter depend only on the colour led, so they are computed once for all cards of a colour.
  void find_hot(int lead) {
    if (suit(lead) == hot_suit_) return;
    hot_suit_ = suit(lead);
    hots_ = 0;
    for (int i = 0; i < mission().tasks; ++i)
      if (!t_.tasks[i].done) add_hot(t_.tasks[i].card, t_.tasks[i].owner, due_[i], task_, lead);
    if (mission().has(Rule::kAllPink))
      for (int card = 0; card < kValues; ++card) add_hot(card, t_.member, true, kPinkWon, lead);
    if (mission().any(Rule::kNinesLose | Rule::kNinesLoseTasks))
      for (Cards rest = kNines; rest;) add_hot(take_lowest(rest), -1, false, kNineGone, lead);
    if (mission().any(Rule::kRocketsWin | Rule::kRocketsInOrder))
      for (Cards rest = kRockets; rest;) add_hot(take_lowest(rest), -2, false, 0, lead);
  }

  double end(int winner, int best, Cards cards) const {
    PublicState after;
    const int r = verdict(winner, best, cards, after);
    if (r) return r > 0 ? kSuccess : -1;
    double worth =
        task_ * (after.done - t_.done) + kOneWon * (after.ones - t_.ones) + kRocketWon * (after.rockets - t_.rockets);
    if (mission().any(Rule::kNinesLose | Rule::kNinesLoseTasks)) worth += kNineGone * count(cards & kNines);
    if (mission().has(Rule::kAllPink)) worth += kPinkWon * count(cards & kPink);
    if (mission().has(Rule::kOneTrick) && winner == t_.member) worth += kMemberWon;
    double safe = 1;
    for (int i = 0; i < hots_; ++i) {
      const Hot& h = hot_[i];
      if (cards >> h.card & 1) continue;
      const bool same = suit(h.card) == suit(best);
      bool good = h.owner == winner && h.due;
      if (h.owner == -1) good = !same || h.card < best;  // a 9 must be beaten
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

  // The card with which a seat probably beats others.
  int champion(int p, Cards from) const {
    Cards held = from & whereabouts_.has[p];
    if (!held) held = from & whereabouts_.maybe[p];
    if (mission().any(Rule::kNinesLose | Rule::kNinesLoseTasks) && held & ~kNines) held &= ~kNines;
    return highest(held);
  }

  // Expected value of the trick when the seat `step` places after this one plays next. cards: known cards in the trick.
  double on(int step, int lead, int winner, int best, Cards cards) const {
    if (step > left()) return end(winner, best, cards);
    const int p = next_seat(me_, step);
    const Cards follow = suit_cards(suit(lead)), maybe = whereabouts_.maybe[p];
    const Cards over = suit(best) == suit(lead) ? follow & higher(best) : 0;
    const double no_over = whereabouts_.none(p, over), no_under = whereabouts_.none(p, follow & ~over);
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
      const double no_ruff = whereabouts_.none(p, ruffs);
      double free = no_ruff * stays;
      if (no_ruff < 1) {
        const int card = lowest(ruffs & (ruffs & whereabouts_.has[p] ? whereabouts_.has[p] : maybe));
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

  // The value of a card in the hand.
  double keep(int card) const {
    const Mission& m = mission();
    const bool rocket = suit(card) == kRocket;
    const double high = rocket ? kRocketHigh : value(card) / 9.0;
    double worth = kHigh * high;
    bool mine = false, theirs = false;
    for (int i = 0; i < m.tasks; ++i) {
      const Task& x = t_.tasks[i];
      if (x.done) continue;
      (x.owner == me_ ? mine : theirs) = true;
      if (suit(card) == suit(x.card)) worth += keep_for(x, card);
    }
    if (rocket) worth += mine ? kRocketMine : theirs ? kRocketTheirs : 0;
    if (rocket && theirs && t_.lead() < 0) worth += kRocketLed;
    return m.rules ? worth + keep_for_rules(card, high) : worth;
  }

  // The value of a card for a task in its colour.
  double keep_for(const Task& x, int card) const {
    const double high = value(card) / 9.0;
    if (x.owner != me_) return card > x.card ? -kAboveTheirs * high : kBelowTheirs;
    if (card == x.card) return kOwnTask;
    if (card > x.card) return kAboveMine * high;
    // If only a rocket can take it, the colour must be played out first.
    const Cards of = hand_ & suit_cards(suit(card));
    return !(of & higher(x.card)) && !(of >> x.card & 1) && (hand_ & kRockets) ? -kVoidForMine : kBelowMine;
  }

  double keep_for_rules(int card, double high) const {
    const Mission& m = mission();
    const bool rocket = suit(card) == kRocket, member = t_.member == me_;
    double worth = 0;
    if (m.has(Rule::kSick) || (m.has(Rule::kOneTrick) && t_.wins[t_.member & 3]))
      worth += member ? -kSickHigh * high : kWellHigh * high;
    else if (m.has(Rule::kOneTrick))
      worth += !member ? kWellHigh * high : rocket ? -kSickHigh : 0;
    if (m.has(Rule::kFirstAndLast)) worth += member ? last_card(card) : kWellHigh * high;
    if (m.any(Rule::kOneWins | Rule::kOnesWinTwice))
      worth += kOnes >> card & 1 ? kOne : rocket ? kOneRocket : suit(card) == target() ? -kOneColour : 0;
    if (m.any(Rule::kNinesLose | Rule::kNinesLoseTasks)) worth += rocket ? kNineRocket : 0;
    if (m.any(Rule::kRocketsWin | Rule::kRocketsInOrder))
      worth += rocket ? kRocketRocket : -kShorten / count(hand_ & suit_cards(suit(card)));
    if (m.has(Rule::kAllPink) && member) worth += (suit(card) == 0 ? kPinkHigh : kPinkOther) * high;
    if (m.has(Rule::kRoles)) {
      const bool late = t_.trick() >= 4;
      if (me_ == t_.last)
        worth += last_card(card);
      else if (me_ == t_.first_four)
        worth += (late ? -kRolesDump : kRolesFirst) * high;
      else
        worth += (late ? -kRolesLate : kRolesBetween) * high;
    }
    if (m.has(Rule::kBalanceEnds) && me_ == t_.commander) worth += last_card(card);
    return worth;
  }

  // For the seat that must win the last trick: keep the highest card, play other high ones.
  double last_card(int card) const {
    const bool rocket_counts = !mission().has(Rule::kFirstAndLast);
    const auto strength = [&](int c) { return suit(c) == kRocket ? (rocket_counts ? 10 + value(c) : -1) : value(c); };
    int strongest = 0, top = -2;
    for (Cards rest = hand_; rest;) {
      const int c = take_lowest(rest);
      if (strength(c) > top) {
        top = strength(c);
        strongest = c;
      }
    }
    if (card == strongest) return kLastCard;
    return -kLastOther * (suit(card) == kRocket ? kRocketHigh : value(card) / 9.0);
  }

  // Among colours whose 1 is unplayed, the one with the fewest cards left: all seats play it out.
  int target() const {
    int colour = -1, fewest = kNumCards;
    for (int c = 0; c < kColours; ++c) {
      const Cards left = suit_cards(c) & ~t_.played;
      if ((left & kOnes) && count(left) < fewest) {
        fewest = count(left);
        colour = c;
      }
    }
    return colour;
  }

  const PublicState& t_;
  const Whereabouts whereabouts_;
  const int me_;
  const Cards hand_;
  Cards laid_ = 0;   // cards in the current trick
  double task_ = 0;  // value of a fulfilled task: it rises with the number of tricks played
  bool due_[kMaxTasks] = {};
  Hot hot_[kMaxTasks + kValues + 4];
  int hots_ = 0, hot_suit_ = -1;
};

}  // namespace

int rules_card(const PublicState& t, int seat, Cards hand, Cards among, float* worth) {
  return count(among) == 1 ? lowest(among) : CardChoice(t, seat, hand).choose(among, worth);
}

}  // namespace trickformer::crew
