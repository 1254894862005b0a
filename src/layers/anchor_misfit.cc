#include "src/layers/anchor_misfit.h"

#include <fmt/format.h>

namespace layerscope::layers {
namespace {

int64_t Residue(size_t n, size_t layers, size_t k, int64_t extra) {
  return static_cast<int64_t>(n) - static_cast<int64_t>(layers * k) - extra;
}

}  // namespace

bool HasOtherBlocks(const AnchorRhythm& rhythm, const SegmentHints& hints) {
  return hints.blocks_per_layer &&
         static_cast<int64_t>(rhythm.per_layer) != *hints.blocks_per_layer;
}

std::string CountSource(const SegmentHints& hints) {
  if (!hints.num_layers) return "found by repetition";
  return hints.count_source.empty() ? "as given" : fmt::format("from {}", hints.count_source);
}

std::string ResidueText(size_t n, size_t layers, size_t k, size_t extra) {
  return fmt::format(
      "{} anchors in this pass are not {} layers x {} a layer + {} extra: residue {}", n, layers, k,
      extra, Residue(n, layers, k, static_cast<int64_t>(extra)));
}

std::string MisfitText(size_t n_anchors, size_t layers, const AnchorRhythm& rhythm,
                       const SegmentHints& hints, bool asked) {
  const std::string head = n_anchors == 1
                               ? "the anchor stands once in this pass"
                               : fmt::format("the anchor stands {} times in this pass", n_anchors);
  const std::string source = CountSource(hints);
  constexpr std::string_view kRule = "a layer's anchor stands in every layer";
  if (rhythm.outside == n_anchors) {
    return fmt::format("{}, outside its {} layers ({}): {}", head, layers, source, kRule);
  }
  if (rhythm.without > 0) {
    return fmt::format("{}, in {} of its {} layers ({}): {}", head, layers - rhythm.without, layers,
                       source, kRule);
  }
  const bool other_blocks = asked && HasOtherBlocks(rhythm, hints);
  const size_t k = other_blocks ? static_cast<size_t>(*hints.blocks_per_layer) : rhythm.per_layer;
  const int64_t extra = hints.extra_anchors.value_or(static_cast<int64_t>(rhythm.outside));
  std::string text =
      fmt::format("{}, which is not {} layers ({}) x {} a layer + {} extra: residue {}", head,
                  layers, source, k, extra, Residue(n_anchors, layers, k, extra));
  if (other_blocks) {
    text += fmt::format("; each layer holds {}, not {}", rhythm.per_layer, k);
  } else if (rhythm.irregular == 1) {
    text += fmt::format("; layer {} holds {}", rhythm.odd_layer, rhythm.odd_count);
  } else if (rhythm.irregular > 1) {
    text += fmt::format("; {} layers hold another number, the first is layer {} with {}",
                        rhythm.irregular, rhythm.odd_layer, rhythm.odd_count);
  }
  return text;
}

}  // namespace layerscope::layers
