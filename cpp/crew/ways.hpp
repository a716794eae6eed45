// The ways that the cards may have taken through the hands, to one seat's knowledge.
//
// A card is dealt to a seat, may be passed on in distress, and may be drawn by the next seat after the first trick: 16
// ways. What a seat knows restricts the ways of each card by itself, but for this: each seat is dealt ten cards, passes
// one and draws one; and a message says something of the rest of its colour. So the cards are gone through one by one,
// colour by colour. To be remembered of those behind are the numbers dealt to two other seats (the third has the rest),
// one bit for each hidden move that has been made, and, while its colour lasts, what a message asks about.
#pragma once
#include <vector>

#include "crew/rules.hpp"

namespace trickformer::crew {

struct SeatView;

// What a message says of the rest of a hand.
struct Claim {
  Cards cannot = 0;            // none of these
  Cards some = 0;              // at least one of these; 0: nothing said
  Cards above = 0, below = 0;  // none of the one or none of the other; 0: nothing said
  bool holds = true;           // false: what is known contradicts it
};

inline constexpr int kWays = 16;
using WaySet = std::uint16_t;

inline namespace TRICKFORMER_ISA {

constexpr int way_of(int dealt, bool passed, bool drawn) { return dealt * 4 + passed * 2 + drawn; }
constexpr int dealt_to(int way) { return way >> 2; }
constexpr bool is_passed(int way) { return way & 2; }
constexpr bool is_drawn(int way) { return way & 1; }
// Who holds the card after the pass, and now.
constexpr int passed_to(int way, int distress) { return next_seat(dealt_to(way), is_passed(way) ? distress : 0); }
constexpr int held_by(int way, int distress) { return next_seat(passed_to(way, distress), is_drawn(way)); }

}  // namespace TRICKFORMER_ISA

// Numbers of cards dealt to the seats one and two to the left of the own one, as a set: bit 11 * first + second.
using DealtSet = unsigned __int128;
inline constexpr int kDealtSets = (kHand + 1) * (kHand + 1);

// One card finds its way, or a colour ends.
struct Step {
  struct Option {
    std::uint8_t way, dealt;     // dealt: what it adds to a number in a DealtSet
    std::uint16_t takes, marks;  // bits set after it; those of a move must be clear before
  };
  std::int8_t card = -1;  // -1: a colour ends
  std::uint8_t num_options = 0;
  std::uint16_t needs = 0;             // at the end of a colour: bits that must be set
  std::uint16_t pairs[kPlayers] = {};  // and pairs of bits that must not both be
  Option options[kWays];
};

// The cards in order. A state is a number of kDealtSets and some bits.
struct Course {
  std::vector<Step> steps;
  int width = 0;                   // number of bits
  std::uint16_t goal = 0;          // bits at the end
  std::uint16_t lasting = 0;       // bits that outlast a colour
  std::uint16_t one = 0, met = 0;  // of a label announced: a card counted (the next bit: two); it can be
  std::uint8_t label = 0;
  static constexpr int kGoal = kDealtSets - 1;

  // The bits after a colour's end, or -1 where a message is belied.
  int end_colour(const Step& step, int bits) const;
  // The bits after an option, or -1 where the move has been made.
  int follow(const Step::Option& option, int bits) const {
    if (bits & option.takes) return -1;
    const int two = option.marks & bits & one ? one << 1 : 0;
    return bits | option.takes | option.marks | two;
  }
  // The numbers of cards dealt that a set of them becomes.
  static DealtSet add(DealtSet set, int dealt);
  static bool room(int numbers, int dealt) {
    return dealt == 11 ? numbers < 11 * kHand : numbers % 11 + dealt <= kHand;
  }
  // The sets after a step, by bits: `from` and `to` have 1 << width of them, those of `to` being empty before.
  void advance(const Step& step, const DealtSet* from, DealtSet* to) const;
};

class Ways {
 public:
  explicit Ways(const SeatView& view);

  WaySet of(int card) const { return of_[card]; }
  // Cards of equal kinds may change places in all that is known.
  std::uint32_t kind(int card) const;
  // Seat p holds `card` now, and of the rest of its hand the claim is true.
  void narrow(int p, int card, const Claim& claim);
  // The speaker who has announced a label holds a card to show.
  void announce(int p, int label);

  Course course() const;
  bool possible() const;  // whether some history goes these ways

 private:
  struct Test {
    Cards some = 0, above = 0, below = 0;  // as in Claim
    WaySet held = 0;                       // the ways into the speaker's hand
  };
  void restrict(int p, WaySet held, const Claim& claim, Cards rest);

  int seat_ = 0, distress_ = 0;
  WaySet of_[kNumCards];
  WaySet held_[2][kPlayers] = {};     // ways into a seat's hand before and after the draw
  WaySet hidden_[2 * kPlayers] = {};  // the ways of each move of which the card is not known
  Cards played_ = 0;
  Test tests_[kPlayers];
  WaySet announced_ = 0;
  std::uint8_t label_ = 0;
};

}  // namespace trickformer::crew
