#include "hearts/rules_player.hpp"

#include <stdexcept>

#include "hearts/passing.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts {
namespace {

constexpr Cards kQueen = bit(kQueenOfSpades), kSpades = suit_cards(3);
constexpr Cards kOverQueen = bit(kQueenOfSpades + 4) | bit(kQueenOfSpades + 8);

// A position of play as one seat sees it, with the estimates that the script uses.
class Situation {
 public:
  // k: what the seat knows at the end of the view.
  Situation(const SeatView& v, const Knowledge& k) : rules_(v.rules), k_(k) {
    Knowledge walk;
    const Cards given = cards_of(v.passes, v.num_passes);
    walk.begin(v.rules, v.seat, (v.dealt & ~given) | v.received, given, (v.seat + v.direction) % kPlayers, v.leader);
    Cards trick = 0;
    for (int i = 0; i < v.num_plays; ++i) {
      trick |= bit(v.plays[i]);
      walk.see(v.plays[i]);
      if (i % kPlayers < kPlayers - 1) continue;
      taken_[walk.best_seat] |= trick;
      trick = 0;
    }
    trick_ = trick;
    in_trick_ = v.num_plays % kPlayers;
    find_threat();
  }

  int choose() const {
    const Cards legal = k_.legal();
    int best = -1;
    double least = 0;
    for (Cards rest = legal; rest;) {
      const int card = take_lowest(rest);
      const double cost = this->cost(card);
      if (best < 0 || cost < least) {
        best = card;
        least = cost;
      }
    }
    return best;
  }

 private:
  // Finds another seat that has all points so far, and enough of them to try to shoot the moon.
  void find_threat() {
    int owners = 0, owner = -1, points = 0;
    for (int p = 0; p < kPlayers; ++p)
      if (const int n = card_points(taken_[p])) {
        ++owners;
        owner = p;
        points = n;
      }
    if (owners == 1 && owner != k_.seat && points >= 4) {
      threat_ = owner;
      alarm_ = 18.0 * power(points / 26.0, 2);
    }
  }

  bool void_in(int p, int suit) const { return !(k_.may_hold(p) & suit_cards(suit)); }
  bool queen_out() const { return k_.unseen & kQueen; }

  // Expected points that the seats still to play add to the trick, given its suit.
  double expected_points(int suit, int card) const {
    double points = 0;
    const Cards out = k_.unseen & suit_cards(suit);
    const int hearts_out = count(k_.unseen & kHearts);
    const bool harmless = k_.num_plays < kPlayers && rules_.no_pts_on_first_trick;
    for (int i = 1; i < kPlayers - in_trick_; ++i) {
      const int p = (k_.seat + i) % kPlayers;
      const double shows_void = void_in(p, suit) ? 1.0 : power(1 - share(p, suit), count(out));
      if (!harmless) {
        if (queen_out() && suit != 3 && k_.may_hold(p) & kQueen) points += shows_void * 13 * share_of(kQueenOfSpades);
        if (suit != 2 && hearts_out) points += shows_void * (1.0 < hearts_out / 3.0 ? 1.0 : hearts_out / 3.0);
      }
      if (suit == 2) points += 1 - shows_void;
      if (suit == 3 && queen_out() && k_.may_hold(p) & kQueen && card > kQueenOfSpades)
        points += 13 * share_of(kQueenOfSpades);
    }
    return points;
  }

  // Probability that an unseen card of the suit is with seat `p`: one over the number of seats that may hold such
  // cards.
  double share(int p, int suit) const {
    int seats = 0;
    for (int q = 0; q < kPlayers; ++q) seats += q != k_.seat && !void_in(q, suit);
    return void_in(p, suit) ? 0.0 : 1.0 / seats;
  }
  // Probability of each seat that may hold the card: one over the number of such seats.
  double share_of(int card) const {
    int seats = 0;
    for (int q = 0; q < kPlayers; ++q) seats += q != k_.seat && k_.may_hold(q) >> card & 1;
    return 1.0 / seats;
  }

