// Draws layouts that are consistent with an observation, by each method of cpp/mines/search.hpp.
#pragma once
#include <time.h>

#include <chrono>
#include <cmath>

#include "mines/count.hpp"
#include "mines/search.hpp"

namespace trickformer::mines::inline TRICKFORMER_ISA {

// Reports when the thread has used up its seconds, or when the caller interrupts. Seconds are CPU time of the thread,
// so that other work on the machine does not count. That clock is slow to read, and it never runs faster than wall
// time. So it is not read again before as much wall time has passed as was left at the last reading.
class Deadline {
 public:
  Deadline(double seconds, bool (*interrupted)())
      : seconds_(seconds), look_(seconds), interrupted_(interrupted), start_(Clock::now()), used_(cpu()) {}

  bool over() {
    if (over_ || (seconds_ <= 0 && !interrupted_)) return over_;
    const double wall = std::chrono::duration<double>(Clock::now() - start_).count();
    if (interrupted_ && wall >= ask_) {
      over_ = interrupted_();
      ask_ = wall + 0.1;
    }
    if (seconds_ > 0 && wall >= look_) {
      const double left = seconds_ - (cpu() - used_);
      over_ |= left <= 0;
      look_ = wall + left;
    }
    return over_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double cpu() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
  }

  double seconds_, look_, ask_ = 0.1;
  bool (*interrupted_)();
  Clock::time_point start_;
  double used_;  // CPU time before the search
  bool over_ = false;
};

template <typename Cells>
class Sampler {
 public:
  // exact: the counter of the first observation. Only that method needs it, and draws from it for all later
  // observations too.
  Sampler(const Board<Cells>& board, Method method, Domain domain, const Counter<Cells>* exact)
      : board_(board), method_(method), domain_(domain), exact_(exact) {
    // Number of mines that a proposal moves: binomial, each with probability 1 / N.
    const int n = board.mines;
    double p = std::pow(1 - 1.0 / n, n), sum = 0;
    for (int k = 0; k <= n; ++k) {
      if (n == 1) p = k;  // a lone mine always moves
      moves_[k] = sum += p;
      if (n > 1) p *= double(n - k) / (k + 1) / (n - 1);
    }
    moves_[n] = 1;
  }

  // Draws a layout from the prior, before any observation. first: the cell that will be opened first, or -1.
  Cells prior(int first, Rng& rng) { return last_ = random_cells(allowed(board_, first), board_.mines, rng); }

  // Draws a layout that is consistent with the observation. Methods that walk make `trials` steps. The result is empty
  // if the time is over, or if rejection has drawn `limit` times (0: no limit).
  Cells draw(const Observation<Cells>& observation, std::uint64_t trials, std::uint64_t limit, Deadline& deadline,
             Rng& rng) {
    switch (method_) {
      case Method::kExact: return last_ = exact_->draw(rng.next());
      case Method::kRejection: return last_ = reject(observation, limit, deadline, rng);
      case Method::kMetropolis:
        return last_ = walk(observation, random_cells(domain(observation), board_.mines, rng), trials, deadline, rng);
      default:
        if (!any(last_)) last_ = random_cells(domain(observation), board_.mines, rng);
        return last_ = walk(observation, last_, trials, deadline, rng);
    }
  }

 private:
  static constexpr std::uint64_t kLook = 1023;  // draws between two readings of the clock, less one; a bit mask

  Cells domain(const Observation<Cells>& observation) const {
    return domain_ == Domain::kRule ? observation.allowed : board_.all;
  }

  Cells reject(const Observation<Cells>& observation, std::uint64_t limit, Deadline& deadline, Rng& rng) const {
    for (std::uint64_t i = 1;; ++i) {
      const Cells layout = random_cells(domain(observation), board_.mines, rng);
      if (is_consistent(board_, observation, layout)) return layout;
      if (((i & kLook) == 0 && deadline.over()) || i == limit) return Cells{};
    }
  }

  Cells walk(const Observation<Cells>& observation, Cells layout, std::uint64_t trials, Deadline& deadline,
             Rng& rng) const {
    bool good = is_consistent(board_, observation, layout);
    for (std::uint64_t i = 1; i <= trials; ++i) {
      const Cells proposal = propose(layout, domain(observation), rng);
      if ((i & kLook) == 0 && deadline.over()) break;
      if (proposal == layout) continue;
      const bool better = is_consistent(board_, observation, proposal);
      if (good && !better) continue;
      layout = proposal;
      good = better;
    }
    return layout;
  }

  Cells propose(const Cells& layout, const Cells& domain, Rng& rng) const {
    const double u = rng.uniform();
    int k = 0;
    while (moves_[k] <= u) ++k;
    if (!k) return layout;
    const Cells kept = layout ^ random_cells(layout, k, rng);
    return kept | random_cells(domain & ~kept, k, rng);
  }

  const Board<Cells>& board_;
  Method method_;
  Domain domain_;
  const Counter<Cells>* exact_;
  Cells last_{};  // the layout of the previous call
  double moves_[kRoom<Cells>] = {};
};

}  // namespace trickformer::mines::inline TRICKFORMER_ISA
