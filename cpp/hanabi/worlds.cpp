#include "hanabi/worlds.hpp"

#include <algorithm>
#include <stdexcept>

namespace trickformer::hanabi {
namespace {

// Number of ways to fill this many slots from `left` cards.
std::uint64_t falling(int left, int slots) {
  std::uint64_t ways = 1;
  for (int i = 0; i < slots; ++i) ways *= std::uint64_t(std::max(left - i, 0));
  return ways;
}

}  // namespace

template <typename Take>
void Hands::choose(int kind, unsigned slots, Take take) const {
  const unsigned may = slots & slots_[kind];
  const int left = unseen_.left(kind);
  for (unsigned some = may;; some = (some - 1) & may) {
    if (count(some) <= left && take(some, falling(left, count(some)) * ways(kind + 1, slots & ~some))) return;
    if (some == 0) return;
  }
}

Hands::Hands(const Codec& codec, const SeatView& view)
    : size_(view.size()), hand_(codec.rules().hand), kinds_(codec.rules().kinds()), unseen_(view.unseen()) {
  using Stage = SeatView::Stage;
  if (view.stage != Stage::kMove && view.stage != Stage::kDraw && view.stage != Stage::kOver)
    throw std::invalid_argument("the view stops within the deal or a move; add all cards that belong to it");
  for (int i = 0; i < size_; ++i)
    for (std::uint32_t kinds = view.kinds(i); kinds;) slots_[take_lowest(kinds)] |= 1u << i;
  ways_.resize(std::size_t(kinds_ + 1) << size_);
  ways_[std::size_t(kinds_) << size_] = 1;
  for (int kind = kinds_ - 1; kind >= 0; --kind)
    for (unsigned slots = 0; slots <= full(); ++slots)
      choose(kind, slots, [&](unsigned, std::uint64_t ways) {
        ways_[(std::size_t(kind) << size_) + slots] += ways;
        return false;
      });
}

void Hands::draw(Rng& rng, std::int16_t* hidden) const {
  std::fill(hidden, hidden + hand_, std::int16_t(-1));
  std::uint64_t number = rng.below64(total());
  unsigned slots = full();
  for (int kind = 0; slots; ++kind) {
    unsigned chosen = 0;
    choose(kind, slots, [&](unsigned some, std::uint64_t ways) {
      chosen = some;
      if (number < ways) return true;
      number -= ways;
      return false;
    });
    slots &= ~chosen;
    number %= ways(kind + 1, slots);  // it does not matter which copies the slots have
    while (chosen) hidden[take_lowest(chosen)] = std::int16_t(kind);
  }
}

std::uint64_t Hands::ways(const std::int16_t* hidden) const {
  std::uint64_t ways = 1;
  Copies unseen = unseen_;
  for (int i = 0; i < hand_; ++i) {
    const int kind = hidden[i];
    if (i >= size_) {
      ways *= kind == -1;
    } else if (kind < 0 || kind >= kinds_ || !(slots_[kind] >> i & 1) || unseen.left(kind) == 0) {
      return 0;
    } else {
      ways *= std::uint64_t(unseen.left(kind));
      unseen.take(one(kind));
    }
  }
  return ways;
}

}  // namespace trickformer::hanabi
