// Cards laid at three places at random, each by odds of its own, given how many lie at each place.
//
// Cards i at places p(i) have a probability proportional to the product of odds[i][p(i)], over all layings with the
// right number of cards at each place that put no card where it may not lie: a conditional Bernoulli distribution (Chen,
// Dempster & Liu 1994) with three outcomes instead of two. The cards are gone through one by one; of those behind it is
// enough to know how much room is left at the first two places. Sums from the end make draws, probabilities and
// marginals exact.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace trickformer {

inline constexpr int kPlaces = 3;
// Of logarithms of odds. Within it neither sums nor products of 52 cards leave the range of double.
inline constexpr double kMaxLogOdds = 8;

// Throws std::invalid_argument where one of n x kPlaces logarithms of odds is out of range or none at all.
void check_log_odds(const double* log_odds, int n);

class Placing {
 public:
  using Sets = std::array<std::uint64_t, kPlaces>;

  // may: sets of cards that may lie at each place; room: how many do. log_odds [cards][kPlaces], null: all are alike.
  // Throws std::invalid_argument where no laying is possible. The caller has checked the odds.
  Placing(const Sets& may, const std::array<int, kPlaces>& room, const double* log_odds);

  // Cards that may lie at more than one of the places that have room: the others are known.
  std::uint64_t open() const { return open_; }
  // The cards at each place, known ones too. uniforms: numbers from [0, 1), one for each open card.
  Sets draw(const double* uniforms) const;
  // Natural logarithm of the probability of a laying. It must be a possible one.
  double log_prob(const Sets& at) const;
  // The probability that each card lies at each place: [cards][kPlaces], 0 for those that are not open.
  void marginals(int cards, double* out) const;

 private:
  struct Card {
    int card;
    std::array<double, kPlaces> odds;  // 0 where it may not lie
  };
  std::size_t state(std::size_t step, int i, int j) const;
  // The sum over all ways to lay the cards from `step` on, where i, j and k more belong at the places.
  double ways(std::size_t step, int i, int j, int k) const;
  // The ways to go on from a state with card number `step` at each place.
  std::array<double, kPlaces> split(std::size_t step, const std::array<int, kPlaces>& room) const;

  std::vector<Card> cards_;
  Sets known_{};
  std::uint64_t open_ = 0;
  std::array<int, kPlaces> room_;  // for the open cards
  std::size_t rows_ = 1, columns_ = 1;
  std::vector<double> sums_;
};

// The place of each open card, -1 of others: at [cards].
void mark_places(const Placing::Sets& sets, std::uint64_t open, int cards, std::int8_t* at);

}  // namespace trickformer
