// Random placement of cards at three places, with odds for each card and place, given the number of cards at each
// place.
//
// The probability of a placement p, which puts card i at place p(i), is proportional to the product of odds[i][p(i)].
// Only placements count that have the right number of cards at each place and respect the places where a card may not
// lie. This is a conditional Bernoulli distribution (Chen, Dempster & Liu 1994) with three outcomes instead of two. The
// class handles the cards one by one. The state before a card is the room left at the first two places. Sums over the
// remaining cards, computed from the last card backwards, make draws, probabilities and marginals exact.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace trickformer {

inline constexpr int kPlaces = 3;
// Largest absolute value of a logarithm of odds. Up to it, no sum or product over 52 cards overflows or underflows a
// double.
inline constexpr double kMaxLogOdds = 8;

// Throws std::invalid_argument if one of the n x kPlaces logarithms of odds is out of range or not a number.
void check_log_odds(const double* log_odds, int n);

// The places of one view.
struct Places {
  std::array<std::uint64_t, kPlaces> may;  // the cards that may lie at each place
  std::array<int, kPlaces> room;           // the number of cards that lie there

  // Cards that may lie at more than one of the places that have room. The place of all other cards is known.
  std::uint64_t open() const {
    std::uint64_t some = 0, several = 0;
    for (std::size_t p = 0; p < kPlaces; ++p) {
      if (room[p] == 0) continue;
      several |= some & may[p];
      some |= may[p];
    }
    return several;
  }
};

class Placing {
 public:
  using Sets = std::array<std::uint64_t, kPlaces>;

  // log_odds: [cards][kPlaces], or null if all are equal; the caller has checked them. Throws std::invalid_argument if
  // no placement is possible.
  Placing(const Places& places, const double* log_odds);

  // Draws the cards at each place, known ones included. uniforms: one number from [0, 1) for each open card.
  Sets draw(const double* uniforms) const;
  // Natural logarithm of the probability of a placement, which must be possible.
  double log_prob(const Sets& at) const;
  // The probability of each card at each place, [cards][kPlaces]; 0 for cards that are not open.
  void marginals(int cards, double* out) const;

 private:
  struct Card {
    int card;
    std::array<double, kPlaces> odds;  // 0 where the card may not lie
  };
  std::size_t state(std::size_t step, int i, int j) const;
  // Sum of the products of odds over all ways to place the cards from index `step` on, with room for i, j and k cards.
  double ways(std::size_t step, int i, int j, int k) const;
  // The parts of that sum in which the card of index `step` lies at each of the three places.
  std::array<double, kPlaces> split(std::size_t step, const std::array<int, kPlaces>& room) const;

  std::vector<Card> cards_;
  Sets known_{};
  std::array<int, kPlaces> room_;  // room for the open cards
  std::size_t rows_ = 1, columns_ = 1;
  std::vector<double> sums_;
};

// Writes the place of each open card to `at`, [cards], and -1 for the other cards.
void mark_places(const Placing::Sets& sets, std::uint64_t open, int cards, std::int8_t* at);

}  // namespace trickformer
