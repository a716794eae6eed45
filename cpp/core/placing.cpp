#include "core/placing.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/bits.hpp"

namespace trickformer {

void check_log_odds(const double* log_odds, int n) {
  for (int i = 0; i < n * kPlaces; ++i)
    if (!(std::abs(log_odds[i]) <= kMaxLogOdds))
      throw std::invalid_argument("log odds are out of range; give numbers from -8 to 8");
}

Placing::Placing(const Places& places, const double* log_odds) : room_(places.room) {
  const auto& [may, room] = places;
  Sets can = may;
  for (std::size_t p = 0; p < kPlaces; ++p)
    if (room[p] == 0) can[p] = 0;
  for (std::uint64_t rest = may[0] | may[1] | may[2]; rest;) {
    const int card = take_lowest(rest);
    Card c{card, {}};
    int num_places = 0, last = 0;
    for (int p = 0; p < kPlaces; ++p) {
      if (!(can[std::size_t(p)] >> card & 1)) continue;
      c.odds[std::size_t(p)] = log_odds ? std::exp(log_odds[card * kPlaces + p]) : 1;
      ++num_places;
      last = p;
    }
    if (num_places > 1) {
      cards_.push_back(c);
    } else if (num_places == 1) {
      known_[std::size_t(last)] |= std::uint64_t{1} << card;
      --room_[std::size_t(last)];
    } else {
      room_[0] = -1;  // no place has room for this card; an error below
    }
  }
  const std::size_t n = cards_.size();
  if (room_[0] < 0 || room_[1] < 0 || room_[2] < 0 || std::size_t(room_[0] + room_[1] + room_[2]) != n)
    throw std::invalid_argument("the cards do not fit: no assignment fills each place with its number of cards");
  rows_ = std::size_t(room_[0]) + 1;
  columns_ = std::size_t(room_[1]) + 1;
  sums_.resize((n + 1) * rows_ * columns_);
  sums_[state(n, 0, 0)] = 1;
  for (std::size_t step = n; step-- > 0;)
    for (int i = 0; i <= room_[0]; ++i)
      for (int j = 0; j <= room_[1]; ++j) {
        const int k = int(n - step) - i - j;
        if (k < 0 || k > room_[2]) continue;
        const auto parts = split(step, {i, j, k});
        sums_[state(step, i, j)] = parts[0] + parts[1] + parts[2];
      }
  const double all = ways(0, room_[0], room_[1], room_[2]);
  if (!(all > 0))
    throw std::invalid_argument("the cards do not fit: no assignment fills each place with its number of cards");
}

std::size_t Placing::state(std::size_t step, int i, int j) const {
  return (step * rows_ + std::size_t(i)) * columns_ + std::size_t(j);
}

double Placing::ways(std::size_t step, int i, int j, int k) const {
  return i < 0 || j < 0 || k < 0 ? 0 : sums_[state(step, i, j)];
}

std::array<double, kPlaces> Placing::split(std::size_t step, const std::array<int, kPlaces>& room) const {
  const auto& odds = cards_[step].odds;
  const auto [i, j, k] = room;
  return {odds[0] * ways(step + 1, i - 1, j, k), odds[1] * ways(step + 1, i, j - 1, k),
          odds[2] * ways(step + 1, i, j, k - 1)};
}

Placing::Sets Placing::draw(const double* uniforms) const {
  Sets at = known_;
  std::array<int, kPlaces> room = room_;
  for (std::size_t step = 0; step < cards_.size(); ++step) {
    const auto parts = split(step, room);
    const double u = uniforms[step] * (parts[0] + parts[1] + parts[2]);
    std::size_t p = u < parts[0] ? 0 : u < parts[0] + parts[1] ? 1 : 2;
    while (parts[p] == 0) p = (p + 2) % kPlaces;  // rounding may select a place that cannot take the card
    at[p] |= std::uint64_t{1} << cards_[step].card;
    --room[p];
  }
  return at;
}

double Placing::log_prob(const Sets& at) const {
  double sum = -std::log(ways(0, room_[0], room_[1], room_[2]));
  for (const Card& c : cards_)
    for (std::size_t p = 0; p < kPlaces; ++p)
      if (at[p] >> c.card & 1) sum += std::log(c.odds[p]);
  return sum;
}

void Placing::marginals(int cards, double* out) const {
  std::fill(out, out + cards * kPlaces, 0.0);
  const double all = ways(0, room_[0], room_[1], room_[2]);
  std::vector<double> before(rows_ * columns_), next(before.size());  // by state: sums over placements of earlier cards
  before.back() = 1;
  for (std::size_t step = 0; step < cards_.size(); ++step) {
    std::fill(next.begin(), next.end(), 0.0);
    double* row = out + cards_[step].card * kPlaces;
    for (int i = 0; i <= room_[0]; ++i)
      for (int j = 0; j <= room_[1]; ++j) {
        const double here = before[std::size_t(i) * columns_ + std::size_t(j)];
        const int k = int(cards_.size() - step) - i - j;
        if (here == 0 || k < 0 || k > room_[2]) continue;
        const auto parts = split(step, {i, j, k});
        for (std::size_t p = 0; p < kPlaces; ++p) {
          if (parts[p] == 0) continue;
          row[p] += here * parts[p] / all;
          const std::size_t at = std::size_t(i - (p == 0)) * columns_ + std::size_t(j - (p == 1));
          next[at] += here * cards_[step].odds[p];
        }
      }
    before.swap(next);
  }
}

void mark_places(const Placing::Sets& sets, std::uint64_t open, int cards, std::int8_t* at) {
  std::fill(at, at + cards, std::int8_t{-1});
  for (int p = 0; p < kPlaces; ++p)
    for (std::uint64_t rest = sets[std::size_t(p)] & open; rest;) at[take_lowest(rest)] = std::int8_t(p);
}

}  // namespace trickformer
