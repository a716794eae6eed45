#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "skat/solver_search.inl"

namespace trickformer::skat::detail {
int search_v3(SearchTable& table, const Task& task, int need, std::uint64_t& nodes) {
  return search_here(table, task, need, nodes);
}
}  // namespace trickformer::skat::detail
#endif
