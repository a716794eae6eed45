// The own hands that explain what a seat of Hanabi has seen, counted exactly and drawn uniformly.
//
// Every order of the unseen cards is equally likely, so that a hand weighs as much as there are ways to take its cards
// from those unseen, with copies as different cards. The ways are counted kind by kind: which slots are of it, and then
// the others.
#pragma once
#include <cstdint>
#include <vector>

#include "hanabi/seat_view.hpp"

namespace trickformer::hanabi {

class Hands {
 public:
  // Throws std::invalid_argument where the view ends amid what is seen at once, or before the deal.
  Hands(const Codec& table, const SeatView& view);

  int slots() const { return hand_; }
  std::uint64_t total() const { return ways(0, full()); }
  // hidden: [rules.hand] cards, the oldest first; -1 where the hand has fewer.
  void draw(Rng& rng, std::int16_t* hidden) const;
  std::uint64_t ways(const std::int16_t* hidden) const;  // of one hand; 0 where it does not explain the view

 private:
  unsigned full() const { return (1u << size_) - 1; }
  std::uint64_t ways(int kind, unsigned slots) const { return ways_[(std::size_t(kind) << size_) + slots]; }
  // Calls take(some, ways) for each choice among `slots` of those that are of `kind`, until it returns true.
  template <typename Take>
  void choose(int kind, unsigned slots, Take take) const;

  int size_, hand_, kinds_;
  Copies unseen_;
  unsigned slots_[kMaxKinds] = {};   // by kind, those that may be of it
  std::vector<std::uint64_t> ways_;  // by the first kind still open, and the slots still open
};

}  // namespace trickformer::hanabi