  // Probability that no seat still to play beats `card`. A seat with lower cards too usually ducks.
  double holds_trick(int card) const {
    const int suit = card % 4;
    if (in_trick_ && (suit != k_.led_suit || card < k_.best_card)) return 0;
    double keeps = 1;
    for (int i = 1; i < kPlayers - in_trick_; ++i) {
      const int p = (k_.seat + i) % kPlayers;
      const Cards out = k_.unseen & k_.may_hold(p) & suit_cards(suit);
      const double miss = 1 - share(p, suit);
      const double over = 1 - power(miss, count(out & above(card)));
      const double forced = power(miss, count(out & below(card)));
      // A seat that plays last may well play high in a minor suit, if the trick has no points.
      const double willing = i == kPlayers - in_trick_ - 1 && suit < 2 && !(trick_ & kPointCards) ? 0.5 : 0.1;
      keeps *= 1 - over * (forced + (1 - forced) * willing);
    }
    return keeps;
  }

  // Points that holding `card` probably costs later.
  double danger(int card) const {
    const int suit = card % 4;
    const Cards out = k_.unseen & suit_cards(suit), own = k_.mine & suit_cards(suit);
    const int over = count(out & above(card)), under = count(out & below(card));
    const int guards = count(own & below(card));
    const bool points_left = k_.unseen & kPointCards || k_.mine & kPointCards;
    if (!points_left) return 0;
    if (card == kQueenOfSpades) {
      if (!out) return 4;
      return 2 + 11 * power(0.6, count(own) - 1);
    }
    const double wins = over + under ? double(under) / (over + under) : 0.3;
    const int rank = card / 4;
    double price = suit == 2 ? 3.2 : 2.0;
    if (suit == 3 && card > kQueenOfSpades && queen_out()) return 9 * power(0.6, count(own & ~kOverQueen));
    if (suit == 3) price = queen_out() ? 0.5 : 1.5;
    return price * wins * power(0.8, guards) + 0.02 * rank + (suit == 2 ? 0.3 : 0);
  }

  // Estimated points still to come if `card` is played now.
  double cost(int card) const {
    const int suit = in_trick_ ? k_.led_suit : card % 4;
    const double wins = holds_trick(card);
    const double own = card_points(bit(card)), in_trick = card_points(trick_) + own;
    double cost = wins * (in_trick + expected_points(suit, card) + 0.35) - danger(card);
    if (rules_.jd_bonus) cost -= jack_gain(card, wins);
    if (threat_ >= 0) {
      const double with_points = in_trick > 0 ? 1.0 : 0.0;
      const double to_threat = in_trick_ && k_.best_seat == threat_ ? 1 - wins : 0.0;
      cost += alarm_ * with_points * (to_threat - wins);
      cost += own * to_threat;
    }
    if (!in_trick_) cost += lead_cost(card);
    return cost;
  }

  double lead_cost(int card) const {
    const int suit = card % 4;
    if (suit != 3) return k_.mine & kQueen ? 0.25 * count(k_.mine & suit_cards(suit)) : 0.0;
    const bool exposed = k_.mine & (kQueen | kOverQueen);
    if (k_.mine & kQueen && k_.unseen & kSpades) return 3;
    if (queen_out()) return exposed ? 2.5 : card < kQueenOfSpades ? -2.0 : 0.0;  // low spades drive the queen out
    return 0;
  }

  double jack_gain(int card, double wins) const {
    if (trick_ & bit(kJackOfDiamonds)) return 10 * wins;
    return card == kJackOfDiamonds ? 10 * wins - 5 : 0;
  }

  Rules rules_;
  Knowledge k_;
  Cards taken_[kPlayers] = {}, trick_ = 0;
  int in_trick_ = 0, threat_ = -1;
  double alarm_ = 0;
};

}  // namespace

int rules_player(const SeatView& view) {
  Knowledge k;
  if (const int fault = follow(view, k); fault != kNoFault) refuse(view, fault);
  if (!may_act(view, k)) throw std::invalid_argument("the seat of a view is not on turn");
  if (!view.playing()) return choose_pass(view.dealt & ~cards_of(view.passes, view.num_passes));
  return Situation(view, k).choose();
}

}  // namespace trickformer::hearts
