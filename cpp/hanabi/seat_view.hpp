// What one seat of Hanabi knows, token by token, and what may come next.
//
// The rules themselves run on, with the own cards and the deck unknown. What hints reveal of an own card restricts
// it by itself, never together with others; so the question "is there a deal?" asks whether the own slots, each with
// the set of its kinds, can be filled with cards that have not been seen: Hall's condition.
#pragma once
#include <span>
#include <utility>

#include "core/tracker.hpp"
#include "hanabi/marks.hpp"
#include "hanabi/tokens.hpp"

namespace trickformer::hanabi {

inline constexpr std::uint8_t kUnknown = 255;

// Whether the slots, each with the set of kinds that it may be, can be filled with cards that are left.
bool fits(const std::uint32_t* kinds, int slots, const Copies& unseen);

struct SeatView {
  enum class Stage : std::uint8_t { kSeat, kDeal, kMove, kCard, kDraw, kSlots, kOver };

  State state;                                    // own cards and those in the deck are kUnknown
  std::uint8_t seat = 0, dealt = 0, pending = 0;  // cards of the deal seen; action whose effect is seen next
  Stage stage = Stage::kSeat;
  bool ended = false;  // the end token has come

  explicit SeatView(const Rules& rules) { state.rules = rules; }

  bool my_turn() const { return stage == Stage::kMove && state.player == seat; }
  int size() const { return state.sizes[seat]; }
  std::uint32_t kinds(int slot) const;  // that hints leave possible of an own card
  Copies unseen() const;                // cards that the seat has not seen: the own ones and the deck
  int actor() const {                   // who moves, in places from the own seat
    const int from = state.player - seat;
    return from < 0 ? from + state.rules.players : from;
  }
};

// Whether some deal goes on with this token; the first and the one past the last that may be such; and all such.
bool allows(const Codec& table, const SeatView& v, int token);
std::pair<int, int> range(const Codec& table, const SeatView& v);
TokenSet all_allowed(const Codec& table, const SeatView& v);

// Takes a token in that some deal allows.
void see(const Codec& table, SeatView& v, int token);

// The view of these tokens. Throws std::invalid_argument where no deal explains them.
SeatView view_of(const Codec& table, std::span<const int> tokens);

}  // namespace trickformer::hanabi
