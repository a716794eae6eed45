#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "hearts/sampler.inl"

namespace trickformer::hearts::detail {
void sample_worlds_v3(const Deals& deals, std::uint64_t seed, std::uint64_t first, std::size_t n,
                      std::int16_t* hidden) {
  sample_worlds_here(deals, seed, first, n, hidden);
}
}  // namespace trickformer::hearts::detail
#endif
