// The language of The Crew's sequences.
//
// Tokens: the actions; 4 chairs; the language of missions: 4 ways to communicate, 6 to allocate tasks, 18 rules, 2
// directions of distress; the cards as each of the three others plays them; end of sequence. Seats count from the own
// one: self, left, across, right.
//
// A sequence is the mission (communication, allocation, a token of each task in order, rules, distress), the own chair, the
// commander, the 10 cards dealt (ascending), of the rule of the pink cards who must win them; then what is said and
// done as all hear it. Of a task that has been given away follow its owner, where that was not just said, and its token, if
// it has one. Of a distress pass each player's is the direction, the own one the card, and at the end comes
// the card received; of the draw the card lost and the card gained. Each trick begins with who leads it; a message
// ends with who has sent it. All this follows from the rules; it is said because messages and missions differ in length,
// so that the place of a token says little.
#pragma once
#include "crew/rules.hpp"

namespace trickformer::crew {

inline constexpr int kChairToken = kActions, kCommunicationToken = kChairToken + kPlayers,
                     kAllocationToken = kCommunicationToken + 4, kRuleToken = kAllocationToken + 6,
                     kDistressToken = kRuleToken + kRules,
                     kPlayToken = kDistressToken + 2,  // of the left neighbour, of the one across, of the right one
    kEndToken = kPlayToken + 3 * kNumCards, kVocabulary = kEndToken + 1;
inline constexpr int kMaxRules = 2;  // of one mission
inline constexpr int kMaxPrefix = 2 + kMaxTasks + kMaxRules + 1;

inline namespace TRICKFORMER_ISA {

inline int distress_token(const Mission& m) { return kDistressToken + (m.distress == 3); }

// A mission in its own language. Returns the number of tokens; out: kMaxPrefix of them at most.
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

// The longest sequence that a seat can see of a mission. Each communicates before the last trick: three tokens, and
// silence before every trick until then.
constexpr int longest(const Mission& m) {
  const int rules = std::popcount(m.rules);
  int n = 2 + m.tasks + rules + (m.distress != 0);   // the mission
  n += 2 + kHand + m.has(Rule::kAllPink) + m.tasks;  // chair, commander, hand, tasks
  for (int i = 0; i < m.tasks; ++i)
    n += (m.tiles[i] != kNoTile) + (m.allocation != Allocation::kDistribution);  // token and owner, when it is given
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

// Of any mission that can be written down.
inline constexpr int kMaxLength = [] {
  Mission m;
  m.tasks = kMaxTasks;  // and ten tokens
  m.allocation = Allocation::kDistribution;
  m.rules = Rule::kAllPink | Rule::kDraw;
  m.distress = 1;
  return longest(m);
}();

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
