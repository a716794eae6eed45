#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "hanabi/labels.inl"

namespace trickformer::hanabi::detail {
void label_v3(const Table& table, const std::uint8_t* history, int seat, const LabelOptions& options,
              std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out) {
  label_here(table, history, seat, options, seed, stream, out);
}
}  // namespace trickformer::hanabi::detail
#endif
