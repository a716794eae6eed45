// Progress of all searches of this process, for display by another thread.
#pragma once
#include <cstdint>

namespace trickformer {

struct UnderWay {
  std::int64_t done = 0, of = 0;  // worlds finished or simulations started, and in total
};

// Progress of all running searches together.
UnderWay under_way();

// The contribution of one search to the progress. It counts until the search ends. Its functions are built for the
// baseline instruction set only (core/isa.hpp).
class Share {
 public:
  explicit Share(std::int64_t of = 0);
  Share(Share&& other) noexcept;
  Share& operator=(Share&&) = delete;
  ~Share();

  void more(std::int64_t of);     // adds to the total
  void done(std::int64_t n = 1);  // adds to the number that is done
  void reach(std::int64_t n);     // sets the number that is done
  void end();                     // removes the contribution; `more` starts a new one

 private:
  UnderWay mine_;
};

}  // namespace trickformer
