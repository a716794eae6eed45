// A rollout network: a small network that plays out whole hands. It has one layer of rectified units and one output for
// each action. Its only input is the features of a position, so that a decision takes microseconds.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/rng.hpp"

namespace trickformer {

// Results are equal on all machines, because every sum is taken in one fixed order, lane by lane.
struct RolloutNet {
  static constexpr int kMost = 512;           // largest number of hidden units, a multiple of 64
  static constexpr int kMostFeatures = 1024;  // largest number of features of one position that are not 0

  // first_weights: float [features + 1, hidden], the last row the bias; second_weights: float [actions, hidden];
  // third_weights: float [actions], the bias of each action.
  RolloutNet(int feature_count, int hidden_units, int action_count, std::span<const float> first_weights,
             std::span<const float> second_weights, std::span<const float> third_weights)
      : features(feature_count),
        hidden(hidden_units),
        actions(action_count),
        first(first_weights.begin(), first_weights.end()),
        second(second_weights.begin(), second_weights.end()),
        third(third_weights.begin(), third_weights.end()) {
    if (hidden < 1 || hidden % 64 || hidden > kMost)
      throw std::invalid_argument("the number of hidden units must be a multiple of 64, at most 512");
    if (features < 1 || features > kMostFeatures)
      throw std::invalid_argument("the number of features must be from 1 to 1024");
    if (first.size() != std::size_t(features + 1) * std::size_t(hidden) ||
        second.size() != std::size_t(actions) * std::size_t(hidden) || third.size() != std::size_t(actions))
      throw std::invalid_argument("the weights do not have the shapes of this network");
  }

  int features, hidden, actions;
  std::vector<float> first, second, third;
};

inline namespace TRICKFORMER_ISA {

// One evaluation: pass the features one by one, then call `finish`, then read the values of actions.
class RolloutState {
 public:
  explicit RolloutState(const RolloutNet& net) : net_(net) {}

  void operator()(int feature, float value) {
    which_[features_] = feature;
    by_[features_++] = value;
  }

  void finish() {
    const float* rows = net_.first.data();
    const std::size_t width = std::size_t(net_.hidden);
    const float* bias = rows + std::size_t(net_.features) * width;
    for (std::size_t at = 0; at < width; at += 8 * kWidth) {  // eight vectors of sums fit the registers
      V sums[8];
      for (int j = 0; j < 8; ++j) sums[j] = *reinterpret_cast<const Row*>(bias + at + std::size_t(j * kWidth));
      for (int i = 0; i < features_; ++i) {
        const float* row = rows + std::size_t(which_[i]) * width + at;
        const V by = V{} + by_[i];
        for (int j = 0; j < 8; ++j) sums[j] += by * *reinterpret_cast<const Row*>(row + j * kWidth);
      }
      for (int j = 0; j < 8; ++j) {
        *reinterpret_cast<Row*>(hidden_ + at + std::size_t(j * kWidth)) = sums[j] > 0 ? sums[j] : V{};
      }
    }
  }

  float value(int action) const {
    const float* row = net_.second.data() + std::size_t(action) * std::size_t(net_.hidden);
    const Row *a = reinterpret_cast<const Row*>(hidden_), *b = reinterpret_cast<const Row*>(row);
    V even{}, odd{};
    for (int i = 0; i < net_.hidden / kWidth; i += 2) {
      even += a[i] * b[i];
      odd += a[i + 1] * b[i + 1];
    }
    const V sums = even + odd;
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])) +
           net_.third[std::size_t(action)];
  }

 private:
  static constexpr int kWidth = 8;
  typedef float V __attribute__((vector_size(kWidth * sizeof(float))));
  typedef float Row
      __attribute__((vector_size(kWidth * sizeof(float)), aligned(sizeof(float)), may_alias));  // in memory

  const RolloutNet& net_;
  int features_ = 0;
  int which_[RolloutNet::kMostFeatures];
  float by_[RolloutNet::kMostFeatures];
  float hidden_[RolloutNet::kMost];
};

// Half the width of the triangular noise that a rollout player adds to each action's value, in units of v(o). The noise
// mixes actions of nearly equal value and leaves bad ones unplayed.
inline constexpr float kRolloutSpread = 0.05f;

// Triangular on (-1, 1).
inline float triangular(Rng& rng) {
  const std::uint64_t bits = rng.next();
  return (float(bits >> 40) - float(bits & 0xffffff)) * 0x1.0p-24f;
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer
