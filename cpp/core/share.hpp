// How far the searches of this process have got, for someone who waits for them in another thread.
#pragma once
#include <cstdint>

namespace trickformer {

struct UnderWay {
  std::int64_t done = 0, of = 0;  // simulations, or worlds
};

// All searches that go on now, together.
UnderWay under_way();

// What one of them has to do, for as long as it goes on. All of it is defined for the baseline (core/isa.hpp).
class Share {
 public:
  explicit Share(std::int64_t of = 0);
  Share(Share&& other) noexcept;
  Share& operator=(Share&&) = delete;
  ~Share();

  void more(std::int64_t of);
  void done(std::int64_t n = 1);
  void reach(std::int64_t n);  // so many are done by now
  void end();                  // nothing goes on; what is done is forgotten, and `more` begins anew

 private:
  UnderWay mine_;
};

}  // namespace trickformer
