#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "mines/search.inl"

namespace trickformer::mines::detail {
SearchResult search_v3(const Board& board, const Sight& sight, const SearchOptions& options, const Counter* exact,
                       std::uint64_t seed) {
  return search_here(board, sight, options, exact, seed);
}

void sample_v3(const Board& board, const Sight& sight, Method method, Domain domain, std::uint64_t trials,
               const Counter* exact, std::uint64_t seed, std::size_t n, Cells* out) {
  sample_here(board, sight, method, domain, trials, exact, seed, n, out);
}
}  // namespace trickformer::mines::detail
#endif
