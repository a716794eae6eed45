// The token language of The Crew.
//
// The tokens, in order: actions; 4 chairs; the mission language (4 ways to communicate, 6 to allocate tasks, 18 rules,
// 2 directions of distress); cards as each of the three others plays them; end of sequence. Seats count from the own
// one: self, left, across, right.
//
// A sequence starts with the mission (communication, allocation, the token of each task in order, rules, distress), the
// own chair, the commander and the 10 cards dealt (ascending). Under the rule of the pink cards, the player who must
// win them follows. Then come the public actions. A task that was assigned adds its owner, unless the action named the
// owner, and its token if it has one. A distress pass adds the direction for each other player, the card for the own
// pass, and the card received at the end. A draw adds the card lost and the card gained. Each trick starts with its
// leader, and a message ends with its sender. The rules imply these tokens. They are there because messages and
// missions differ in length, so that a position in the sequence carries little information.
#pragma once
#include "crew/rules.hpp"

namespace trickformer::crew {

inline constexpr int kChairToken = kActions, kCommunicationToken = kChairToken + kPlayers,
                     kAllocationToken = kCommunicationToken + 4, kRuleToken = kAllocationToken + 6,
                     kDistressToken = kRuleToken + kRules,
                     kPlayToken = kDistressToken + 2,  // by the left neighbour, the player across, the right neighbour
    kEndToken = kPlayToken + 3 * kNumCards, kVocabulary = kEndToken + 1;
inline constexpr int kMaxRules = 2;  // per mission
inline constexpr int kMaxPrefix = 2 + kMaxTasks + kMaxRules + 1;

inline namespace TRICKFORMER_ISA {

inline int distress_token(const Mission& m) { return kDistressToken + (m.distress == 3); }

// Writes a mission in the mission language to out, at most kMaxPrefix tokens. Returns the number of tokens.
inline int mission_tokens(const Mission& m, std::uint8_t* out) {
  int n = 0;
  const auto add = [&](int token) { out[n++] = std::uint8_t(token); };
  add(kCommunicationToken + int(m.communication));
  add(kAllocationToken + int(m.allocation));
  for (int i = 0; i < m.tasks; ++i) add(kTile + m.tiles[i]);
  for (int rule = 0; rule < kRules; ++rule)
    if (m.has(Rule(rule))) add(kRuleToken + rule);
  if (m.distress) add(distress_token(m));
  return n;
}

// Length of the longest sequence that a seat can see of a mission. Each player communicates only before the last trick
// (three tokens) and is silent before every earlier trick.
constexpr int longest(const Mission& m) {
  const int rules = std::popcount(m.rules);
  int n = 2 + m.tasks + rules + (m.distress != 0);   // the mission
  n += 2 + kHand + m.has(Rule::kAllPink) + m.tasks;  // chair, commander, hand, tasks
  for (int i = 0; i < m.tasks; ++i)
    // token and owner, for each task that is assigned
    n += (m.tiles[i] != kNoTile) + (m.allocation != Allocation::kDistribution);
  n += m.any(Rule::kSwapTiles | Rule::kMoveTile) ? 2 : 0;
  n += m.has(Rule::kMemberSilent);
  switch (m.allocation) {
    case Allocation::kDraft: n += m.tasks; break;
    case Allocation::kDistribution: n += kPlayers * m.tasks; break;
    case Allocation::kDecision:
    case Allocation::kMember: n += kPlayers; break;
    case Allocation::kRoles: n += kPlayers + 1; break;
    case Allocation::kNone: break;
  }
  n += m.distress ? kPlayers + 1 : 0;
  n += m.has(Rule::kDraw) ? 2 : 0;
  n += (kPlayers - m.has(Rule::kMemberSilent)) * (kTricks + 2 - m.first_open_trick());
  return n + kTricks + kPlays + 1;
}

// The same over all missions that can be written down.
inline constexpr int kMaxLength = [] {
  Mission m;
  m.tasks = kMaxTasks;  // ten tasks, each with a token
  m.allocation = Allocation::kDistribution;
  m.rules = Rule::kAllPink | Rule::kDraw;
  m.distress = 1;
  return longest(m);
}();

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
