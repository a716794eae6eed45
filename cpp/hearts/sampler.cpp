#include "hearts/sampler.hpp"

#include <cmath>
#include <limits>
#include <memory>

namespace trickformer::hearts {
namespace {

// The places of the others: the unseen cards that each may hold, and how many it holds.
Places unseen_places(const Deals& d) {
  Places places{};
  for (int place = 0; place < kPlaces; ++place) {
    const int other = other_at(d.view.seat, place);
    for (int group = 0; group < 8; ++group)
      if (group >> other & 1) places.may[std::size_t(place)] |= d.classes[group];
    places.room[std::size_t(place)] = d.need[other];
  }
  return places;
}

// The cards that each seat was dealt or, after the pass, held. Returns false if the row is not a world.
bool hands(const Deals& d, const std::int16_t* hidden, Cards* hand) {
  const SeatView& v = d.view;
  Cards given[kPlayers] = {};
  for (int card = 0; card < kNumCards; ++card) {
    if (hidden[card] < 0 || hidden[card] >= kPlayers) return false;
    hand[hidden[card]] |= bit(card);
  }
  if (hand[v.seat] != v.dealt) return false;
  for (int p = 0; p < kPlayers; ++p) {
    const std::int16_t* passes = hidden + kNumCards + kPass * p;
    const bool passed = v.direction && (v.playing() || (p < v.seat && v.earlier_passed()));
    const int n = p == v.seat ? v.num_passes : passed ? kPass : 0;
    if (count(hand[p]) != kHand) return false;
    for (int i = 0; i < kPass; ++i) {
      if (i >= n ? passes[i] != -1 : passes[i] < 0 || passes[i] >= kNumCards) return false;
      if (i < n) given[p] |= bit(passes[i]);
      if (i < n && p == v.seat && passes[i] != v.passes[i]) return false;
    }
    if (count(given[p]) != n || given[p] & ~hand[p]) return false;
  }
  if (!v.playing()) return true;
  const int giver = (v.seat + kPlayers - v.direction) % kPlayers;
  if (v.direction && given[giver] != v.received) return false;
  for (int p = 0; p < kPlayers; ++p) hand[p] ^= given[p];
  for (int p = 0; p < kPlayers; ++p) hand[(p + v.direction) % kPlayers] |= given[p];
  return true;
}

// Returns whether the hands are consistent with the view.
bool fit(const Deals& d, const Cards* hand) {
  for (int i = 0; i < kPlayers - 1; ++i) {
    const int p = d.others[i];
    if (d.shown[p] & ~hand[p]) return false;
    Cards may = 0;
    for (int group = 0; group < 8; ++group)
      if (group >> i & 1) may |= d.classes[group];
    if (hand[p] & ~d.shown[p] & ~may) return false;
  }
  return true;
}

Placing::Sets sets_of(const Deals& d, const Cards* hand) {
  Placing::Sets at{};
  for (int place = 0; place < kPlaces; ++place) at[std::size_t(place)] = hand[(d.view.seat + 1 + place) % kPlayers];
  return at;
}

}  // namespace

Deals::Deals(const SeatView& v, const double* log_odds) {
  if (log_odds) check_log_odds(log_odds, kNumCards);
  if (const int fault = count_deals(v, *this); fault != kNoFault) refuse(v, fault);
  if (log_odds) placing = std::make_unique<const Placing>(unseen_places(*this), log_odds);
}

std::uint64_t num_assignments(const Deals& deals) { return deals.total; }

std::uint64_t num_pass_histories(const Deals& deals) {
  std::uint64_t n = deals.view.playing() && deals.view.direction ? 6 : 1;  // the order of the received cards
  for (int i = 0; i < deals.hidden_passes; ++i) n *= 13 * 12 * 11;
  return n;
}

bool is_consistent(const Deals& d, const std::int16_t* hidden) {
  Cards hand[kPlayers] = {};
  return hands(d, hidden, hand) && fit(d, hand);
}

double log_prob(const Deals& d, const std::int16_t* hidden) {
  Cards hand[kPlayers] = {};
  if (!hands(d, hidden, hand) || !fit(d, hand)) return -std::numeric_limits<double>::infinity();
  const double assigned = d.placing ? d.placing->log_prob(sets_of(d, hand)) : -std::log(double(d.total));
  return assigned - std::log(double(num_pass_histories(d)));
}

void places(const Deals& d, const std::int16_t* hidden, std::int8_t* at) {
  Cards hand[kPlayers] = {};
  hands(d, hidden, hand);
  mark_places(sets_of(d, hand), unseen_places(d).open(), kNumCards, at);
}

void marginals(const Deals& d, double* out) {
  if (d.placing) return d.placing->marginals(kNumCards, out);
  Placing(unseen_places(d), nullptr).marginals(kNumCards, out);
}

}  // namespace trickformer::hearts
