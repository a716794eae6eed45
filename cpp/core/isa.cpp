#include "core/isa.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__linux__) && defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace trickformer {
namespace {

#if defined(__x86_64__)
// Returns whether the CPU has AMX tiles for bfloat16 and the system lets this process use them. The tile registers are
// large, so Linux saves them only for processes that request it.
bool has_tiles() {
#if defined(__linux__)
  static const bool kGranted = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__builtin_cpu_supports("avx512bf16") || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    constexpr unsigned kTiles = 1u << 24, kBf16 = 1u << 22;
    constexpr long kRequest = 0x1023, kData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return (d & kTiles) != 0 && (d & kBf16) != 0 && syscall(SYS_arch_prctl, kRequest, kData) == 0;
  }();
  return kGranted;
#else
  return false;
#endif
}
#endif

Isa choose() {
  const char* wanted = std::getenv("TRICKFORMER_ISA");
  if (!wanted || !*wanted) return runs(Isa::kAvx512) ? Isa::kAvx512 : runs(Isa::kV3) ? Isa::kV3 : Isa::kBase;
  std::string names;
  for (const Isa isa : kIsas) {
    if (!runs(isa)) continue;
    if (wanted == name(isa)) return isa;
    names.append(names.empty() ? "" : ", ").append(name(isa));
  }
  throw std::invalid_argument("TRICKFORMER_ISA: this CPU has no instruction set '" + std::string(wanted) +
                              "'; choose from: " + names);
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::kBase: return "base";
    case Isa::kV3: return "v3";
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx512Bf16: return "avx512bf16";
    default: return "amx";
  }
}

bool runs(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::kBase: return true;
    case Isa::kV3:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512cd");
    case Isa::kAvx512Bf16: return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl");
    default: return has_tiles();
  }
#else
  return isa == Isa::kBase;
#endif
}

Isa isa() {
  static const Isa kChosen = choose();
  return kChosen;
}

}  // namespace trickformer
