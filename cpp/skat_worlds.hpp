// Worlds of Skat that explain what one seat has seen, counted exactly and drawn uniformly.
//
// A world is the deal and, where another seat has laid cards away, which ones and in what order. Each play restricts the
// cards of one hand by a set (voids); nothing that is said restricts them, but for an ouvert game's hand, which is
// seen. So the unseen cards fall into four classes, and the number of ways to lay them is a sum of products of
// binomials.
#pragma once
#include <cstddef>
#include <vector>

#include "skat_seat_view.hpp"

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
  // Throws std::invalid_argument where no deal explains the view, or where it ends amid cards that are seen at once.
  explicit Deals(const SeatView& view);

  const SeatView& view() const { return view_; }
  std::uint64_t assignments() const { return total_; }  // ways to lay the unseen cards
  int histories() const { return hidden_discards_ ? kWays : 1; }  // of what was picked up and laid away, for each
  World draw(Rng& rng) const;
  bool explains(const World& w) const;  // w.held and w.skat are not looked at
  void hold(World& w) const;            // fills in what a world that explains the view holds now

 private:
  // Two of the soloist's twelve cards were dealt to the skat, and the two laid away came in some order.
  static constexpr int kWays = 66 * 2;
  struct Split {
    std::uint8_t a, b, ab;  // of those that go to the skat, by class
    std::uint64_t cumulative;
  };

  SeatView view_;
  int a_ = 0, b_ = 0;          // the two other seats
  int need_a_ = 0, need_b_ = 0, need_skat_ = 0;
  bool hidden_discards_ = false;
  Cards both_ = 0, only_a_ = 0, only_b_ = 0, neither_ = 0;  // who may hold the unseen cards besides the skat
  std::vector<Split> splits_;
  std::uint64_t total_ = 0;
};

}  // namespace trickformer::skat
