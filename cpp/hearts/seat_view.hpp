// The view of one seat in a hand of Hearts as plain data. It is the C++ form of a Python View.
#pragma once
#include "hearts/types.hpp"

namespace trickformer::hearts {

struct SeatView {
  Rules rules;
  Cards dealt = 0;                     // own 13 cards before the pass
  Cards received = 0;                  // own 3 from the pass; 0 before the pass and in a hand without one
  std::uint8_t passes[kPass] = {};     // own passes so far, in the order of choice
  std::uint8_t plays[kNumCards] = {};  // of all seats, from the first trick on
  std::uint8_t seat = 0, direction = 0, num_passes = 0, num_plays = 0;
  std::uint8_t leader = kNoAction;  // of the first trick; kNoAction before the pass
  bool on_turn = false;

  bool playing() const { return leader != kNoAction; }

  // Returns true if the seats with lower numbers have passed. The seats pass in the order 0 to 3, but the viewer cannot
  // see when another seat passes. If the view does not show whether they have passed, they count as not having passed.
  bool earlier_passed() const { return direction && (playing() || num_passes || on_turn); }
};

// Why no deal explains a view. A value from 0 on is the index of the impossible play.
enum Fault : int { kNoFault = -1, kBadDeal = -2, kBadPasses = -3, kBadReceived = -4, kBadLeader = -5 };

// Throws std::invalid_argument with a description of the fault.
[[noreturn]] void refuse(const SeatView& view, int fault);

}  // namespace trickformer::hearts
