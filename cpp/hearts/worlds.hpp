// Worlds that are consistent with one seat's view, drawn exactly uniformly by counting.
//
// A world is a hidden history: who was dealt which card, and what the others passed, in order. As explained at the head
// of hearts/knowledge.hpp, two conditions make a world consistent with a view: every unseen card is with a seat that
// may hold it, and every seat holds its number of cards. Given any 13 cards that a seat holds after the pass, any
// ordered three of them may be those that it received, unless the observer gave or received them. So each assignment of
// the unseen cards has the same number of pass histories, 13 * 12 * 11 for each hidden pass, and both parts are drawn
// independently.
//
// Assignments are counted by class: unseen cards are alike if the same subset of the three other seats may hold them.
// The holder of a card that only one seat may hold is fixed. The cards of each of the three pair classes split in at
// most 14 ways. Given these splits, the class of all three seats splits into fixed numbers. Call the other seats 0, 1
// and 2. Of the n01 cards that only seats 0 and 1 may hold, a go to seat 0. Of the n02 cards, b go to seat 0. Of the
// n12 cards, c go to seat 1. Of the n012 cards that all three may hold, t0, t1 and t2 go to the seats. A split has
//   C(n01, a) C(n02, b) C(n12, c) n012! / (t0! t1! t2!)
// assignments. Their sum is at most 39! / 13!^3 = 8.4e16, so all counts are exact in 64 bits.
//
// With odds for the place of each card, the probability of an assignment is proportional to the product of its odds
// instead (core/placing.hpp); the passes stay uniform.
#pragma once
#include <memory>

#include "core/binomials.hpp"
#include "core/placing.hpp"
#include "hearts/knowledge.hpp"
#include "hearts/seat_view.hpp"

namespace trickformer::hearts {

// The counts of one view.
struct Deals {
  Deals() = default;  // filled in by `count_deals`
  // log_odds: null, or [kNumCards][kPlaces], the odds for drawing worlds; the places are the seats after the own one.
  // Throws std::invalid_argument if no deal explains the view or if the odds are out of range.
  explicit Deals(const SeatView& view, const double* log_odds = nullptr);

