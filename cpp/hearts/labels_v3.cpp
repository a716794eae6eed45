#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "hearts/labels.inl"

namespace trickformer::hearts::detail {
int label_v3(const Rules& rules, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
             std::uint64_t stream, Label* out) {
  return label_here(rules, history, seat, options, seed, stream, out);
}
}  // namespace trickformer::hearts::detail
#endif
