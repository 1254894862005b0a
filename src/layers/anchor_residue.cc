#include "src/layers/anchor_residue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace layerscope::layers {
namespace {

/// Anchors of a whole pass beyond those of its layers.
std::optional<int64_t> ExtraAnchors(const PlacedPass& pass) {
  const bool at_edge = pass.group->began_before || pass.group->may_be_cut_last;
  if (at_edge || pass.is_draft() || pass.layers.empty() || !pass.anchors_per_layer) {
    return std::nullopt;
  }
  const std::vector<Token>& tokens = pass.group->tokens;
  const auto n =
      std::count_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.anchor; });
  return n - *pass.anchors_per_layer * static_cast<int64_t>(pass.layers.size());
}

}  // namespace

std::vector<Residue> FindResidues(const std::vector<PlacedPass>& passes) {
  std::map<int64_t, size_t> votes;
  std::set<std::pair<PassKind, int64_t>> seen;
  for (const PlacedPass& pass : passes) {
    const auto extra = ExtraAnchors(pass);
    if (!extra) continue;
    ++votes[*extra];
    seen.emplace(pass.group->kind, *extra);
  }
  const auto usual = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<Residue> residues;
  for (size_t i = 0; i < passes.size() && usual != votes.end(); ++i) {
    const auto extra = ExtraAnchors(passes[i]);
    if (!extra || votes[*extra] * 2 > usual->second) continue;
    if (seen.count({passes[i].group->kind, usual->first}) == 0) continue;
    residues.push_back({i, *extra - usual->first});
  }
  return residues;
}

}  // namespace layerscope::layers
