// Worlds of Skat that are consistent with one seat's view, counted exactly and drawn uniformly.
//
// A world is the deal and, if another seat has discarded, its discards in order. Each play restricts the cards of one
// hand by a set (voids). Statements restrict nothing, except that the hand of an ouvert game is seen. So the unseen
// cards fall into four classes, and the number of ways to place them is a sum of products of binomials. With odds for
// the place of each card, the probability of an assignment is proportional to the product of its odds
// (core/placing.hpp); which cards were picked up and discarded stays uniform.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "core/placing.hpp"
#include "skat/seat_view.hpp"

namespace trickformer::skat {

struct World {
  Cards dealt[kPlayers], dealt_skat;
  std::uint8_t discards[kSkat];  // discards of the soloist, in order; kNoCard: none yet
  Cards held[kPlayers];          // now
  Cards skat;                    // the cards that lie there now
};

inline constexpr std::uint8_t kNoCard = 255;

// A world as a row of numbers: the seat that each card was dealt to (3: the skat), then the discards in order, -1:
// none.
inline constexpr int kHidden = kNumCards + kSkat;
void write(const World& world, std::int16_t* row);
// Reads a row, without the cards held now, which a view gives. Numbers out of range count as none.
World read(const std::int16_t* row);

class Deals {
 public:
  // log_odds: null, or [kNumCards][kPlaces], the odds for drawing worlds. The places are the seats after the own one
  // and the skat, for cards that were not picked up or were discarded. Throws std::invalid_argument if no deal explains
  // the view, if the view stops within an event, or if the odds are out of range.
  explicit Deals(const SeatView& view, const double* log_odds = nullptr);

  const SeatView& view() const { return view_; }
  std::uint64_t assignments() const { return total_; }  // number of ways to place the unseen cards
  // number of ways to pick up and discard for each placement
  int histories() const { return hidden_discards_ ? kWays : 1; }
  World draw(Rng& rng) const;
  bool is_consistent(const World& w) const;  // does not read w.held and w.skat
  void hold(World& w) const;                 // fills in the cards now held in a consistent world
  // Natural logarithm of the probability of drawing a world; minus infinity if it is not consistent with the view.
  double log_prob(const World& w) const;
  // The places of the cards of a consistent world, [kNumCards]: 0, 1, 2; -1 for cards that the view locates.
  void places(const World& w, std::int8_t* at) const;
  // The probability of each card at each place, [kNumCards][kPlaces]; 0 for cards that the view locates.
  void marginals(double* out) const;

 private:
  // Two of the soloist's twelve cards were dealt to the skat, and the two discards have an order.
  static constexpr int kWays = 66 * 2;
  struct Split {
    std::uint8_t a, b, ab;  // number of cards in the skat, by class
    std::uint64_t cumulative;
  };

  Places unseen_places() const;  // where the unseen cards may lie
  // The cards at each place of a world, including those seen.
  Placing::Sets sets(const World& w) const;
  struct UnseenCards {
    Cards a, b, skat;  // unseen cards
  };
  UnseenCards lay_uniform(Rng& rng) const;

  SeatView view_;
  int a_ = 0, b_ = 0;  // the two other seats
  int need_a_ = 0, need_b_ = 0, need_skat_ = 0;
  bool hidden_discards_ = false;
  // the sets of seats that may hold the unseen cards, besides the skat
  Cards both_ = 0, only_a_ = 0, only_b_ = 0, neither_ = 0;
  std::vector<Split> splits_;
  std::uint64_t total_ = 0;
  std::optional<Placing> placing_;
};

}  // namespace trickformer::skat
