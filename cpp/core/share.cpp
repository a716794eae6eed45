#include "core/share.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace trickformer {
namespace {

std::atomic<std::int64_t> g_done{0}, g_of{0};

}  // namespace

// Only for display, so it does not matter that the two counters are read at slightly different moments.
UnderWay under_way() {
  const std::int64_t of = g_of.load(std::memory_order_relaxed);
  return {std::min(g_done.load(std::memory_order_relaxed), of), of};
}

Share::Share(std::int64_t of) { more(of); }

Share::Share(Share&& other) noexcept : mine_(std::exchange(other.mine_, {})) {}

Share::~Share() { end(); }

void Share::more(std::int64_t of) {
  mine_.of += of;
  g_of.fetch_add(of, std::memory_order_relaxed);
}

void Share::done(std::int64_t n) {
  mine_.done += n;
  g_done.fetch_add(n, std::memory_order_relaxed);
}

void Share::reach(std::int64_t n) { done(n - mine_.done); }

void Share::end() {
  g_done.fetch_sub(mine_.done, std::memory_order_relaxed);
  g_of.fetch_sub(mine_.of, std::memory_order_relaxed);
  mine_ = {};
}

}  // namespace trickformer