  static constexpr int kSplits = 14 * 14 * 14;
  SeatView view;
  Cards held = 0;  // own cards, held now
  // seen cards that a seat held after the pass; while the pass is not over, cards that it was dealt
  Cards shown[kPlayers] = {};
  Cards classes[8] = {};          // unseen cards by the set of `others` that may hold them
  int others[kPlayers - 1] = {};  // the other seats, ascending
  int need[kPlayers - 1] = {};    // number of unseen cards that each of them holds
  int hidden_passes = 0;          // passes that the view does not show; each has 13 * 12 * 11 possibilities
  int num_splits = 0;
  std::uint64_t total = 0;                 // assignments of the unseen cards
  std::uint64_t cumulative[kSplits] = {};  // number of assignments of the splits 0..i
  std::uint8_t split[kSplits][3] = {};     // cards of class {0,1} for seat 0, {0,2} for 0, {1,2} for 1
  std::unique_ptr<const Placing> placing;  // not null: draws the assignments
  bool may_act = false;                    // whether the seat of the view must pass or play
};

struct World {
  Cards hand[kPlayers];                   // held now
  Cards dealt[kPlayers];                  // before the pass
  std::uint8_t passes[kPlayers * kPass];  // three per seat, in order; kNoAction if no pass is known to have happened
};

inline namespace TRICKFORMER_ISA {

// Returns the index in `others` of the seat at a place. The places of a Placing number the other seats from the left
// neighbour on; `others` lists the same seats in ascending order.
constexpr int other_at(int seat, int place) {
  const int p = (seat + 1 + place) % kPlayers;
  return p - (p > seat);
}

inline constexpr Binomials<kNumCards> kBinomials;

inline Cards cards_of(const std::uint8_t* list, int n) {
  Cards cards = 0;
  for (int i = 0; i < n; ++i) cards |= bit(list[i]);
  return cards;
}

// Follows a view to its end. `k` receives the knowledge of the seat there (play phase only). Returns kNoFault if some
// deal explains the view.
inline int follow(const SeatView& v, Knowledge& k) {
  if (count(v.dealt) != kHand || (v.dealt & ~kAll)) return kBadDeal;
  if (v.direction && !v.rules.pass_cards) return kBadPasses;
  const Cards given = cards_of(v.passes, v.num_passes);
  const int passes = v.direction ? kPass : 0;
  if (v.num_passes > passes || count(given) != v.num_passes || (given & ~v.dealt)) return kBadPasses;
  if (!v.playing()) return v.received || v.num_plays || !v.direction ? kBadReceived : kNoFault;
  if (v.num_passes != passes) return kBadPasses;
  if (count(v.received) != passes || v.received & (v.dealt | ~kAll)) return kBadReceived;
  const Cards own = (v.dealt & ~given) | v.received;
  const int receiver = (v.seat + v.direction) % kPlayers;
  if (v.leader >= kPlayers || (v.leader == v.seat) != bool(own & bit(kTwoOfClubs))) return kBadLeader;
  if (given & bit(kTwoOfClubs) && v.leader != receiver) return kBadLeader;
  k.begin(v.rules, v.seat, own, given, receiver, v.leader);
  for (int i = 0; i < v.num_plays; ++i) {
    if (v.plays[i] >= kNumCards || !(k.possible(v.plays[i]))) return i;
    k.see(v.plays[i]);
  }
  return kNoFault;
}

// Returns whether the seat of a view must pass or play a card; `k` is the result of `follow` if some deal explains the
// view.
inline bool may_act(const SeatView& v, const Knowledge& k) {
  return v.playing() ? v.num_plays < kNumCards && k.current == v.seat : v.num_passes < kPass;
}

// Counts the worlds of a view. Returns a Fault if there is none.
inline int count_deals(const SeatView& v, Deals& d) {
  Knowledge k;
  if (const int fault = follow(v, k); fault != kNoFault) return fault;
  d.view = v;
  d.may_act = may_act(v, k);
  const Cards given = cards_of(v.passes, v.num_passes);
  if (v.playing()) {
    d.hidden_passes = v.direction ? 2 : 0;
    d.shown[v.seat] = (v.dealt & ~given) | v.received;
    int seat = v.leader;
    Knowledge walk;
    walk.begin(v.rules, v.seat, d.shown[v.seat], given, (v.seat + v.direction) % kPlayers, v.leader);
    for (int i = 0; i < v.num_plays; ++i, seat = walk.current) {
      d.shown[seat] |= bit(v.plays[i]);
      walk.see(v.plays[i]);
    }
  } else {
    k.begin(v.rules, v.seat, v.dealt, 0, 0, v.seat);
    d.hidden_passes = v.earlier_passed() ? v.seat : 0;
    d.shown[v.seat] = v.dealt;
  }
  d.held = v.playing() ? k.mine : v.dealt & ~given;
  Cards may[3];
  for (int p = 0, i = 0; p < kPlayers; ++p) {
    if (p == v.seat) continue;
    may[i] = k.may_hold(p);
    d.need[i] = k.held[p];
    d.others[i++] = p;
  }
  for (Cards rest = k.unseen; rest;) {
    const int card = take_lowest(rest);
    int group = 0;
    for (int i = 0; i < 3; ++i) group |= int(may[i] >> card & 1) << i;
    d.classes[group] |= bit(card);
  }
  int size[8];
  for (int group = 0; group < 8; ++group) size[group] = count(d.classes[group]);
  const auto& choose = kBinomials.of;
  for (int a = 0; a <= size[3]; ++a)
    for (int b = 0; b <= size[5]; ++b) {
      const int t0 = d.need[0] - size[1] - a - b;
      if (t0 < 0 || t0 > size[7]) continue;
      for (int c = 0; c <= size[6]; ++c) {
        const int t1 = d.need[1] - size[2] - (size[3] - a) - c;
        if (t1 < 0 || t0 + t1 > size[7]) continue;
        d.total += choose[size[3]][a] * choose[size[5]][b] * choose[size[6]][c] * choose[size[7]][t0] *
                   choose[size[7] - t0][t1];
        d.split[d.num_splits][0] = std::uint8_t(a);
        d.split[d.num_splits][1] = std::uint8_t(b);
        d.split[d.num_splits][2] = std::uint8_t(c);
        d.cumulative[d.num_splits++] = d.total;
      }
    }
  return kNoFault;
}

// A uniformly random subset of `k` of the cards.
inline Cards subset(Cards cards, int k, Rng& rng) {
  const bool few = 2 * k <= count(cards);
  Cards rest = cards;
  for (int i = few ? k : count(cards) - k; i > 0; --i) rest ^= bit(pick(rest, rng));
  return few ? cards ^ rest : rest;
}

// Three of the cards in uniformly random order.
inline Cards pick_passes(Cards cards, std::uint8_t* out, Rng& rng) {
  const Cards before = cards;
  for (int i = 0; i < kPass; ++i) {
    out[i] = std::uint8_t(pick(cards, rng));
    cards ^= bit(out[i]);
  }
  return before ^ cards;
}

// A uniformly random assignment of the unseen cards to the others.
inline void draw_uniform(const Deals& d, Rng& rng, Cards* hand) {
  const std::uint64_t at = rng.below64(d.total);
  int low = 0;
  for (int high = d.num_splits - 1; low < high;) {
    const int middle = (low + high) / 2;
    if (at < d.cumulative[middle])
      high = middle;
    else
      low = middle + 1;
  }
  const std::uint8_t* split = d.split[low];
  const Cards x = subset(d.classes[3], split[0], rng);
  const Cards y = subset(d.classes[5], split[1], rng);
  const Cards z = subset(d.classes[6], split[2], rng);
  hand[0] = d.classes[1] | x | y;
  hand[1] = d.classes[2] | (d.classes[3] ^ x) | z;
  hand[2] = d.classes[4] | (d.classes[5] ^ y) | (d.classes[6] ^ z);
  const Cards t0 = subset(d.classes[7], d.need[0] - count(hand[0]), rng);
  const Cards t1 = subset(d.classes[7] ^ t0, d.need[1] - count(hand[1]), rng);
  hand[0] |= t0;
  hand[1] |= t1;
  hand[2] |= d.classes[7] ^ t0 ^ t1;
}

inline void draw(const Deals& d, Rng& rng, World& w) {
  const SeatView& v = d.view;
  Cards hand[3];
  if (d.placing) {
    double uniforms[kNumCards];
    for (double& u : uniforms) u = rng.uniform();
    const Placing::Sets at = d.placing->draw(uniforms);
    for (int place = 0; place < kPlaces; ++place) hand[other_at(v.seat, place)] = at[std::size_t(place)];
  } else {
    draw_uniform(d, rng, hand);
  }
  w.hand[v.seat] = d.held;
  for (int i = 0; i < 3; ++i) w.hand[d.others[i]] = hand[i];
  for (int p = 0; p < kPlayers; ++p) w.dealt[p] = d.shown[p] | (p == v.seat ? 0 : w.hand[p]);
  for (std::uint8_t& card : w.passes) card = kNoAction;
  for (int i = 0; i < v.num_passes; ++i) w.passes[kPass * v.seat + i] = v.passes[i];
  if (!v.playing()) {
    if (v.earlier_passed())
      for (int p = 0; p < v.seat; ++p) w.hand[p] ^= pick_passes(w.hand[p], w.passes + kPass * p, rng);
    return;
  }
  if (!v.direction) return;
  Cards given[kPlayers];
  for (int p = 0; p < kPlayers; ++p) {
    const int receiver = (p + v.direction) % kPlayers;
    std::uint8_t* passes = w.passes + kPass * p;
    if (p == v.seat) {
      given[p] = cards_of(v.passes, kPass);
    } else {
      given[p] = pick_passes(receiver == v.seat ? v.received : w.dealt[receiver], passes, rng);
    }
  }
  for (int p = 0; p < kPlayers; ++p) w.dealt[(p + v.direction) % kPlayers] ^= given[p];
  for (int p = 0; p < kPlayers; ++p) w.dealt[p] |= given[p];
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::hearts
