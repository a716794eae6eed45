#include "skat/worlds.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/binomials.hpp"

namespace trickformer::skat {
namespace {

constexpr Binomials<23> kBinomials;

// A uniform subset of `k` of the cards.
Cards subset(Cards cards, int k, Rng& rng) {
  Cards rest = cards;
  for (; k > 0; --k) rest ^= bit(pick(rest, rng));
  return cards ^ rest;
}

}  // namespace

void write(const World& w, std::int16_t* row) {
  for (int card = 0; card < kNumCards; ++card) {
    row[card] = kPlayers;
    for (int p = 0; p < kPlayers; ++p)
      if (w.dealt[p] >> card & 1) row[card] = std::int16_t(p);
  }
  for (int i = 0; i < kSkat; ++i) row[kNumCards + i] = w.discards[i] == kNoCard ? -1 : w.discards[i];
}

World read(const std::int16_t* row) {
  World w{};
  for (int card = 0; card < kNumCards; ++card) {
    if (row[card] >= 0 && row[card] < kPlayers) w.dealt[row[card]] |= bit(card);
    if (row[card] == kPlayers) w.dealt_skat |= bit(card);
  }
  for (int i = 0; i < kSkat; ++i) {
    const int card = row[kNumCards + i];
    w.discards[i] = card < 0 ? kNoCard : std::uint8_t(std::min(card, kNumCards));  // kNumCards: an invalid card
  }
  return w;
}

Deals::Deals(const SeatView& v, const double* log_odds) : view_(v) {
  using Stage = SeatView::Stage;
  if (v.stage < Stage::kAuction || v.stage == Stage::kTake || v.stage == Stage::kShow)
    throw std::invalid_argument("the view stops within the deal or another event; add all cards that the event shows");
  a_ = (v.seat + 1) % kPlayers;
  b_ = (v.seat + 2) % kPlayers;
  need_a_ = v.hidden_in(a_);
  need_b_ = v.hidden_in(b_);
  need_skat_ = v.hidden_in_skat();
  hidden_discards_ = v.declared() && v.soloist() >= 0 && v.soloist() != v.seat && !v.contract.hand;
  const Cards unseen = v.unseen(), not_a = v.cannot[a_], not_b = v.cannot[b_];
  both_ = unseen & ~not_a & ~not_b;
  only_a_ = unseen & ~not_a & not_b;
  only_b_ = unseen & not_a & ~not_b;
  neither_ = unseen & not_a & not_b;
  const int ab = count(both_), a = count(only_a_), b = count(only_b_), skat = need_skat_ - count(neither_);
  for (int i = 0; i <= std::min(a, skat); ++i)
    for (int j = 0; i + j <= skat && j <= b; ++j) {
      const int k = skat - i - j, to_a = need_a_ - (a - i);
      if (k > ab || to_a < 0 || to_a > ab - k) continue;
      total_ += kBinomials.of[a][i] * kBinomials.of[b][j] * kBinomials.of[ab][k] * kBinomials.of[ab - k][to_a];
      splits_.push_back({std::uint8_t(i), std::uint8_t(j), std::uint8_t(k), total_});
    }
  if (total_ == 0 || count(unseen) != need_a_ + need_b_ + need_skat_)
    throw std::invalid_argument("no deal explains this view");
  if (!log_odds) return;
  check_log_odds(log_odds, kNumCards);
  placing_.emplace(unseen_places(), log_odds);
}

Places Deals::unseen_places() const {
  return {{both_ | only_a_, both_ | only_b_, both_ | only_a_ | only_b_ | neither_}, {need_a_, need_b_, need_skat_}};
}

Deals::UnseenCards Deals::lay_uniform(Rng& rng) const {
  const std::uint64_t at = rng.below64(total_);
  const Split* split = splits_.data();
  while (at >= split->cumulative) ++split;
  const Cards a = subset(only_a_, split->a, rng), b = subset(only_b_, split->b, rng),
              ab = subset(both_, split->ab, rng);
  const Cards to_a = subset(both_ ^ ab, need_a_ - (count(only_a_) - split->a), rng);
  return {(only_a_ ^ a) | to_a, (only_b_ ^ b) | (both_ ^ ab ^ to_a), neither_ | a | b | ab};
}

World Deals::draw(Rng& rng) const {
  UnseenCards laid;
  if (placing_) {
    double uniforms[kNumCards];
    for (double& u : uniforms) u = rng.uniform();
    const Placing::Sets at = placing_->draw(uniforms);
    laid = {Cards(at[0]), Cards(at[1]), Cards(at[2])};
  } else {
    laid = lay_uniform(rng);
  }
  World w;
  const int soloist = view_.soloist();
  w.held[view_.seat] = view_.hand;
  w.held[a_] = laid.a;
  w.held[b_] = laid.b;
  if (view_.shown) w.held[soloist] = view_.shown;
  w.skat = laid.skat;
  w.dealt_skat = w.skat;
  for (int p = 0; p < kPlayers; ++p) w.dealt[p] = w.held[p] | view_.played[p];
  w.discards[0] = w.discards[1] = kNoCard;
  if (view_.taken) {
    w.dealt[view_.seat] = view_.dealt;
    w.dealt_skat = view_.taken;
    w.skat = view_.laid;
    for (int i = 0; i < view_.num_discards; ++i) w.discards[i] = view_.discards[i];
  } else if (hidden_discards_) {
    const Cards all = w.dealt[soloist] | w.skat;
    w.dealt_skat = subset(all, kSkat, rng);
    w.dealt[soloist] = all ^ w.dealt_skat;
    w.discards[0] = std::uint8_t(pick(w.skat, rng));
    w.discards[1] = std::uint8_t(lowest(w.skat ^ bit(w.discards[0])));
  } else if (soloist >= 0 && soloist != view_.seat && !view_.contract.hand && view_.stage > SeatView::Stage::kPickUp) {
    w.held[soloist] |= w.skat;  // picked up, but nothing discarded yet
    w.skat = 0;
  }
  return w;
}

void Deals::hold(World& w) const {
  const int soloist = view_.soloist();
  std::copy(w.dealt, w.dealt + kPlayers, w.held);
  w.skat = w.dealt_skat;
  if (soloist >= 0 && !view_.contract.hand && view_.stage > SeatView::Stage::kPickUp) {
    w.held[soloist] |= w.skat;
    w.skat = 0;
  }
  for (int card : w.discards)
    if (card != kNoCard) w.skat |= bit(card);
  for (int p = 0; p < kPlayers; ++p) w.held[p] &= ~(w.skat | view_.played[p]);
}

bool Deals::is_consistent(const World& w) const {
  const SeatView& v = view_;
  if ((w.dealt[0] | w.dealt[1] | w.dealt[2] | w.dealt_skat) != kAll || count(w.dealt_skat) != kSkat) return false;
  for (Cards dealt : w.dealt)
    if (count(dealt) != kHand) return false;
  if (w.dealt[v.seat] != v.dealt || (v.taken && w.dealt_skat != v.taken)) return false;
  const int soloist = v.soloist(), laid = v.taken ? v.num_discards : hidden_discards_ ? kSkat : 0;
  Cards hand[kPlayers], away = 0;
  std::copy(w.dealt, w.dealt + kPlayers, hand);
  for (int i = 0; i < kSkat; ++i) {
    if ((w.discards[i] == kNoCard) != (i >= laid)) return false;
    if (i >= laid) continue;
    if (w.discards[i] >= kNumCards || away & bit(w.discards[i])) return false;
    if (v.taken && w.discards[i] != v.discards[i]) return false;
    away |= bit(w.discards[i]);
  }
  if (laid) {
    hand[soloist] |= w.dealt_skat;
    if (away & ~hand[soloist]) return false;
    hand[soloist] ^= away;
  }
  for (int p : {a_, b_}) {
    if (v.played[p] & ~hand[p]) return false;
    const Cards left = hand[p] ^ v.played[p];
    if (left & v.cannot[p]) return false;
    if (v.shown && p == soloist && left != v.shown) return false;
  }
  return true;
}

Placing::Sets Deals::sets(const World& world) const {
  World w = world;
  hold(w);
  Cards skat = hidden_discards_ ? w.skat : w.dealt_skat;
  return {w.held[a_] & ~skat, w.held[b_] & ~skat, skat};
}

double Deals::log_prob(const World& w) const {
  if (!is_consistent(w)) return -std::numeric_limits<double>::infinity();
  return (placing_ ? placing_->log_prob(sets(w)) : -std::log(double(total_))) - std::log(double(histories()));
}

void Deals::places(const World& w, std::int8_t* at) const {
  mark_places(sets(w), unseen_places().open(), kNumCards, at);
}

void Deals::marginals(double* out) const {
  if (placing_) return placing_->marginals(kNumCards, out);
  Placing(unseen_places(), nullptr).marginals(kNumCards, out);
}

}  // namespace trickformer::skat
