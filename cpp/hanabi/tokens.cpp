#include "hanabi/tokens.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/tracker.hpp"

namespace trickformer::hanabi {
namespace {

// Number of tokens of the longest sequence of `seat`, after the deal. Plays and discards draw the deck, then each
// player has one more turn. A hint needs a hint token, which a discard gives back.
int longest_course(const Rules& rules, int seat) {
  const int players = rules.players, deck = rules.deck() - rules.cards_in_hands(), hints = rules.hints;
  const auto index = [&](int turn, int left, int h) { return std::size_t((left * (hints + 1) + h) * players + turn); };
  // Computes the largest number of tokens from a position on. `last` is indexed by turns left, `before` by cards left.
  const auto best = [&](std::vector<int>& most, int turn, int left, int h, int draw, const auto& next) {
    const int after = (turn + 1) % players;
    int& found = most[index(turn, left, h)];
    found = (turn == seat ? 2 : 1 + draw) + std::max(next(after, std::min(h + 1, hints)), next(after, h));
    if (h == 0) return;
    const int then = draw ? most[index(after, left, h - 1)] : next(after, h - 1);
    found = std::max(found, (turn == seat ? 1 : 2) + then);
  };
  std::vector<int> last(index(0, players + 1, 0)), before(index(0, deck + 1, 0));
  for (int left = 1; left <= players; ++left)
    for (int h = 0; h <= hints; ++h)
      for (int turn = 0; turn < players; ++turn)
        best(last, turn, left, h, 0, [&](int after, int then) { return last[index(after, left - 1, then)]; });
  for (int left = 1; left <= deck; ++left)
    for (int h = 0; h <= hints; ++h)
      for (int turn = 0; turn < players; ++turn)
        best(before, turn, left, h, 1, [&](int after, int then) {
          return left == 1 ? last[index(after, players, then)] : before[index(after, left - 1, then)];
        });
  return deck ? before[index(0, deck, hints)] : last[index(0, players, hints)];
}

}  // namespace

Codec::Codec(const Rules& rules) : rules_(rules), length_(0) {
  if (vocabulary() > kMaxVocabulary)
    throw std::invalid_argument("these rules need " + std::to_string(vocabulary()) + " tokens, and there may be " +
                                std::to_string(kMaxVocabulary));
  for (int seat = 0; seat < rules.players; ++seat) length_ = std::max(length_, longest_course(rules, seat));
  length_ += 1 + (rules.players - 1) * rules.hand + 1;
}

int Codec::token(const Move& move, int receiver) const {
  const int hints = other() + 2 * rules_.hand;
  switch (move.kind) {
    case Kind::kDiscard: return other() + move.slot;
    case Kind::kPlay: return other() + rules_.hand + move.slot;
    case Kind::kHintColor: return hints + receiver * rules_.colors + move.value;
    default: return hints + receivers() * rules_.colors + receiver * rules_.ranks + move.value;
  }
}

int Codec::action(int token, int actor) const {
  int number = token - other();
  if (number < 0 || token >= card()) return -1;
  if (number < 2 * rules_.hand) return number;
  number -= 2 * rules_.hand;
  const int colors = receivers() * rules_.colors, values = number < colors ? rules_.colors : rules_.ranks;
  if (number >= colors) number -= colors;
  const int offset = (number / values - actor + rules_.players) % rules_.players;
  if (offset == 0) return -1;
  return token < other() + 2 * rules_.hand + colors ? rules_.hint_color(offset, number % values)
                                                    : rules_.hint_rank(offset, number % values);
}

}  // namespace trickformer::hanabi
