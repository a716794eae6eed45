// Worlds of The Crew that are consistent with one seat's view, counted exactly and drawn uniformly.
//
// A world is the deal, the cards passed in distress, and the cards drawn after the first trick of mission 12, as far as
// these have happened. crew/ways.hpp defines the order of the cards and the states between them. The number of ways to
// continue from each state, counted from the end, is the weight for drawing a world from the start. With odds for the
// holder of each card, a way is weighted by the odds of the seat it leads to; the probability of a world is then
// proportional to the product over its cards.
#pragma once
#include "core/placing.hpp"
#include "crew/seat_view.hpp"

namespace trickformer::crew {

inline constexpr std::uint8_t kNoCard = 255;

struct World {
  std::uint8_t dealt[kNumCards];                   // the seat that each card was dealt to
  std::uint8_t passed[kPlayers], drawn[kPlayers];  // indexed by the seat that passed, that drew; kNoCard: none yet
};

// A world as a row of numbers: the seat of each card, then the cards passed and the cards drawn, -1: none.
inline constexpr int kHidden = kNumCards + 2 * kPlayers;
void write(const World& world, std::int16_t* row);
World read(const std::int16_t* row);  // numbers out of range give an inconsistent world

class Deals {
 public:
  // log_odds: null, or [kNumCards][kPlaces], the odds for drawing worlds; the places are the seats after the own one.
  // Throws std::invalid_argument if no deal explains the view, if the view stops within an event, or if the odds are
  // out of range.
  explicit Deals(const SeatView& view, const double* log_odds = nullptr);

  const SeatView& view() const { return view_; }
  std::uint64_t count() const { return total_; }
  World draw(Rng& rng) const { return weights_.empty() ? world(rng.below64(total_)) : weighted(rng); }
  World world(std::uint64_t number) const;  // the world with this number, 0 .. count - 1, in an order of the class
  bool is_consistent(const World& world) const;
  // Natural logarithm of the probability of drawing a world; minus infinity if it is not consistent with the view.
  double log_prob(const World& world) const;
  // The places of the cards of a consistent world, [kNumCards]: 0, 1, 2; -1 for cards that the view locates.
  void places(const World& world, std::int8_t* at) const;
  // The probability of each card at each place, [kNumCards][kPlaces]; 0 for cards that the view locates.
  void marginals(double* out) const;

 private:
  struct Position {
    std::size_t step = 0;
    int bits = 0, dealt = 0;
  };
  std::size_t row(std::size_t step, int bits) const { return (step << course_.width) + std::size_t(bits); }
  // Number of ways to continue from a position to the end.
  std::uint64_t ways(const Position& at) const {
    return counts_[start_[row(at.step, at.bits)] + std::size_t(at.dealt)];
  }
  // Makes a step; for a card, by an option. Returns false if there is no such position.
  bool go(Position& at, const Step::Option* option) const;
  // Fills `counts` with the sums over all ways to continue from each position reached, weighted by worth(step, option).
  template <typename Number, typename Worth>
  void sum_up(std::vector<Number>& counts, Worth worth) const;
  World weighted(Rng& rng) const;
  // The seat that holds a card now after this way, counted from the own one.
  int holder(int way) const;
  bool open(int card) const { return open_ >> card & 1; }
  double odds(int card, int way) const;

  SeatView view_;
  Ways ways_;
  Course course_;
  World certain_;                   // with the cards that have only one possible way
  Cards open_ = 0;                  // cards whose holder the view does not determine
  std::vector<DealtSet> reached_;   // indexed by step and bits
  std::vector<std::size_t> start_;  // start of each of these in counts_
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::vector<double> odds_;     // [kNumCards][kPlaces], of open cards; empty: all equal
  std::vector<double> weights_;  // like counts_, weighted by the odds
};

// The full state of a consistent world at a decision.
State state(const SeatView& view, const World& world);

}  // namespace trickformer::crew
