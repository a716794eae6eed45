#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "hearts/pimc.inl"

namespace trickformer::hearts::detail {
void pimc_v3(const Deals& deals, const PimcOptions& options, std::uint64_t seed, UctNode* nodes, const double* logs,
             PimcResult& result) {
  pimc_here(deals, options, seed, nodes, logs, result);
}
}  // namespace trickformer::hearts::detail
#endif
