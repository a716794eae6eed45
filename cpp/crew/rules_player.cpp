// Statements of `rules`: choice of tasks, questions and answers, appointments, the pass, messages.
#include "crew/rules_player.hpp"
#include "crew/rules_weights.hpp"

namespace trickformer::crew {
namespace {

// The strength of a hand: about one for each trick.
double strength(Cards hand) {
  double sum = 0;
  for (Cards rest = hand; rest;) {
    const int card = take_lowest(rest);
    if (suit(card) == kRocket)
      sum += 0.7 + 0.1 * value(card);
    else
      sum += value(card) == 9 ? 0.9 : value(card) == 8 ? 0.55 : value(card) == 7 ? 0.3 : 0;
  }
  return sum;
}

// Danger that a hand must win a trick: the sum over suits of the height of its lowest cards. It is no probability, and
// callers divide it by 8 or 10.
double danger(Cards hand) {
  double sum = 0;
  for (int s = 0; s < kColours; ++s) {
    const Cards of = hand & suit_cards(s);
    int place = 0;
    for (Cards rest = of; rest; ++place) {
      const double over = value(take_lowest(rest)) - 2.0 * (place + 1) - 1;
      if (over > 0) sum += over / (3 + place);
    }
  }
  for (Cards rest = hand & kRockets; rest;) sum += 0.6 * value(take_lowest(rest));
  return sum;
}

class Talk {
 public:
  Talk(const PublicState& t, int seat, Cards hand) : t_(t), me_(seat), hand_(hand) {}

  int say() const {
    switch (t_.phase) {
      case Phase::kTile: return kNo;
      case Phase::kTileTo: return lowest(legal(t_, hand_));
      case Phase::kName: return kSeat + 3;  // the last to draft
      case Phase::kDraft: return draft();
      case Phase::kAsk: return answer();
      case Phase::kAppoint:
      case Phase::kAppointLast: return appoint();
      case Phase::kPass: return pass();
      case Phase::kRadio: return radio(0);
      default: return radio(t_.label);
    }
  }

 private:
  int draft() const {
    int best = -1;
    double most = -1e9;
    for (int i = 0; i < t_.mission.tasks; ++i) {
      if (t_.tasks[i].owner >= 0) continue;
      const int card = t_.tasks[i].card;
      const double worth = can_take(hand_, card);
      if (worth > most) {
        most = worth;
        best = card;
      }
    }
    return best;
  }

  // Suitability of a hand for the task of the member, about 0 (poor) to 1 (good).
  double suits(Cards hand) const {
    const Mission& m = t_.mission;
    if (m.has(Rule::kSick)) return 1 - danger(hand) / 8;
    int tops = 0;
    for (int s = 0; s < kColours; ++s) tops += (hand & (kNines | kNines >> 1) & suit_cards(s)) != 0;
    const double calm = 1 - danger(hand) / 10;
    if (m.has(Rule::kOneTrick)) return tops ? calm : 0.3 * calm;
    return tops >= 2 ? calm : tops == 1 ? 0.6 * calm : 0;
  }

  int answer() const {
    const Mission& m = t_.mission;
    switch (m.allocation) {
      case Allocation::kDistribution: return can_take(hand_, t_.tasks[t_.revealed - 1].card) >= kYesAt ? kYes : kNo;
      case Allocation::kDecision: return strength(hand_) >= kStrong ? kYes : kNo;
      case Allocation::kRoles:
        return strength(hand_) >= 3.2 ? kTile : strength(hand_) < 2 ? kTile + kTileOmega : kTile + kNoTile;
      default:
        // "How do you feel?" A player who feels bad suits the part of the sick one.
        return (suits(hand_) > 0.55) != m.has(Rule::kSick) ? kYes : kNo;
    }
  }

  int appoint() const {
    const Mission& m = t_.mission;
    const Actions may = legal(t_, hand_);
    int has[kPlayers] = {}, best = -1;
    for (int i = 0; i < t_.revealed; ++i)
      if (t_.tasks[i].owner >= 0) ++has[t_.tasks[i].owner];
    double most = -1e9;
    for (Actions rest = may; rest;) {
      const int act = take_lowest(rest), p = next_seat(me_, act - kSeat);
      double worth = 0;
      if (m.allocation == Allocation::kRoles) {
        const int want = t_.phase == Phase::kAppoint ? kTile : kTile + kTileOmega;
        const int mine = strength(hand_) >= 3.2 ? kTile : strength(hand_) < 2 ? kTile + kTileOmega : kTile + kNoTile;
        const int said = p == me_ ? mine : int(t_.answer[p]);
        worth = said == want ? 1 : said == kTile + kNoTile ? 0.5 : 0;
        if (p == me_ && want == kTile) worth += 0.3;  // the commander leads, and has the highest rocket
      } else if (m.allocation == Allocation::kDistribution) {
        worth = p == me_ ? can_take(hand_, t_.tasks[t_.revealed - 1].card) : t_.answer[p] == kYes ? kTakeYes : kTakeNo;
        worth -= kTakeShare * has[p];
      } else {
        worth = t_.answer[p] == (m.has(Rule::kSick) ? kNo : kYes);
      }
      if (worth > most + 1e-9) {
        most = worth;
        best = act;
      }
    }
    return best;
  }

