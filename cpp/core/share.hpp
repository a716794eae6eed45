// Progress of all searches of this process, for display by another thread.
#pragma once
#include <cstdint>

namespace trickformer {

struct UnderWay {
  std::int64_t done = 0, of = 0;  // in simulations or worlds
};

// Progress of all running searches together.
UnderWay under_way();

// The part of one search in that progress, for as long as the search runs. All of it is built for the baseline only
// (core/isa.hpp).
class Share {
 public:
  explicit Share(std::int64_t of = 0);
  Share(Share&& other) noexcept;
  Share& operator=(Share&&) = delete;
  ~Share();

  void more(std::int64_t of);
  void done(std::int64_t n = 1);
  void reach(std::int64_t n);  // sets the number done
  void end();                  // ends the search: takes its part out of the progress; `more` starts a new one

 private:
  UnderWay mine_;
};

}  // namespace trickformer
