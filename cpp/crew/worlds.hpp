// Worlds of The Crew that explain what one seat has seen, counted exactly and drawn uniformly.
//
// A world is the deal, the cards passed in distress, and the cards drawn after the first trick of mission 12, as far as
// these have happened. crew/ways.hpp says how the cards are gone through; counted from the end, the ways to go on from
// each state are the weights with which a world is drawn from the beginning. Given odds of who holds each card now, a way
// counts as much as the odds of the seat that it leads to, and worlds are drawn in proportion to the product over cards.
#pragma once
#include "core/placing.hpp"
#include "crew/seat_view.hpp"

namespace trickformer::crew {

inline constexpr std::uint8_t kNoCard = 255;

struct World {
  std::uint8_t dealt[kNumCards];                   // the seat that each card was dealt to
  std::uint8_t passed[kPlayers], drawn[kPlayers];  // by the seat that laid it down, that drew it; kNoCard: none yet
};

// A world as a row of numbers: the seats, then the cards passed and the cards drawn, -1: none.
inline constexpr int kHidden = kNumCards + 2 * kPlayers;
void write(const World& world, std::int16_t* row);
World read(const std::int16_t* row);  // numbers out of range become such as explain nothing

class Deals {
 public:
  // log_odds: null, or [kNumCards][kPlaces], by which worlds are drawn; the places are the seats after the own one. Throws
  // std::invalid_argument where no deal explains the view, where it ends amid what is seen at once, and where the odds
  // are not in range.
  explicit Deals(const SeatView& view, const double* log_odds = nullptr);

  const SeatView& view() const { return view_; }
  std::uint64_t count() const { return total_; }
  World draw(Rng& rng) const { return weights_.empty() ? world(rng.below64(total_)) : weighted(rng); }
  World world(std::uint64_t number) const;  // the worlds in an order of their own, 0 .. count - 1
  bool is_consistent(const World& world) const;
  // Natural logarithm of the probability with which a world is drawn; minus infinity where it does not explain the view.
  double log_prob(const World& world) const;
  // Where the cards of a world that explains the view lie, [kNumCards]: 0, 1, 2; -1 where the view says it.
  void places(const World& world, std::int8_t* at) const;
  // The probability that each card lies at each place, [kNumCards][kPlaces]; 0 where the view says it.
  void marginals(double* out) const;

 private:
  struct Position {
    std::size_t step = 0;
    int bits = 0, dealt = 0;
  };
  std::size_t row(std::size_t step, int bits) const { return (step << course_.width) + std::size_t(bits); }
  // The ways to go on from a position to the end.
  std::uint64_t ways(const Position& at) const {
    return counts_[start_[row(at.step, at.bits)] + std::size_t(at.dealt)];
  }
  // Makes a step, by an option if it is that of a card. False where there is no such position.
  bool go(Position& at, const Step::Option* option) const;
  // Fills `counts` with the sums over all ways to go on from each position reached, of what worth(step, option) says.
  template <typename Number, typename Worth>
  void sum_up(std::vector<Number>& counts, Worth worth) const;
  World weighted(Rng& rng) const;
  // The seat that holds a card now which has gone this way, counted from the own one.
  int holder(int way) const;
  bool open(int card) const { return open_ >> card & 1; }
  double odds(int card, int way) const;

  SeatView view_;
  Ways ways_;
  Course course_;
  World certain_;                   // with the cards that can have gone one way only
  Cards open_ = 0;                  // cards of which the view leaves open who holds them
  std::vector<DealtSet> reached_;   // by step and bits
  std::vector<std::size_t> start_;  // of each of those in counts_
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::vector<double> odds_;     // [kNumCards][kPlaces], of open cards; empty: all are alike
  std::vector<double> weights_;  // as counts_, by the odds
};

// The whole state of a world that explains the view, at a decision.
State state(const SeatView& view, const World& world);

}  // namespace trickformer::crew
