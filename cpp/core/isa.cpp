#include "core/isa.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace trickformer {
namespace {

Isa choose() {
  const char* wanted = std::getenv("TRICKFORMER_ISA");
  Isa best = Isa::kBase;
  std::string names;
  for (const Isa isa : kIsas) {
    if (!runs(isa)) continue;
    best = isa;
    if (wanted && wanted == name(isa)) return isa;
    names.append(names.empty() ? "" : ", ").append(name(isa));
  }
  if (!wanted || !*wanted) return best;
  throw std::invalid_argument("TRICKFORMER_ISA: this CPU has no instruction set '" + std::string(wanted) +
                              "'; choose from: " + names);
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::kBase: return "base";
    case Isa::kV3: return "v3";
    case Isa::kAvx512: return "avx512";
    default: return "avx512bf16";
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
    default: return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl");
  }
#else
  return isa == Isa::kBase;
#endif
}

Isa isa() {
  static const Isa chosen = choose();
  return chosen;
}

}  // namespace trickformer
