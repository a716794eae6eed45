#include "skat/bidding.hpp"

#include <limits>

namespace trickformer::skat {

Laying best_laying(const Evaluation& evaluation, Cards twelve, Cards already, int seat) {
  Laying best;
  std::fill(best.logit, best.logit + kDeclarations, -std::numeric_limits<double>::infinity());
  std::fill(best.laid, best.laid + kDeclarations, 0);
  for (Cards rest = twelve; rest;) {
    const Cards first = bit(take_lowest(rest));
    for (Cards others = rest; others;) {
      const Cards laid = first | bit(take_lowest(others));
      if (already & ~laid) continue;
      const int points = card_points(laid);
      for (int d = 0; d < kNullOuvert; ++d) {
        const double logit = evaluation.logit(Known::kLaid, d, twelve ^ laid, points, seat);
        if (logit > best.logit[d]) {
          best.logit[d] = logit;
          best.laid[d] = laid;
        }
      }
    }
  }
  // The evaluation has one model of both null contracts. Only the calibration differs.
  best.logit[kNullOuvert] = best.logit[int(Kind::kNull)];
  best.laid[kNullOuvert] = best.laid[int(Kind::kNull)];
  return best;
}

Prospects::Prospects(const Evaluation& evaluation, Cards ten, int seat, const Stakes& stakes) : stakes_(stakes) {
  int skat = 0;
  for (Cards rest = ~ten; rest;) {
    const Cards first = bit(take_lowest(rest));
    for (Cards others = rest; others; ++skat) {
      const Cards twelve = ten | first | bit(take_lowest(others));
      const Laying best = best_laying(evaluation, twelve, 0, seat);
      for (int d = 0; d < kDeclarations; ++d) {
        const std::size_t at = std::size_t(skat * kDeclarations + d);
        chance_[at] = float(sigmoid(evaluation.calibrated(Known::kLaid, d, best.logit[d])));
        value_[at] = std::int16_t(certain_value(d, false, twelve));
        hand_value_[at] = std::int16_t(certain_value(d, true, twelve));
      }
    }
  }
  for (int d = 0; d < kDeclarations; ++d)
    hand_chance_[std::size_t(d)] = evaluation.chance(Known::kHand, d, ten, 0, seat);
}

double Prospects::picking_up(int bid) const {
  const unsigned legal = declarations(bid, false);
  double sum = 0;
  for (std::size_t skat = 0; skat < kSkats; ++skat) {
    double best = -1e9;
    for (int d = 0; d < kDeclarations; ++d) {
      const std::size_t at = skat * kDeclarations + std::size_t(d);
      if (legal >> d & 1) best = std::max(best, expected(double(chance_[at]), d, value_[at], bid, stakes_));
    }
    sum += best;
  }
  return sum / kSkats;
}

Offer Prospects::by_hand(int bid) const {
  const unsigned legal = declarations(bid, true);
  Offer best;
  for (int d = 0; d < kDeclarations; ++d) {
    if (!(legal >> d & 1)) continue;
    double sum = 0;
    const double chance = hand_chance_[std::size_t(d)];
    for (std::size_t skat = 0; skat < kSkats; ++skat)
      sum += expected(chance, d, hand_value_[skat * kDeclarations + std::size_t(d)], bid, stakes_);
    if (sum / kSkats > best.score) best = {d, 0, chance, sum / kSkats};
  }
  return best;
}

double Prospects::mean_chance(int declaration) const {
  double sum = 0;
  for (std::size_t skat = 0; skat < kSkats; ++skat)
    sum += double(chance_[skat * kDeclarations + std::size_t(declaration)]);
  return sum / kSkats;
}

Offer best_offer(const Evaluation& evaluation, Cards twelve, Cards already, int bid, int seat, const Stakes& stakes) {
  const Laying laying = best_laying(evaluation, twelve, already, seat);
  const unsigned legal = declarations(bid, false);
  Offer best;
  for (int d = 0; d < kDeclarations; ++d) {
    if (!(legal >> d & 1)) continue;
    const double chance = sigmoid(evaluation.calibrated(Known::kLaid, d, laying.logit[d]));
    const double score = expected(chance, d, certain_value(d, false, twelve), bid, stakes);
    // Contracts may have equal scores if the bid is too high for all of them. Then the chance of winning decides.
    if (score > best.score || (score == best.score && chance > best.chance)) best = {d, laying.laid[d], chance, score};
  }
  return best;
}

AuctionChoice say_by(const Evaluation& evaluation, const Prospects& prospects, const SeatView& v, const Stakes& stakes,
                     double passing) {
  using Stage = SeatView::Stage;
  const int bid = v.auction.bid();
  switch (v.stage) {
    case Stage::kAuction: {
      const double otherwise = v.auction.last ? 0 : passing;  // last: both others passed, and a pass ends the game
      const std::uint64_t calls = legal_calls(v.auction).calls;
      if (!v.auction.reply && !calls) return {kPass, otherwise};  // the highest call is made already
      const int next = std::countr_zero(calls);
      const double score = prospects.score(v.auction.reply ? bid : kCallValues[next]);
      if (score <= otherwise) return {kPass, otherwise};
      return {v.auction.reply ? kHold : kCall + next, score};
    }
    case Stage::kPickUp: {
      const double picking_up = prospects.picking_up(bid), by_hand = prospects.by_hand(bid).score;
      return by_hand > picking_up ? AuctionChoice{kPlayHand, by_hand} : AuctionChoice{kPickUp, picking_up};
    }
    case Stage::kDiscard: {
      const Offer offer = best_offer(evaluation, v.dealt | v.taken, v.laid, bid, v.seat, stakes);
      return {lowest(offer.laid & ~v.laid), offer.score};
    }
    case Stage::kDeclare: {
      const Offer offer = v.contract.hand ? prospects.by_hand(bid)
                                          : best_offer(evaluation, v.dealt | v.taken, v.laid, bid, v.seat, stakes);
      return {kDeclare + offer.declaration, offer.score};
    }
    case Stage::kAnnounce: return {kAnnounce, prospects.by_hand(bid).score};  // the first level: nothing
    default: return {};
  }
}

}  // namespace trickformer::skat
