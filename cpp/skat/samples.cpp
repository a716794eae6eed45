#include "skat/samples.hpp"

#include "skat/bidding.hpp"
#include "skat/solver.hpp"

namespace trickformer::skat {
namespace {

struct Deal {
  Cards hand[kPlayers], skat;
  int seat;  // of the soloist
};

struct Candidate {
  int declaration;
  Cards ten, laid;
  double logit;
};

Deal random_deal(Rng& rng) {
  std::uint8_t deck[kNumCards];
  Deal deal;
  shuffle_deal(rng, deck, deal.hand, deal.skat);
  deal.seat = int(rng.below(kPlayers));
  return deal;
}

// Draws a candidate by the softmax of the log odds at a temperature.
const Candidate& draw(const std::vector<Candidate>& from, double temperature, Rng& rng) {
  double most = -1e9, total = 0;
  for (const Candidate& c : from) most = std::max(most, c.logit);
  for (const Candidate& c : from) total += std::exp((c.logit - most) / temperature);
  double at = rng.uniform() * total;
  for (const Candidate& c : from) {
    at -= std::exp((c.logit - most) / temperature);
    if (at < 0) return c;
  }
  return from.back();
}

// Probability with which a hand with these odds is solved.
double keep(double chance) {
  if (chance < 0.04) return 0.04;
  if (chance < 0.2) return 0.4;
  return chance < 0.97 ? 1 : 0.4;
}

// For each suit draws the discards by their odds, then the suit.
Candidate candidate(const Evaluation& evaluation, Known known, int family, const Deal& deal, Rng& rng) {
  const int from = family == 0 ? 0 : 3 + family, to = family == 0 ? 4 : from + 1;
  std::vector<Candidate> best;
  for (int d = from; d < to; ++d) {
    const Cards own = deal.hand[deal.seat];
    if (known == Known::kHand) {
      best.push_back({d, own, deal.skat, evaluation.logit(known, d, own, 0, deal.seat)});
      continue;
    }
    std::vector<Candidate> ways;
    const Cards twelve = own | deal.skat;
    for (Cards rest = twelve; rest;) {
      const Cards first = bit(take_lowest(rest));
      for (Cards others = rest; others;) {
        const Cards laid = first | bit(take_lowest(others));
        const Cards ten = twelve ^ laid;
        ways.push_back({d, ten, laid, evaluation.logit(known, d, ten, card_points(laid), deal.seat)});
      }
    }
    best.push_back(draw(ways, 0.5, rng));
  }
  return draw(best, 1, rng);
}

}  // namespace

void samples(const Evaluation& evaluation, Known known, int family, std::uint64_t seed, std::uint64_t first,
             std::size_t n, std::uint16_t* entries, float* target) {
  Solver solver;
  for (std::size_t i = 0; i < n; ++i) {
    Rng rng(mix(seed) + std::uint64_t(3 * int(known) + family), first + i);
    std::uint16_t* out = entries + i * kEvaluationFeatures;
    if (known == Known::kBefore) {
      const Deal deal = random_deal(rng);
      const int d = family == 0 ? int(rng.below(4)) : 3 + family;
      evaluation_features(known, d, deal.hand[deal.seat], 0, deal.seat, out);
      target[i] = float(Prospects(evaluation, deal.hand[deal.seat], deal.seat, {}).mean_chance(d));
      continue;
    }
    for (;;) {
      const Deal deal = random_deal(rng);
      const Candidate c = candidate(evaluation, known, family, deal, rng);
      if (rng.uniform() >= keep(sigmoid(c.logit))) continue;
      evaluation_features(known, c.declaration, c.ten, card_points(c.laid), deal.seat, out);
      SolverPosition p;
      p.kind = kind_of(c.declaration);
      p.soloist = std::int8_t(deal.seat);
      for (std::size_t s = 0; s < kPlayers; ++s) p.hands[s] = deal.hand[s];
      p.hands[std::size_t(deal.seat)] = c.ten;
      p.points = {std::int16_t(card_points(c.laid)), 0};
      solver.reset();
      target[i] = solver.at_least(p, 61);
      break;
    }
  }
}

}  // namespace trickformer::skat
