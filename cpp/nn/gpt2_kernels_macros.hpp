// Macros for every translation unit of the GPT-2 kernels.
#pragma once

#include "nn/gpt2_kernels.hpp"

#define INLINE [[gnu::always_inline]] inline
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif
