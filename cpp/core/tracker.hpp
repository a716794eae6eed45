// The simulator of GO-MCTS. It follows the observations of one seat and never reads the deal.
#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace trickformer {

// Largest number of tokens in a game's vocabulary. Sets of tokens and arrays over the vocabulary have this size.
inline constexpr int kMaxVocabulary = 256;

// A set of tokens.
struct TokenSet {
  static constexpr int kWords = kMaxVocabulary / 64;
  std::uint64_t words[kWords] = {};

  void add(int token) { words[token >> 6] |= std::uint64_t{1} << (token & 63); }
  bool has(int token) const { return token >= 0 && token < kMaxVocabulary && words[token >> 6] >> (token & 63) & 1; }
  int size() const {
    int n = 0;
    for (auto word : words) n += std::popcount(word);
    return n;
  }
  // The lowest token, or kMaxVocabulary if the set is empty.
  int first() const {
    for (int i = 0; i < kWords; ++i)
      if (words[i]) return i * 64 + std::countr_zero(words[i]);
    return kMaxVocabulary;
  }
};

// Features with the indices first to last - 1.
struct FeatureRange {
  int first;
  int last;
};

class Tracker {
 public:
  virtual ~Tracker() = default;
  virtual std::unique_ptr<Tracker> copy() const = 0;
  virtual int vocabulary() const = 0;  // number of token ids
  virtual bool my_turn() const = 0;
  virtual TokenSet legal() const = 0;     // own legal tokens; empty unless it is the own turn
  virtual TokenSet possible() const = 0;  // tokens that are next in some deal that is consistent with the history
  // Appends a token. After an impossible token the history is illegal, and the tracker only counts further tokens, up
  // to the length at which it is terminal.
  virtual void push(int token) = 0;
  virtual bool terminal() const = 0;
  virtual bool is_legal() const = 0;  // whether some deal is consistent with the history so far
  virtual int outcome() const = 0;    // index of the outcome of a terminal, legal history

  // Features: numbers that the model reads, a function of the tokens so far. The default features are a mask of the
  // possible tokens, then 1 at an own turn and 0 otherwise. A game with other features overrides both functions.
  virtual int feature_count() const { return vocabulary() + 1; }
  virtual void features(float* out) const;  // writes [feature_count]
  // Features that hold the actions and ratings of the game's scripted player.
  virtual std::vector<FeatureRange> script_features() const { return {}; }
};

// One event, as a seat saw it.
struct SeenEvent {
  int actor;   // -1: chance
  int action;  // -1: hidden, or none
  std::vector<int> seen;
};

// Follows a sequence from its start. Writes, after each of its `length` tokens, the features [length, feature_count]
// and, if `possible` is not null, which tokens are possible next [length, vocabulary].
void follow(const Tracker& start, const std::int16_t* tokens, int length, float* features, bool* possible);

// Sets the entries of a set's tokens in a row of a mask that is all false.
inline void mark(const TokenSet& set, bool* row) {
  for (int w = 0; w < TokenSet::kWords; ++w)
    for (auto rest = set.words[w]; rest; rest &= rest - 1) row[w * 64 + std::countr_zero(rest)] = true;
}

// Throws std::invalid_argument unless deck [n] contains each of the cards 0 to n - 1 once. Histories from Python may
// contain any bytes.
inline void check_deck(const std::uint8_t* deck, int n) {
  std::uint64_t seen = 0;
  for (int i = 0; i < n; ++i) {
    if (deck[i] >= n || seen >> deck[i] & 1) throw std::invalid_argument("a deck holds every card once");
    seen |= std::uint64_t{1} << deck[i];
  }
}

inline void check_action(bool legal, int action) {
  if (!legal) throw std::invalid_argument("action " + std::to_string(action) + " is not legal in its position");
}

}  // namespace trickformer
