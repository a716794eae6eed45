#include "skat/players.hpp"

#include "skat/rules_player.hpp"
#include "skat/tell.hpp"

namespace trickformer::skat {
namespace {

// Plays a game whose deal is at the start of `history`. `rng` is for random players and noise.
void play(bool seeger, State s, const SeatPlayer seated[kPlayers], double noise, Rng& rng, std::uint8_t* history,
          std::int16_t* score) {
  SeatView views[kPlayers];
  const auto tell = [&](int p, int token) {
    if (seated[p] == SeatPlayer::kRules && token != kEndToken) see(views[p], token);
  };
  tell_deal(s, tell);
  std::uint8_t* out = history + kNumCards;
  while (s.phase != Phase::kOver) {
    int action;
    const double stray = s.phase < Phase::kDeclare ? noise / 10 : noise;
    if (seated[s.current] == SeatPlayer::kRules && !(noise > 0 && rng.uniform() < stray)) {
      action = rules_player(views[s.current]);
    } else {
      std::uint8_t legal[kActions];
      action = legal[rng.below(std::uint32_t(legal_actions(s, legal)))];
    }
    *out++ = std::uint8_t(action);
    tell_action(s, action, tell);
  }
  std::fill(out, history + kHistory, kNoAction);
  scores(result(s), seeger, score);
}

}  // namespace

void mixed_games(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, double random, double noise,
                 std::uint8_t* history, std::int16_t* score, std::uint8_t* seated) {
  for (std::size_t i = 0; i < n; ++i, history += kHistory, score += kPlayers) {
    Rng rng(seed, first + i);
    Cards hands[kPlayers], skat;
    shuffle_deal(rng, history, hands, skat);
    SeatPlayer players[kPlayers];
    for (SeatPlayer& player : players) {
      player = rng.uniform() < random ? SeatPlayer::kRandom : SeatPlayer::kRules;
      *seated++ = std::uint8_t(player);
    }
    play(seeger, new_game(hands, skat), players, noise, rng, history, score);
  }
}

}  // namespace trickformer::skat
