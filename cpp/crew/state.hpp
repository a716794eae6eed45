// A mission in progress as plain data: public information (PublicState), and the hands (State).
//
// A decision is one action: a card; a player, counted clockwise from the actor; a task token; yes or no; the position
// of a communicated card; silence. Chance deals, reveals task cards and draws.
#pragma once
#include "crew/types.hpp"

namespace trickformer::crew {

inline constexpr int kSeat = kNumCards,  // 4 players: the actor, left, across, right
    // 11 task tokens; for roles, "1" is the first four tricks, omega the last, none those between
    kTile = kSeat + kPlayers, kYes = kTile + kTiles, kNo = kYes + 1, kHighest = kNo + 1, kOnly = kHighest + 1,
                     kLowest = kOnly + 1, kUnlabelled = kLowest + 1, kSilent = kUnlabelled + 1, kActions = kSilent + 1;

enum class Phase : std::uint8_t {
  kReveal,       // chance: the next task card
  kTile,         // the commander may choose a task token
  kTileTo,       // the commander chooses the task that it is swapped with or moved to
  kName,         // the commander names a player
  kDraft,        // players choose tasks in turn
  kAsk,          // the others answer, clockwise from the commander's left
  kAppoint,      // the commander chooses a player
  kAppointLast,  // in missions with roles: the player who wins the last trick
  kPass,         // distress: each player passes a card to a neighbour
  kRadio,        // before a trick: communicate or stay silent
  kRadioCard,    // which card to communicate
  kPlay,
  kDraw,  // chance: seats 0 to 3 draw a card from the right neighbour
  kOver
};

struct Task {
  std::uint8_t card, tile;
  std::int8_t owner;  // -1: nobody yet
  bool done;

  bool operator==(const Task&) const = default;
};

// The message of a player: an action kHighest .. kUnlabelled, or 0 for nothing.
struct Message {
  std::uint8_t label, card, before;  // before: number of cards played before it

  bool operator==(const Message&) const = default;
};

// The public information of a mission in progress.
struct PublicState {
  Mission mission;
  Phase phase = Phase::kOver;
  std::int8_t current = 0, leader = 0, commander = 0;
  std::int8_t member = -1, first_four = -1, last = -1;  // players with a special part, -1: nobody
  std::int8_t result = 0;                               // 1: success, -1: failure
  std::uint8_t step = 0;                                // counts answers, passes or draws within a phase
  std::uint8_t asked = 0;   // seats, as bits, that have decided about communication before this trick
  std::uint8_t label = 0;   // label of the message being sent
  std::uint8_t chosen = 0;  // task whose token is to be moved
  std::uint8_t revealed = 0, owned = 0, done = 0;  // numbers of tasks
  std::uint8_t num_plays = 0;
  std::uint8_t best_card = 0;  // best card in the current trick
  std::int8_t best_seat = 0;
  std::uint8_t wins[kPlayers] = {};    // tricks by seat
  std::uint8_t ones = 0, rockets = 0;  // tricks won by colour 1s and by rockets
  Task tasks[kMaxTasks] = {};
  Message message[kPlayers] = {};
  std::uint8_t answer[kPlayers] = {};  // actions: reply of each player to the commander's last question, 0: none
  std::uint8_t plays[kPlays] = {};
  std::int8_t winner[kTricks] = {};
  Cards played = 0;

  bool over() const { return phase == Phase::kOver; }
  int trick() const { return num_plays / kPlayers; }  // from 0
  int lead() const { return num_plays % kPlayers ? plays[num_plays / kPlayers * kPlayers] : -1; }
  bool at_trick_start() const {
    return (phase == Phase::kRadio || phase == Phase::kPlay) && num_plays % kPlayers == 0 && !asked;
  }
  bool operator==(const PublicState&) const = default;
};

// A mission from the moment the cards are dealt.
struct State : PublicState {
  Cards hand[kPlayers] = {};
  // indexed by the seat that passed the card; by the seat that drew it
  std::uint8_t passed[kPlayers] = {}, drawn[kPlayers] = {};

  bool is_chance() const { return phase == Phase::kReveal || phase == Phase::kDraw; }
};

}  // namespace trickformer::crew
