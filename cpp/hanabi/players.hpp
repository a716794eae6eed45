// Scripted partners for Hanabi. Each is a pure function of what everybody saw and of the others' hands: none reads its
// own cards or the deck, so that it can be asked in any state that a belief holds possible.
//
// `simple`, `holmes` and `smart` follow the ideas of the bots of these names in Arthur O'Dwyer's collection
// (github.com/Quuxplusone/Hanabi): hints at playable cards; reasoning from the cards that are seen, and warnings; a
// convention for what a hint means. `iggi`, `piers` and `flawed` are the lists of rules of Walton-Rivers, Williams,
// Bartle, Perez-Liebana and Lucas, "Evaluating and modelling Hanabi-playing agents" (2017, arXiv:1704.07069).
#pragma once
#include <array>
#include <string_view>

#include "hanabi/marks.hpp"

namespace trickformer::hanabi {

enum class Bot : std::uint8_t { kSimple, kHolmes, kSmart, kIggi, kPiers, kFlawed };

inline constexpr std::array<std::string_view, 6> kBotNames = {"simple", "holmes", "smart", "iggi", "piers", "flawed"};

// How likely the bot on turn takes each action: out [rules.actions()], all 0 where the game is over.
void probs(Bot bot, const State& s, const Marks& m, float* out);

// An action drawn from that distribution; the game is not over.
int draw_action(Bot bot, const State& s, const Marks& m, Rng& rng);

}  // namespace trickformer::hanabi
