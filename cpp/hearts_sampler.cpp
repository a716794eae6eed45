#include "hearts_sampler.inl"

namespace trickformer::hearts {

Deals* new_deals(const SeatView& view, int& fault) {
  Deals* deals = new Deals;
  fault = count_deals(view, *deals);
  if (fault == kNoFault) return deals;
  delete deals;
  return nullptr;
}

void free_deals(Deals* deals) { delete deals; }

std::uint64_t num_assignments(const Deals& deals) { return deals.total; }

std::uint64_t num_pass_histories(const Deals& deals) {
  std::uint64_t n = deals.view.playing() && deals.view.direction ? 6 : 1;  // the order of the received cards
  for (int i = 0; i < deals.hidden_passes; ++i) n *= 13 * 12 * 11;
  return n;
}

void sample_worlds(const Deals& deals, std::uint64_t seed, std::uint64_t first, std::size_t n, std::int16_t* hidden) {
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) return detail::sample_worlds_v3(deals, seed, first, n, hidden);
#endif
  sample_worlds_here(deals, seed, first, n, hidden);
}

static bool explains(const Deals& d, const std::int16_t* hidden) {
  const SeatView& v = d.view;
  Cards hand[kPlayers] = {}, given[kPlayers] = {};
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
  if (v.playing()) {
    const int giver = (v.seat + kPlayers - v.direction) % kPlayers;
    if (v.direction && given[giver] != v.received) return false;
    for (int p = 0; p < kPlayers; ++p) hand[p] ^= given[p];
    for (int p = 0; p < kPlayers; ++p) hand[(p + v.direction) % kPlayers] |= given[p];
  }
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

void explains(const Deals& deals, const std::int16_t* hidden, std::size_t n, bool* ok) {
  for (std::size_t i = 0; i < n; ++i) ok[i] = explains(deals, hidden + i * kHidden);
}

}  // namespace trickformer::hearts
