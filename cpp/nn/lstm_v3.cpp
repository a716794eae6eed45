#if defined(__x86_64__)
#include "nn/lstm.inl"

namespace trickformer::lstm::detail {

template <typename Work>
void run_v3(const Sizes& sizes, std::size_t step, const Work& work) {
  run_here(sizes, step, work);
}

template void run_v3(const Sizes&, std::size_t, const Forward<float>&);
template void run_v3(const Sizes&, std::size_t, const Forward<Bf16>&);
template void run_v3(const Sizes&, std::size_t, const Backward<float>&);
template void run_v3(const Sizes&, std::size_t, const Backward<Bf16>&);

}  // namespace trickformer::lstm::detail
#endif
