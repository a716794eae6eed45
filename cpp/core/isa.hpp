// Instruction sets: which one the core uses, and how one function is built for several.
//
// Nothing is built with -march=native. CMake compiles every file *_isa.cpp once for the baseline and once for
// x86-64-v3, with TRICKFORMER_ISA defined as the name of the set. Such a file and its headers put their definitions in
// a namespace of that name, so the linker cannot merge them into code for the baseline. The GPT-2 kernels in nn/ differ
// too much between sets and have one file for each set.
#pragma once
#include <string_view>
#include <utility>

#ifndef TRICKFORMER_ISA
#define TRICKFORMER_ISA base
#endif

namespace trickformer {

// Each set includes the sets before it. With the last two, the GPT-2 backend rounds activations to bfloat16. So the
// core uses them only if a caller names them.
enum class Isa { kBase, kV3, kAvx512, kAvx512Bf16, kAmx };

inline constexpr Isa kIsas[] = {Isa::kBase, Isa::kV3, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kAmx};
std::string_view name(Isa isa);  // as in the environment variable TRICKFORMER_ISA
bool runs(Isa isa);              // whether this CPU has it and the system lets this process use it

// The set that TRICKFORMER_ISA names, or else the best set of this CPU that rounds nothing. It is chosen once per
// process. Only a GPT-2 backend that is built for a set by name may use a better one. Throws std::invalid_argument if
// the name is unknown or this CPU lacks the set.
Isa isa();

// A function that is built for several instruction sets. A call uses the best version that `isa` allows.
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

// Declares a PerIsa. A file *_isa.cpp defines the function in namespace built::TRICKFORMER_ISA. A PerIsa is named like
// a function because it is called like one.
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
