#include "src/layers/anchored_pass.h"

#include <algorithm>
#include <utility>

namespace layerscope::layers {

AnchoredPass::AnchoredPass(std::span<const Token> tokens, const SegmentHints& of, bool is_given)
    : outline(tokens), hints(of), given(is_given), asked(is_given || of.of_user) {
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].anchor && !tokens[i].side_stream) anchors.push_back(i);
  }
  norm_anchors = !anchors.empty() && std::all_of(anchors.begin(), anchors.end(), [&](auto at) {
    return tokens[at].traits.kind == KernelClass::kNorm;
  });
}

size_t AnchoredPass::CountIn(uint32_t from, uint32_t to) const {
  return static_cast<size_t>(std::lower_bound(anchors.begin(), anchors.end(), to) -
                             std::lower_bound(anchors.begin(), anchors.end(), from));
}

Ambiguity AnchoredPass::Doubt(const Stretch& stretch) const {
  return FindAmbiguity(outline, halves, stretch, hints);
}

Segmentation AnchoredPass::Fail(std::string why, std::string how) const {
  Segmentation result;
  result.abstained_code = "anchor_not_verified";
  result.why_not = std::move(why);
  result.how = std::move(how);
  return result;
}

Segmentation AnchoredPass::Refuse(std::string why, std::string hint) const {
  if (!given) return Fail(std::move(why), std::move(hint));
  Segmentation result;
  result.rejected = std::move(why);
  result.rejected_hint = std::move(hint);
  return result;
}

}  // namespace layerscope::layers
