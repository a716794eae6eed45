// Runs independent pieces of work on any number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace trickformer {

// Calls work(i) once for each i below n, on at most `threads` threads including the calling one. A call may not wait for
// another call. If calls throw, no further ones begin, and the first exception is thrown again at the end.
template <typename Work>
void on_threads(std::size_t n, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr fault;  // guarded by mutex
  const auto take = [&] {
    try {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) work(i);
    } catch (...) {
      next.store(n, std::memory_order_relaxed);
      const std::scoped_lock lock(mutex);
      if (!fault) fault = std::current_exception();
    }
  };
  const std::size_t most = std::min({std::size_t(std::max(threads, 1)), n, std::size_t{1024}});
  std::vector<std::thread> others;
  others.reserve(most);
  try {
    for (std::size_t i = 1; i < most; ++i) others.emplace_back(take);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no more threads or memory for them; those that run do the work
  }
  take();
  for (std::thread& t : others) t.join();
  if (fault) std::rethrow_exception(fault);
}

}  // namespace trickformer
