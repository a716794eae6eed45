// The requirements of a mission in the form the solver uses. Each instruction set has one translation unit that
// includes this file.
#include <algorithm>

#include "crew/solver_table.hpp"

namespace trickformer::crew::inline TRICKFORMER_ISA {

// The requirements of a mission on tricks, as sets of cards. The owner of a task card must win it. Under some rules the
// member must also win all pink cards, or the holder of each rocket must win it.
struct Goal {
  // Without a member s.member is -1. `& 3` makes it a valid index; only rules about a member use its value.
  explicit Goal(const State& s) : rules(s.mission), commander(s.commander), member(s.member & 3) {
    first_four = s.first_four;
    last = s.last;
    for (int i = 0; i < s.mission.tasks; ++i) {
      const Task& task = s.tasks[i];
      tasks |= bit(task.card);
      owned[task.owner] |= bit(task.card);
      if (task.tile < kTileArrow) {
        for (int done = task.tile + 1; done <= kMaxTasks; ++done) due[done] |= bit(task.card);
        numbered |= bit(task.card);
      } else if (task.tile < kTileOmega) {
        arrow[task.tile - kTileArrow] |= bit(task.card);
      } else if (task.tile == kTileOmega) {
        omega |= bit(task.card);
      }
    }
    if (rules.has(Rule::kAllPink)) owned[member] |= kPink;
    if (rules.has(Rule::kOneWins)) ones = 1;
    if (rules.has(Rule::kOnesWinTwice)) ones = 2;
    nines = rules.any(Rule::kNinesLose | Rule::kNinesLoseTasks);
    rockets = rules.any(Rule::kRocketsWin | Rule::kRocketsInOrder);
    balance = rules.any(Rule::kBalance | Rule::kBalanceEnds);
    to_the_end = balance || rules.has(Rule::kSick) || rules.has(Rule::kOneTrick) || rules.has(Rule::kFirstAndLast) ||
                 rules.has(Rule::kRoles);
    no_rocket = rules.has(Rule::kOneTrick) || rules.has(Rule::kFirstAndLast);
    find_earlier();
    ordered = numbered || omega || arrow[0] || arrow[1] || arrow[2] || arrow[3];
  }

  int number_done(Cards open) const { return count(tasks & ~open); }

  // Returns whether the order of the task tokens allows the tasks `made` to be fulfilled in one trick. open: the tasks
  // that are open before the trick, which include them.
  bool in_order(Cards open, Cards made) const {
    const Cards left = open & ~made;
    if ((numbered & ~left) != due[number_done(left)] || ((made & omega) && left)) return false;
    Cards before = 0;
    for (const Cards at : arrow) {
      if (before & left && at & ~left) return false;
      before |= at;
    }
    return true;
  }

  // For each task: the other tasks that must be fulfilled before it or in the same trick, by the order of the tokens.
  void find_earlier() {
    const int n = count(numbered);
    for (Cards left = tasks; left;) {
      const int card = take_lowest(left);
      Cards& before = earlier[card];
      if (omega >> card & 1) before = tasks;
      if (!(numbered >> card & 1) && count(due[n]) == n) before |= numbered;  // all numbered tasks come first
      for (int k = 1; numbered >> card & 1 && !(due[k] >> card & 1); ++k) before |= due[k];
      Cards lower_arrows = 0;
      for (const Cards at : arrow) {
        if (at >> card & 1) before |= lower_arrows;
        lower_arrows |= at;
      }
      before &= ~bit(card);
    }
  }

  Mission rules;
  int commander, member;
  int first_four, last;  // under Rule::kRoles: winners of the first four tricks and of the last trick; -1: nobody
  Cards tasks = 0, owned[kPlayers] = {};
  Cards numbered = 0, due[kMaxTasks + 1] = {};  // due[k]: numbered tasks that must be fulfilled once k tasks are
  Cards arrow[4] = {}, omega = 0;
  Cards earlier[kNumCards] = {};
  int ones = 0;     // number of tricks that 1s of a colour must win
  bool nines;       // no 9 may win a trick
  bool rockets;     // each rocket must win a trick
  bool balance;     // nobody may have two tricks more than another
  bool to_the_end;  // the mission can fail up to the last trick, even if all tasks are fulfilled
  bool no_rocket;   // the member may not win with a rocket
  bool ordered;     // tokens order the tasks
};

// A position between tricks.
struct Position {
  Cards hand[kPlayers];
  std::int8_t leader;
  std::uint8_t trick, ones;  // number of complete tricks; tricks won by colour 1s
  std::uint8_t wins[kPlayers];

  Cards all() const { return hand[0] | hand[1] | hand[2] | hand[3]; }
};

}  // namespace trickformer::crew::inline TRICKFORMER_ISA
