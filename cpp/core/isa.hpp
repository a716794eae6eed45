// Instruction sets: which one the core uses, and how a function is built for more than one.
//
// Nothing is built with -march=native. CMake compiles every file *_isa.cpp once for the baseline and once for v3, with
// TRICKFORMER_ISA defined as the name. What such a file and its headers define stands in a namespace of that name, so
// that none of it can be linked into code for the baseline. The kernels of the decoder are too different for that and
// have a file for each instruction set.
#pragma once
#include <string_view>
#include <utility>

#ifndef TRICKFORMER_ISA
#define TRICKFORMER_ISA base
#endif

namespace trickformer {

// Each has what the one before it has. The decoder rounds activations with the last two, and so they are for those alone
// who name them.
enum class Isa { kBase, kV3, kAvx512, kAvx512Bf16, kAmx };

inline constexpr Isa kIsas[] = {Isa::kBase, Isa::kV3, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kAmx};
std::string_view name(Isa isa);  // as the environment variable TRICKFORMER_ISA has it
bool runs(Isa isa);              // whether this CPU has it, and the system lets this process use it

// The one that TRICKFORMER_ISA names, else the best of this CPU that rounds nothing. Nothing beyond it is used, unless
// a backend is made with one of its own. It is chosen once in a process. Throws std::invalid_argument where the name is
// unknown or this CPU does not have it.
Isa isa();

// A function built for several instruction sets, of which a call takes the best that `isa` allows.
template <typename F>
class PerIsa;

template <typename R, typename... Args>
class PerIsa<R(Args...)> {
 public:
  using F = R(Args...);
  constexpr PerIsa(F* base, F* v3) : base_(base), v3_(v3) {}
  R operator()(Args... args) const { return (isa() >= Isa::kV3 ? v3_ : base_)(std::forward<Args>(args)...); }

 private:
  F *base_, *v3_;
};

}  // namespace trickformer

// Declares a PerIsa. A file *_isa.cpp defines the function in namespace built::TRICKFORMER_ISA. The PerIsa has the name of
// a function, because it is called as one.
// NOLINTBEGIN(readability-identifier-naming)
#if defined(__x86_64__)
#define TRICKFORMER_PER_ISA(type, function) \
  namespace built {                         \
  namespace base {                          \
  type function;                            \
  }                                         \
  namespace v3 {                            \
  type function;                            \
  }                                         \
  }                                         \
  inline constexpr PerIsa<type> function(built::base::function, built::v3::function)
#else
#define TRICKFORMER_PER_ISA(type, function) \
  namespace built::base {                   \
  type function;                            \
  }                                         \
  inline constexpr PerIsa<type> function(built::base::function, built::base::function)
#endif
// NOLINTEND(readability-identifier-naming)
