#include "skat/solver_search.inl"

namespace trickformer::skat::detail {
int search_base(SearchTable& table, const Task& task, int need, std::uint64_t& nodes) {
  return search_here(table, task, need, nodes);
}
}  // namespace trickformer::skat::detail
