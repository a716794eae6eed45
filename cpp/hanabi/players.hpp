// Scripted partners for Hanabi. The action of each depends only on public information and the hands of the others. It
// never depends on the own cards or the deck, so that it can be computed in every state of a belief.
//
// `simple`, `holmes` and `smart` follow the ideas of the bots of these names in Arthur O'Dwyer's collection
// (github.com/Quuxplusone/Hanabi): hints at playable cards; deductions from the cards in sight, and warnings; a
// convention for the meaning of a hint. `iggi`, `piers` and `flawed` are the lists of rules of Walton-Rivers, Williams,
// Bartle, Perez-Liebana and Lucas, "Evaluating and modelling Hanabi-playing agents" (2017, arXiv:1704.07069).
#pragma once
#include <array>
#include <string_view>

#include "hanabi/marks.hpp"

namespace trickformer::hanabi {

enum class Bot : std::uint8_t { kSimple, kHolmes, kSmart, kIggi, kPiers, kFlawed };

inline constexpr std::array<std::string_view, 6> kBotNames = {"simple", "holmes", "smart", "iggi", "piers", "flawed"};

// Writes the probability of each action of the bot on turn to out [rules.actions()]; all are 0 if the game is over.
void probs(Bot bot, const State& s, const Marks& m, float* out);

// Draws an action from this distribution. The game must not be over.
int draw_action(Bot bot, const State& s, const Marks& m, Rng& rng);

}  // namespace trickformer::hanabi
