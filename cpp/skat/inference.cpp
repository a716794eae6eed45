#include "skat/inference.hpp"

#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

namespace trickformer::skat {
namespace {

int declaration_of(const Contract& c) {
  return c.kind == Kind::kNull && c.level == Level::kOuvert ? kNullOuvert : int(c.kind);
}

// The effective sample size of weights, divided by their number.
double effective_share(const std::vector<double>& weight) {
  double sum = 0, squares = 0;
  for (double w : weight) {
    sum += w;
    squares += w * w;
  }
  return sum * sum / squares / double(weight.size());
}

// How often each item is drawn in n draws by weight: systematic resampling with one random offset. Multiplies `share`
// by the effective share of the weights.
std::vector<int> resample(const std::vector<double>& weight, std::size_t n, Rng& rng, double& share) {
  share *= effective_share(weight);
  double sum = 0, upto = 0, at = rng.uniform();
  for (double w : weight) sum += w;
  std::vector<int> times(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    upto += weight[i] / sum * double(n);
    while (at < upto) {
      ++times[i];
      at += 1;
    }
  }
  return times;
}

double blend(const BidModel& model, double believed, int options) {
  return (1 - model.floor) * believed + model.floor / options;
}

// Probability that the soloist makes his declaration, given the ten cards that he keeps and, after picking up, his two
// discards.
double named_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& v, const World& w,
                    const Stakes& stakes) {
  const int seat = v.soloist(), bid = v.auction.bid();
  const bool hand = v.contract.hand;
  const Cards laid = hand ? 0 : bit(w.discards[0]) | bit(w.discards[1]);
  const Cards ten = hand ? w.dealt[seat] : (w.dealt[seat] | w.dealt_skat) ^ laid, counted = ten | laid;
  const auto value = [&](int d) {
    const double chance = evaluation.chance(hand ? Known::kHand : Known::kLaid, d, ten, card_points(laid), seat);
    return expected(chance, d, certain_value(d, hand, counted), bid, stakes);
  };
  const unsigned legal = declarations(bid, hand);
  const double own = value(declaration_of(v.contract));
  double all = 0;
  for (unsigned rest = legal; rest; rest &= rest - 1)
    all += std::exp((value(std::countr_zero(rest)) - own) / model.choice);
  return blend(model, 1 / all, std::popcount(legal));
}

}  // namespace

std::array<BidRange, kPlayers> bid_ranges(const SeatView& v) {
  std::array<BidRange, kPlayers> all;
  Auction a;
  for (int i = 0; i < v.num_said; ++i) {
    BidRange& said = all[std::size_t(a.current())];
    const int action = v.said[i];
    if (action == kHold)
      said.accepted = a.called;
    else if (action != kPass)
      said.accepted = action - kCall;
    else
      said.refused = a.reply ? a.called : a.called + 1;
    say(a, action);
  }
  return all;
}

double prospect_before(const Evaluation& evaluation, Cards ten, int seat, int bid, const Stakes& stakes) {
  double best = -1e9;
  const unsigned legal = declarations(bid, false);
  for (int d = 0; d < kNullOuvert; ++d) {
    if (!(legal >> d & 1)) continue;
    const double chance = evaluation.chance(Known::kBefore, d, ten, 0, seat);
    best = std::max(best, expected(chance, d, certain_value(d, false, ten), bid, stakes));
  }
  return best;
}

double bid_chance(const Evaluation& evaluation, const BidModel& model, const BidRange& said, Cards ten, int seat,
                  const Stakes& stakes) {
  // Probability of going to call `index` or beyond.
  const auto goes = [&](int index) {
    if (index < 0) return 1.0;
    if (index >= kCalls) return 0.0;
    return sigmoid((prospect_before(evaluation, ten, seat, kCallValues[index], stakes) - model.passing) / model.bid);
  };
  const double believed = std::max(0.0, goes(said.accepted) - goes(said.refused));
  return (1 - model.floor) * believed + model.floor * (said.refused - said.accepted) / (kCalls + 1);
}

double declared_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& v, const World& w,
                       const Stakes& stakes) {
  const int seat = v.soloist(), bid = v.auction.bid();
  const bool hand = v.contract.hand;
  const Cards dealt = w.dealt[seat];
  double by_hand = -1e9;
  for (unsigned rest = declarations(bid, true); rest; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    by_hand = std::max(by_hand, expected(evaluation.chance(Known::kHand, d, dealt, 0, seat), d,
                                         certain_value(d, true, dealt), bid, stakes));
  }
  const double lifts = sigmoid((prospect_before(evaluation, dealt, seat, bid, stakes) - by_hand) / model.choice);
  double chance = blend(model, hand ? 1 - lifts : lifts, 2);
  if (v.declared() || v.stage == SeatView::Stage::kAnnounce) chance *= named_chance(evaluation, model, v, w, stakes);
  return chance;
}

