// Readers of the C++ core for bytes that come from files, under libFuzzer: `python -m tests.fuzz.core`. The environment
// variable TRICKFORMER_TARGET names the reader. An input ends in a value or in std::exception.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "core/tracker.hpp"
#include "crew/random.hpp"
#include "crew/seat_view.hpp"
#include "crew/tracker.hpp"
#include "hanabi/tables.hpp"
#include "hanabi/tokens.hpp"
#include "hanabi/tracker.hpp"
#include "hearts/tell.hpp"
#include "hearts/tracker.hpp"
#include "skat/random.hpp"
#include "skat/seat_view.hpp"
#include "skat/tracker.hpp"

namespace {

using namespace trickformer;

struct Input {
  const std::uint8_t* data;
  std::size_t size;

  // The next `n` bytes, filled up with 255, which ends a history.
  std::vector<std::uint8_t> take(std::size_t n) {
    std::vector<std::uint8_t> found(n, 255);
    const std::size_t there = std::min(n, size);
    if (there) std::memcpy(found.data(), data, there);
    data += there, size -= there;
    return found;
  }
  int number(int below) { return int(take(1)[0]) % below; }
};

// The tokens of training data, which `tokenizers.follow` gives to a tracker: two bytes a token where it is above 255.
void tokens(Tracker& tracker, Input in) {
  std::vector<float> features(std::size_t(tracker.feature_count()));
  while (in.size) {
    const int token = in.data[0] == 254 ? int(std::int16_t(in.take(3)[1] << 8)) - 1 : in.take(1)[0];
    tracker.push(token);
    tracker.features(features.data());
    const TokenSet possible = tracker.possible(), legal = tracker.legal();
    if (possible.size() > 256 || legal.size() > 256) std::abort();
    if (tracker.terminal() && tracker.is_legal()) {
      try {
        (void)tracker.outcome();
      } catch (const std::exception&) {  // scores of no outcome
      }
    }
    (void)tracker.my_turn();
  }
  (void)tracker.copy();
}

std::shared_ptr<const hearts::Codec> hearts_codec() {
  static const std::int8_t labels[] = {26, 0, 0, 0, 0, 26, 26, 26};
  return std::make_shared<hearts::Codec>(hearts::Rules{}, labels);
}

std::shared_ptr<const skat::Codec> skat_codec() {
  static const std::int16_t labels[] = {18, 0, 0, -36, 0, 0};
  return std::make_shared<skat::Codec>(true, labels);
}

std::shared_ptr<const crew::Logbook> crew_book() {
  crew::Mission plain;
  plain.id = 1, plain.tasks = 1, plain.allocation = crew::Allocation::kDraft;
  plain.tiles[0] = 10;
  return std::make_shared<crew::Logbook>(std::vector<crew::Mission>{plain});
}

hanabi::Rules hanabi_rules(Input& in) {
  hanabi::Rules rules;
  rules.players = 2 + in.number(4);
  rules.hand = rules.players < 4 ? 5 : 4;
  return rules;
}

// A stack of games that `belief evaluate` has saved. Every state that `in_range` accepts must be playable.
void tables(Input in) {
  const hanabi::Rules rules = hanabi_rules(in);
  const std::uint64_t seed = in.take(8)[0];
  hanabi::State state;
  hanabi::Marks marks;
  // The input overwrites the bytes of a dealt game, because nearly all other bytes are out of range.
  hanabi::Tables dealt(rules, seed, 0, 1);
  state = dealt.state(0), marks = dealt.marks(0);
  while (in.size > 2) {
    const std::size_t at = std::size_t(in.number(256)) << 8 | std::size_t(in.number(256));
    const std::uint8_t value = in.take(1)[0];
    if (at < sizeof(state))
      reinterpret_cast<std::uint8_t*>(&state)[at] = value;
    else if (at - sizeof(state) < sizeof(marks))
      reinterpret_cast<std::uint8_t*>(&marks)[at - sizeof(state)] = value;
  }
  if (!hanabi::in_range(rules, state, marks)) return;
  hanabi::Tables games(rules, {state}, {marks});
  Rng rng(seed, 1);
  std::int8_t score;
  std::vector<float> row(std::size_t(hanabi::observation_size(rules)));
  for (int step = 0; step < 100; ++step) {
    for (int seat = 0; seat < rules.players; ++seat) {
      for (const bool v0 : {false, true}) hanabi::observe(games.state(0), seat, v0, row.data());
      hanabi::Tables redrawn = games;
      redrawn.redraw(0, seat, rng);
    }
    games.random_step(rng, &score);
  }
}

using Reader = std::function<void(Input)>;

const std::map<std::string, Reader> kReaders = {
    {"tokens of Hearts",
     [](Input in) {
       hearts::HandTracker t(hearts_codec());
       tokens(t, in);
     }},
    {"tokens of Skat",
     [](Input in) {
       skat::GameTracker t(skat_codec());
       tokens(t, in);
     }},
    {"tokens of The Crew",
     [](Input in) {
       crew::MissionTracker t(crew_book());
       tokens(t, in);
     }},
    {"tokens of Hanabi",
     [](Input in) {
       hanabi::SeatTracker t(std::make_shared<hanabi::Codec>(hanabi_rules(in)));
       tokens(t, in);
     }},
    {"histories of Hearts",
     [](Input in) {
       const int seat = in.number(4);
       std::vector<std::int16_t> out(hearts::kMaxLength);
       hearts::encode(hearts::Rules{}, in.take(hearts::kHistory).data(), seat, out.data());
     }},
    {"histories of Skat",
     [](Input in) {
       const int seat = in.number(3);
       std::vector<std::int16_t> out(skat::kMaxLength);
       skat::encode(in.take(skat::kHistory).data(), seat, out.data());
     }},
    {"histories of The Crew",
     [](Input in) {
       const int seat = in.number(4);
       std::vector<std::int16_t> out(crew::kMaxLength);
       crew::encode(*crew_book(), in.take(crew::kHistory).data(), seat, out.data());
     }},
    {"histories of Hanabi",
     [](Input in) {
       const hanabi::Codec codec(hanabi_rules(in));
       const int seat = in.number(codec.rules().players);
       std::vector<std::int16_t> out(std::size_t(codec.length()));
       hanabi::encode(codec, in.take(std::size_t(hanabi::history_size(codec.rules()))).data(), seat, out.data());
     }},
    {"tables of Hanabi", tables},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Reader& reader = kReaders.at(std::getenv("TRICKFORMER_TARGET"));
  try {
    reader({data, size});
  } catch (const std::exception&) {  // callers expect it
  }
  return 0;
}
