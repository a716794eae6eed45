#include "hearts/text.hpp"

#include "hearts/rules.hpp"

namespace trickformer::hearts {
namespace {

std::string name(int card) { return {"23456789TJQKA"[card / 4], "CDHS"[card % 4]}; }

std::string names(Cards cards) {
  std::string text;
  while (cards) text.append(name(take_lowest(cards))).append(" ");
  return text;
}

}  // namespace

std::string information_state_string(const State& s, int player) {
  static constexpr const char* kDirections[] = {"No Pass", "Left", "Across", "Right"};
  std::string text = "Pass Direction: ";
  text.append(kDirections[s.direction]).append("\n\nHand: \n");
  for (int suit = 3; suit >= 0; --suit) {
    text += "CDHS"[suit];
    text += ' ';
    const Cards cards = s.hand[player] & suit_cards(suit);
    for (int rank = 12; rank >= 0; --rank)
      if (cards & bit(rank * 4 + suit)) text += "23456789TJQKA"[rank];
    text += cards ? "\n" : "none\n";
  }
  if (s.passed[player]) {
    text.append("\nPassed Cards: ").append(names(s.passed[player]));
    if (s.num_passes == kPlayers * kPass)
      text.append("\n\nReceived Cards: ").append(names(s.passed[(player + kPlayers - s.direction) % kPlayers]));
    text += '\n';
  }
  if (s.num_plays == 0) return text;
  text += "\nTricks:\nN  E  S  W  N  E  S";
  for (int i = 0; i < s.num_plays; ++i) {
    if (i % kPlayers == 0) text.append("\n").append(3 * s.leader[i / kPlayers], ' ');
    text.append(name(s.plays[i])).append(" ");
  }
  text += "\n\nPoints:";
  for (int p = 0; p < kPlayers; ++p) {
    int points = card_points(s.taken[p]);
    if (s.rules.jd_bonus && s.taken[p] & bit(kJackOfDiamonds)) points -= 10;
    text += '\n';
    text += "NESW"[p];
    text += ": ";
    text += std::to_string(points);
  }
  return text;
}

}  // namespace trickformer::hearts
