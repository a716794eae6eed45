#include "nn/lstm.inl"

namespace trickformer::lstm {

template <typename Work>
void run(const Sizes& sizes, std::size_t step, const Work& work) {
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (v3) return detail::run_v3(sizes, step, work);
#endif
  run_here(sizes, step, work);
}

template void run(const Sizes&, std::size_t, const Forward<float>&);
template void run(const Sizes&, std::size_t, const Forward<Bf16>&);
template void run(const Sizes&, std::size_t, const Backward<float>&);
template void run(const Sizes&, std::size_t, const Backward<Bf16>&);

}  // namespace trickformer::lstm
