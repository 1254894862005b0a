#include "src/render/tree_guides.h"

#include <algorithm>
#include <cstddef>

namespace layerscope::render {
namespace {

/// Deeper levels are drawn at this one: models nest about 20 deep, and a hostile file's guides
/// would otherwise take the square of its depth.
constexpr size_t kMaxDrawnDepth = 64;

}  // namespace

std::vector<std::string> TreeGuides(const std::vector<int>& depths, int cells_per_level) {
  const bool wide = cells_per_level > 1;
  std::vector<std::string> guides(depths.size());
  if (depths.empty()) return guides;
  const auto [least, most] = std::minmax_element(depths.begin(), depths.end());

  // From the last row up, `continues[d]` says whether a row of depth d follows under the same
  // parent.
  const size_t deepest = std::min(static_cast<size_t>(*most - *least), kMaxDrawnDepth);
  std::vector<bool> continues(deepest + 1, false);
  for (size_t i = depths.size(); i-- > 0;) {
    const size_t depth = std::min(static_cast<size_t>(depths[i] - *least), deepest);
    std::string& guide = guides[i];
    for (size_t d = 1; d < depth; ++d)
      guide += continues[d] ? (wide ? "│ " : "│") : (wide ? "  " : " ");
    if (depth > 0) guide += continues[depth] ? (wide ? "├─" : "├") : (wide ? "└─" : "└");
    continues[depth] = true;
    std::fill(continues.begin() + static_cast<std::ptrdiff_t>(depth) + 1, continues.end(), false);
  }
  return guides;
}

}  // namespace layerscope::render
