// Worlds of Skat that explain what one seat has seen, counted exactly and drawn uniformly.
//
// A world is the deal and, where another seat has laid cards away, which ones and in what order. Each play restricts the
// cards of one hand by a set (voids); nothing that is said restricts them, but for an ouvert game's hand, which is
// seen. So the unseen cards fall into four classes, and the number of ways to lay them is a sum of products of
// binomials. Given odds of where each card lies, they are laid in proportion to their product instead (core/placing.hpp); what
// was picked up and laid away stays uniform.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "core/placing.hpp"
#include "skat/seat_view.hpp"

namespace trickformer::skat {

struct World {
  Cards dealt[kPlayers], dealt_skat;
  std::uint8_t discards[kSkat];  // of the soloist, in order; kNoCard where nothing has been laid away yet
  Cards held[kPlayers];          // now
  Cards skat;                    // what lies there now
};

inline constexpr std::uint8_t kNoCard = 255;

// A world as a row of numbers: the seat that each card was dealt to (3: the skat), then the discards in order, -1: none.
inline constexpr int kHidden = kNumCards + kSkat;
void write(const World& world, std::int16_t* row);
// Without what is held now, which a view says; numbers out of range are taken for none.
World read(const std::int16_t* row);

class Deals {
 public:
  // log_odds: null, or [kNumCards][kPlaces], by which worlds are drawn; the places are the seats after the own one and
  // the skat, where what was not picked up, or was laid away, lies. Throws std::invalid_argument where no deal explains
  // the view, where it ends amid cards that are seen at once, and where the odds are not in range.
  explicit Deals(const SeatView& view, const double* log_odds = nullptr);

  const SeatView& view() const { return view_; }
  std::uint64_t assignments() const { return total_; }            // ways to lay the unseen cards
  int histories() const { return hidden_discards_ ? kWays : 1; }  // of what was picked up and laid away, for each
  World draw(Rng& rng) const;
  bool is_consistent(const World& w) const;  // w.held and w.skat are not looked at
  void hold(World& w) const;                 // fills in what a world that explains the view holds now
  // Natural logarithm of the probability with which a world is drawn; minus infinity where it does not explain the view.
  double log_prob(const World& w) const;
  // Where the cards of a world that explains the view lie, [kNumCards]: 0, 1, 2; -1 where the view says it.
  void places(const World& w, std::int8_t* at) const;
  // The probability that each card lies at each place, [kNumCards][kPlaces]; 0 where the view says it.
  void marginals(double* out) const { placing_or_uniform().marginals(kNumCards, out); }

 private:
  // Two of the soloist's twelve cards were dealt to the skat, and the two laid away came in some order.
  static constexpr int kWays = 66 * 2;
  struct Split {
    std::uint8_t a, b, ab;  // of those that go to the skat, by class
    std::uint64_t cumulative;
  };

  Placing placing(const double* log_odds) const;
  Placing placing_or_uniform() const { return placing_ ? *placing_ : placing(nullptr); }
  // The cards at each place of a world, those seen included.
  Placing::Sets sets(const World& w) const;
  struct UnseenCards {
    Cards a, b, skat;  // unseen cards
  };
  UnseenCards lay_uniform(Rng& rng) const;

  SeatView view_;
  int a_ = 0, b_ = 0;  // the two other seats
  int need_a_ = 0, need_b_ = 0, need_skat_ = 0;
  bool hidden_discards_ = false;
  Cards both_ = 0, only_a_ = 0, only_b_ = 0, neither_ = 0;  // who may hold the unseen cards besides the skat
  std::vector<Split> splits_;
  std::uint64_t total_ = 0;
  std::optional<Placing> placing_;
};

}  // namespace trickformer::skat
