// A mission under way, as plain data: what everybody knows (PublicState), and what is in the hands (State).
//
// One decision is one action: a card; a player, counted from the actor clockwise; a task token; yes or no; a way to lie
// a card open; silence. Chance deals, reveals task cards and draws.
#pragma once
#include "crew/types.hpp"

namespace trickformer::crew {

inline constexpr int kSeat = kNumCards,  // 4: the actor, left, across, right
    kTile = kSeat + kPlayers,            // 11; of the roles: "1" the first four, omega the last, none between
    kYes = kTile + kTiles, kNo = kYes + 1, kHighest = kNo + 1, kOnly = kHighest + 1, kLowest = kOnly + 1,
                     kUnlabelled = kLowest + 1, kSilent = kUnlabelled + 1, kActions = kSilent + 1;

enum class Phase : std::uint8_t {
  kReveal,       // chance: the next task card
  kTile,         // the commander may choose a task token
  kTileTo,       // and what it changes places with, or where it goes
  kName,         // the commander names a player
  kDraft,        // tasks are taken in turn
  kAsk,          // the others answer, clockwise from the commander's left
  kAppoint,      // the commander decides who
  kAppointLast,  // and, of roles, who wins the last trick
  kPass,         // distress: each lays a card down for a neighbour
  kRadio,        // before a trick: communicate or not
  kRadioCard,    // which card
  kPlay,
  kDraw,  // chance: seat 0 to 3 draws from the right neighbour
  kOver
};

struct Task {
  std::uint8_t card, tile;
  std::int8_t owner;  // -1: nobody yet
  bool done;
};

// What a player has communicated: an action kHighest .. kUnlabelled, or 0 for nothing yet.
struct Message {
  std::uint8_t label, card, before;  // before: plays made until then
};

// What everybody knows of a mission under way.
struct PublicState {
  Mission mission;
  Phase phase = Phase::kOver;
  std::int8_t current = 0, leader = 0, commander = 0;
  std::int8_t member = -1, first_four = -1, last = -1;  // who has a special part, -1: nobody
  std::int8_t result = 0;                               // 1: success, -1: failure
  std::uint8_t step = 0;                                // within a phase: answers, passes, draws so far
  std::uint8_t asked = 0;                               // bits by seat: has had its say before this trick
  std::uint8_t label = 0;                               // of the message under way
  std::uint8_t chosen = 0;                              // task whose token is to move
  std::uint8_t revealed = 0, owned = 0, done = 0;       // tasks
  std::uint8_t num_plays = 0;
  std::uint8_t best_card = 0;  // of the trick under way
  std::int8_t best_seat = 0;
  std::uint8_t wins[kPlayers] = {};    // tricks by seat
  std::uint8_t ones = 0, rockets = 0;  // tricks won by colour 1s and by rockets
  Task tasks[kMaxTasks] = {};
  Message message[kPlayers] = {};
  std::uint8_t answer[kPlayers] = {};  // actions: what each replied to the commander's last question, 0: nothing
  std::uint8_t plays[kPlays] = {};
  std::int8_t winner[kTricks] = {};
  Cards played = 0;

  bool over() const { return phase == Phase::kOver; }
  int trick() const { return num_plays / kPlayers; }  // from 0
  int lead() const { return num_plays % kPlayers ? plays[num_plays / kPlayers * kPlayers] : -1; }
  bool at_trick_start() const {
    return (phase == Phase::kRadio || phase == Phase::kPlay) && num_plays % kPlayers == 0 && !asked;
  }
};

// A mission from the moment the cards are dealt.
struct State : PublicState {
  Cards hand[kPlayers] = {};
  std::uint8_t passed[kPlayers] = {}, drawn[kPlayers] = {};  // by the seat that laid it down; by the seat that drew it

  bool is_chance() const { return phase == Phase::kReveal || phase == Phase::kDraw; }
};

}  // namespace trickformer::crew
