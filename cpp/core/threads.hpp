// Runs independent pieces of work on any number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace trickformer {

// Calls work(i) once for each i below n, on at most `threads` threads including the calling one. A call may
// neither wait for another call nor throw.
template <typename Work>
void on_threads(std::size_t n, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) work(i);
  };
  const std::size_t most = std::min({std::size_t(std::max(threads, 1)), n, std::size_t{1024}});
  std::vector<std::thread> others;
  others.reserve(most);
  try {
    for (std::size_t i = 1; i < most; ++i) others.emplace_back(take);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): no more threads; those that run do the work
  }
  take();
  for (std::thread& t : others) t.join();
}

}  // namespace trickformer
