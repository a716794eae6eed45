// Uniformly random games of Skat, with full auctions.
#pragma once
#include <cstddef>

#include "skat/rules.hpp"

namespace trickformer::skat {

// A game as actions: 32 cards dealt (ten to each of the seats 0, 1, 2, then the skat), then those of the players.
inline constexpr int kHistory = kNumCards + kMaxActions;
inline constexpr std::uint8_t kNoAction = 255;  // fills a history up

// Games `first` .. `first + n - 1` of the series `seed`, every legal action as likely as any other.
// history: uint8 [n, kHistory]; score: int16 [n, 3].
void random_games(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                  std::int16_t* score);

namespace detail {
using RandomGames = void(bool, std::uint64_t, std::uint64_t, std::size_t, std::uint8_t*, std::int16_t*);
#if defined(__x86_64__)
RandomGames random_games_v3;
#endif
}  // namespace detail

}  // namespace trickformer::skat
