// The own hands that are consistent with a seat's view of Hanabi, counted exactly and drawn uniformly.
//
// Every order of the unseen cards is equally likely. So the weight of a hand is the number of ways to take its cards
// from the unseen ones, where copies are different cards. The ways are counted kind by kind: first which slots have
// this kind, then the rest.
#pragma once
#include <cstdint>
#include <vector>

#include "hanabi/seat_view.hpp"

namespace trickformer::hanabi {

class Hands {
 public:
  // Throws std::invalid_argument if the view stops within the deal or a move.
  Hands(const Codec& codec, const SeatView& view);

  int slots() const { return hand_; }
  std::uint64_t total() const { return ways(0, full()); }
  // hidden: [rules.hand] cards, the oldest first; -1 where the hand has fewer.
  void draw(Rng& rng, std::int16_t* hidden) const;
  std::uint64_t ways(const std::int16_t* hidden) const;  // of one hand; 0 if it is not consistent with the view

 private:
  unsigned full() const { return (1u << size_) - 1; }
  std::uint64_t ways(int kind, unsigned slots) const { return ways_[(std::size_t(kind) << size_) + slots]; }
  // Calls take(some, ways) for each subset of `slots` that may be of `kind`, until it returns true.
  template <typename Take>
  void choose(int kind, unsigned slots, Take take) const;

  int size_, hand_, kinds_;
  Copies unseen_;
  unsigned slots_[kMaxKinds] = {};   // by kind, the slots that may be of it
  std::vector<std::uint64_t> ways_;  // by the first open kind, and the open slots
};

}  // namespace trickformer::hanabi