  int pass() const {
    const int to = next_seat(me_, t_.mission.distress);
    int best = -1;
    double most = -1e9;
    for (Cards rest = hand_ & ~kRockets; rest;) {
      const int card = take_lowest(rest);
      double worth = -0.01 * count(hand_ & suit_cards(suit(card)));
      for (int i = 0; i < t_.mission.tasks; ++i) {
        const Task& x = t_.tasks[i];
        if (suit(x.card) != suit(card)) continue;
        const double high = value(card) / 9.0;
        if (x.owner == to) worth += x.card == card ? high - 0.6 : card > x.card ? high : 0;
        if (x.owner == me_) worth += x.card == card ? 0.5 - high : card > x.card ? -high : 0;
        if (x.owner != me_ && x.owner != to && card > x.card) worth += 0.3 * high;
      }
      if (t_.mission.any(Rule::kSick | Rule::kOneTrick))
        worth += ((t_.member == me_) - (t_.member == to)) * value(card);
      if (worth > most) {
        most = worth;
        best = card;
      }
    }
    return best;
  }

  // The value to the others of a card shown under a label; a message worth more than `kSpeak` is sent at once.
  double helps(int card, int label) const {
    const Mission& m = t_.mission;
    const int s = suit(card);
    const double high = value(card) / 9.0;
    double worth = 0;
    for (int i = 0; i < m.tasks; ++i) {
      const Task& x = t_.tasks[i];
      if (x.done || suit(x.card) != s) continue;
      double one = 0;
      if (x.owner == me_ && x.card == card)
        one = label == kOnly ? 0.9 : 0.7;
      else if (x.owner == me_)
        one = label == kHighest || label == kOnly || label == kUnlabelled ? (card > x.card ? high : 0.4) : 0.2;
      else if (x.card == card)
        one = 0.85;
      else
        one = label == kOnly ? 0.6 : label == kHighest ? 0.5 : label == kLowest ? (card > x.card ? 0.55 : 0.3) : 0.4;
      worth = std::max(worth, one);
    }
    if (m.any(Rule::kOneWins | Rule::kOnesWinTwice) && (kOnes >> card & 1)) worth = 0.9;
    if (m.any(Rule::kNinesLose | Rule::kNinesLoseTasks) && (kNines >> card & 1))
      worth = std::max(worth, label == kOnly ? 0.9 : 0.3);
    if (m.has(Rule::kAllPink) && s == 0)
      worth = t_.member == me_ ? (label == kHighest || label == kOnly ? 0.8 : 0.3) : label == kOnly ? 0.8 : 0.5;
    if (m.any(Rule::kSick | Rule::kOneTrick | Rule::kFirstAndLast) && t_.member == me_)
      worth = std::max(worth, label == kOnly ? 0.5 * high + 0.45 : label == kLowest ? high : 0.2);
    if (m.any(Rule::kBalance | Rule::kBalanceEnds | Rule::kRocketsWin | Rule::kRocketsInOrder | Rule::kRoles))
      worth = std::max(worth, label == kOnly ? 0.6 : 0.3);
    return worth;
  }

  // The most helpful allowed message: the card if the label has been chosen, else the label, or silence.
  int radio(int said) const {
    int best = kSilent, best_card = -1;
    double most = said ? -1 : kSpeak;
    for (Actions labels = said ? action(said) : legal(t_, hand_) & ~action(kSilent); labels;) {
      const int label = take_lowest(labels);
      for (Cards cards = showable(hand_, label); cards;) {
        const int card = take_lowest(cards);
        const double worth = helps(card, label);
        if (worth > most) {
          most = worth;
          best = label;
          best_card = card;
        }
      }
    }
    return said ? best_card : best;
  }

  const PublicState& t_;
  const int me_;
  const Cards hand_;
};

}  // namespace

double can_take(Cards hand, int card) {
  const Cards of = hand & suit_cards(suit(card));
  if (hand >> card & 1)
    return std::max(kTakeLeast, kTakeHeld - kTakeHeldOver * count(higher(card) & ~hand) -
                                    kTakeHeldUnder * count(higher(card) & hand));
  double best = kTakeLeast;
  if (of) {
    const int top = highest(of), over = count(higher(top) & ~bit(card));
    best = (top > card ? kTakeAbove : kTakeBelow) - kTakeOver * over + kTakeLength * count(of);
  }
  if (const Cards rockets = hand & kRockets)
    best = std::max(best, kTakeRuff - kTakeRuffLength * count(of) + kTakeRockets * count(rockets) +
                              kTakeHighRocket * value(highest(rockets)));
  return best + kTakeNines * count(hand & kNines);
}

int rules_action(const PublicState& t, int seat, Cards hand) {
  return t.phase == Phase::kPlay ? rules_card(t, seat, hand, legal_plays(hand, t.lead())) : Talk(t, seat, hand).say();
}

}  // namespace trickformer::crew