double laid_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& v, const World& w,
                   const Stakes& stakes) {
  const int seat = v.soloist(), bid = v.auction.bid();
  if (seat < 0 || seat == v.seat || v.contract.hand || !v.declared()) return 1;
  const Cards laid = bit(w.discards[0]) | bit(w.discards[1]), twelve = w.dealt[seat] | w.dealt_skat;
  std::array<int, kDeclarations> value{};
  const unsigned legal = declarations(bid, false);
  for (unsigned rest = legal; rest; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    value[std::size_t(d)] = certain_value(d, false, twelve);
  }
  const auto worth = [&](int d, Cards other) {
    const double chance = evaluation.chance(Known::kLaid, d, twelve ^ other, card_points(other), seat);
    return expected(chance, d, value[std::size_t(d)], bid, stakes);
  };
  const double own = worth(declaration_of(v.contract), laid);
  double all = 0;
  for (Cards rest = twelve; rest;) {
    const Cards first = bit(take_lowest(rest));
    for (Cards others = rest; others;) {
      const Cards other = first | bit(take_lowest(others));
      for (unsigned open = legal; open; open &= open - 1)
        all += std::exp((worth(std::countr_zero(open), other) - own) / model.choice);
    }
  }
  const double named = named_chance(evaluation, model, v, w, stakes);
  const double chance = blend(model, 1 / all, 66 * std::popcount(legal)) / named;
  return std::isfinite(chance) ? chance : 0;  // 0 if the probability of the declaration underflows
}

double spoken_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& v, const World& w,
                     const Stakes& stakes) {
  const std::array<BidRange, kPlayers> said = bid_ranges(v);
  double chance = 1;
  for (int seat = 0; seat < kPlayers; ++seat) {
    const BidRange& s = said[std::size_t(seat)];
    if (seat != v.seat && (s.accepted >= 0 || s.refused < kCalls))
      chance *= bid_chance(evaluation, model, s, w.dealt[seat], seat, stakes);
  }
  if (v.soloist() >= 0 && v.soloist() != v.seat && v.stage > SeatView::Stage::kPickUp)
    chance *= declared_chance(evaluation, model, v, w, stakes);
  return chance;
}

WeightedWorlds draw_worlds(const Deals& deals, const Evaluation& evaluation, const BidModel& model,
                           const Stakes& stakes, std::size_t n, std::size_t oversample, Rng& rng) {
  std::vector<World> drawn;
  std::vector<double> weight;
  const SeatView& v = deals.view();
  const std::size_t many = std::max<std::size_t>(oversample, 1) * n;
  for (std::size_t i = 0; i < many; ++i) {
    drawn.push_back(deals.draw(rng));
    weight.push_back(oversample ? spoken_chance(evaluation, model, v, drawn.back(), stakes) : 1);
  }
  double share = 1;
  if (oversample && v.soloist() != v.seat && !v.contract.hand) {
    const std::vector<int> times = resample(weight, std::min(kSecond, oversample) * n, rng, share);
    std::vector<World> second;
    weight.clear();
    for (std::size_t i = 0; i < many; ++i) {
      if (!times[i]) continue;
      second.insert(second.end(), std::size_t(times[i]), drawn[i]);
      weight.insert(weight.end(), std::size_t(times[i]), laid_chance(evaluation, model, v, drawn[i], stakes));
    }
    drawn = std::move(second);
  }
  share *= effective_share(weight);

  WeightedWorlds all;
  all.effective = share * double(many);
  std::map<std::tuple<Cards, Cards, Cards, Cards>, std::size_t> index;
  double sum = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const World& w = drawn[i];
    const auto [place, fresh] = index.try_emplace({w.held[0], w.held[1], w.held[2], w.skat}, all.worlds.size());
    if (fresh) {
      all.worlds.push_back(w);
      all.weight.push_back(0);
    }
    all.weight[place->second] += weight[i];
    sum += weight[i];
  }
  if (!(sum > 0)) throw std::invalid_argument("the model of bids gives no world any weight; raise its floor");
  for (double& w : all.weight) w /= sum;
  if (all.worlds.size() <= n) return all;
  const std::vector<int> times = resample(all.weight, n, rng, share);
  WeightedWorlds out;
  out.effective = all.effective;
  for (std::size_t i = 0; i < all.worlds.size(); ++i) {
    if (!times[i]) continue;
    out.worlds.push_back(all.worlds[i]);
    out.weight.push_back(times[i] / double(n));
  }
  return out;
}

}  // namespace trickformer::skat
