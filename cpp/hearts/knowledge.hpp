// The knowledge of one seat in a hand of Hearts: its own cards, and for every unseen card the seats that may hold it.
// The tracker uses it to test which observations are possible in some deal; the deal sampler uses it to count and draw
// deals.
//
// Nothing else is known, for this reason. A deal with its passes is consistent with a history of observations if and
// only if the hands after the pass are consistent with it. Given any 13 cards that a seat holds after the pass, any
// three of them that the observer did not pass may have been passed to it. Each play restricts the remaining cards of
// its seat by a set, never by a condition on several cards. A seat that does not follow is void. A point card on the
// first trick, or a heart led before hearts were broken, shows that the seat held no other kind of card. A legal choice
// among more cards shows nothing. So the hidden state is an assignment of the unseen cards to three seats, with a set
// of possible seats for each card and a number of cards for each seat.
#pragma once
#include "hearts/rules.hpp"

namespace trickformer::hearts::inline TRICKFORMER_ISA {

struct Knowledge {
  Rules rules;
  int seat = 0;
  Cards mine = 0;                // own cards, held now
  Cards unseen = 0;              // held by the other seats
  Cards allowed[kPlayers] = {};  // cards that are not ruled out by a void (own entry unused)
  Cards known[kPlayers] = {};    // unseen cards that a seat is known to hold
  int held[kPlayers] = {};       // number of cards each seat holds
  int num_plays = 0, current = 0, led_suit = 0, best_card = 0, best_seat = 0;
  bool hearts_broken = false;

  // After the pass: own cards, cards passed to `receiver`, and the leader, who holds the two of clubs.
  void begin(const Rules& r, int own_seat, Cards own, Cards given, int receiver, int leader) {
    *this = Knowledge{};
    rules = r;
    seat = own_seat;
    mine = own;
    unseen = kAll & ~own;
    for (int p = 0; p < kPlayers; ++p) {
      held[p] = kHand;
      allowed[p] = kAll;
    }
    if (given) known[receiver] |= given;
    if (leader != seat) known[leader] |= bit(kTwoOfClubs);
    current = leader;
    hearts_broken = !r.must_break_hearts;
  }

  // The unseen cards that seat `p` may hold.
  Cards may_hold(int p) const {
    Cards others = 0;
    for (int q = 0; q < kPlayers; ++q)
      if (q != p && q != seat) others |= known[q];
    return allowed[p] & unseen & ~others;
  }

  // Returns whether some assignment of the unseen cards gives every seat its number of cards (Hall's condition).
  bool feasible() const {
    Cards may[kPlayers - 1];
    int need[kPlayers - 1], n = 0;
    for (int p = 0; p < kPlayers; ++p) {
      if (p == seat) continue;
      may[n] = may_hold(p);
      need[n++] = held[p];
      if (known[p] & ~allowed[p]) return false;
    }
    for (int group = 0; group < 8; ++group) {
      Cards elsewhere = 0;
      int room = 0;
      for (int i = 0; i < 3; ++i)
        if (group >> i & 1)
          room += need[i];
        else
          elsewhere |= may[i];
      if (count(unseen & ~elsewhere) > room) return false;
    }
    return true;
  }

  bool leading() const { return num_plays % kPlayers == 0; }

  Cards legal() const { return mine ? legal_plays(rules, mine, num_plays, led_suit, hearts_broken) : 0; }

  // Returns allowed[p] as it is after seat `p` plays `card` now.
  Cards implied(int p, int card) const {
    const Cards card_set = bit(card);
    Cards left = allowed[p];
    if (leading()) {
      if (num_plays && !hearts_broken && card_set & kHearts)
        left &= rules.can_lead_hearts_instead_of_qs ? kPointCards : kHearts;
      return left;
    }
    if (card_set & suit_cards(led_suit)) return left;
    left &= ~suit_cards(led_suit);
    if (num_plays < kPlayers && rules.no_pts_on_first_trick && card_set & kPointCards) left &= kPointCards;
    return left;
  }

  // Returns whether the seat on turn may play `card` now in some deal.
  bool possible(int card) const {
    if (current == seat) return legal() >> card & 1;
    const Cards may = may_hold(current);
    if (!(may >> card & 1)) return false;
    if (num_plays == 0 && !(rules.can_lead_any_club ? kClubs >> card & 1 : card == kTwoOfClubs)) return false;
    Knowledge next = *this;
    next.see(card);
    return next.feasible();
  }

  // The cards that the seat on turn may play now in some deal. Hall's condition does not distinguish cards that the
  // same seats may hold and that show the same about their player, so one card of each kind is tested.
  Cards possible() const {
    if (current == seat) return legal();
    const Cards may = may_hold(current);
    Cards owners[2], result = 0;
    for (int p = 0, i = 0; p < kPlayers; ++p)
      if (p != seat && p != current) owners[i++] = may_hold(p);
    // A card's information about its player depends on the first of these sets that contains it (see implied).
    const Cards first = num_plays == 0 ? (rules.can_lead_any_club ? kClubs : bit(kTwoOfClubs))
                        : leading()    ? kHearts
                                       : suit_cards(led_suit);
    const Cards shown[] = {first, kPointCards & ~first, ~(first | kPointCards)};
    for (const Cards shows : shown)
      for (int kind = 0; kind < 4; ++kind) {
        const Cards alike = may & shows & (kind & 1 ? owners[0] : ~owners[0]) & (kind & 2 ? owners[1] : ~owners[1]);
        if (alike && possible(lowest(alike))) result |= alike;
      }
    return result;
  }

  // Updates the knowledge after a play by the seat on turn, own plays included. If the play is impossible, only the
  // public features stay valid, and the caller must not query deals any more.
  void see(int card) {
    const Cards card_set = bit(card);
    const int suit = card % 4, in_trick = num_plays % kPlayers;
    if (current == seat) {
      mine &= ~card_set;
    } else {
      allowed[current] = implied(current, card);
      unseen &= ~card_set;
      known[current] &= ~card_set;
    }
    --held[current];
    hearts_broken |= suit == 2 || (card == kQueenOfSpades && rules.qs_breaks_hearts);
    lay(*this, in_trick, current, card);
    ++num_plays;
    pass_turn();
  }

  // Counts a play whose token is not a card. This occurs only in histories that no deal explains.
  void see_nothing() {
    if (leading()) {
      led_suit = 0;
      best_card = -1;
      best_seat = current;
    }
    --held[current];
    ++num_plays;
    pass_turn();
  }

  // Passes the turn: clockwise within a trick, to the winner after it.
  void pass_turn() { current = num_plays % kPlayers ? (current + 1) % kPlayers : best_seat; }
};

}  // namespace trickformer::hearts::inline TRICKFORMER_ISA
