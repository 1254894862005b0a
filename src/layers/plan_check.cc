#include "src/layers/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace layerscope::layers {
namespace {

/// What a layer's kernels show.
struct Seen {
  bool attention = false, linear = false, seam = false;
  bool ffn = false, experts = false;
  bool mixes() const { return attention || linear || seam; }
};

/// What the config says of a layer; nullopt = nothing.
struct Planned {
  std::optional<bool> mixes, linear, ffn, experts;
};

Seen Look(const Outline& o, uint32_t from, uint32_t to) {
  Seen seen;
  for (size_t m = o.FirstMixerFrom(from); m < o.mixers.size() && o.mixers[m].at < to; ++m) {
    const MixPoint& mixer = o.mixers[m];
    const bool linear = !mixer.seam && o.tokens[mixer.at].traits.linear;
    seen.seam |= mixer.seam;
    seen.linear |= linear;
    seen.attention |= !mixer.seam && !linear;
  }
  for (size_t f = o.FirstFfnFrom(from); f < o.ffn.size() && o.ffn[f] < to; ++f) {
    seen.ffn = true;
    seen.experts |= o.tokens[o.ffn[f]].traits.experts;
  }
  return seen;
}

/// A type token: base, HASH, DENSE or MOE, joined by `+`. MAMBA, ATTN, MLP and a base MOE are one
/// block each (Nemotron-H).
Planned Expect(std::string_view type, bool one_block) {
  Planned plan;
  const std::string_view base = type.substr(0, type.find('+'));
  const bool ffn_alone = base == "MLP" || base == "MOE";
  plan.mixes = !ffn_alone;
  if (!ffn_alone) plan.linear = base == "MAMBA" || base == "LINEAR";
  if (one_block) plan.ffn = ffn_alone;
  if (type.ends_with("MOE")) plan.experts = true;
  if (type.ends_with("DENSE") || base == "MLP") plan.experts = false;
  return plan;
}

/// What speaks against the layer's being the planned one; empty when nothing does.
std::string_view Contradiction(const Seen& seen, const Planned& plan) {
  if (plan.mixes && *plan.mixes != seen.mixes()) {
    return *plan.mixes ? "no mixer is in it" : "a mixer is in it";
  }
  if (plan.linear && *plan.linear && !seen.linear && !seen.seam) return "attention is in it";
  if (plan.linear && !*plan.linear && seen.linear && !seen.attention) {
    return "linear attention is in it";
  }
  if (plan.ffn && *plan.ffn != seen.ffn) return *plan.ffn ? "no FFN is in it" : "an FFN is in it";
  if (plan.experts && *plan.experts && seen.ffn && !seen.experts) return "no experts are in it";
  if (plan.experts && !*plan.experts && seen.experts) return "experts are in it";
  return {};
}

bool HasOneBlock(const model::PlannedLayer& layer) {
  return layer.type == "MLP" || layer.type == "MOE";
}

}  // namespace

PlanVerdict CheckPlan(const Outline& outline, const Reading& reading,
                      std::span<const model::PlannedLayer> plan) {
  PlanVerdict verdict;
  const size_t n = reading.begin.size();
  if (plan.empty() || reading.cut_first || n > plan.size()) return verdict;
  const bool one_block = std::any_of(plan.begin(), plan.end(), HasOneBlock);
  for (size_t i = 0; i < n - (reading.cut_last ? 1 : 0); ++i) {
    const uint32_t end = i + 1 < n ? reading.begin[i + 1] : reading.end;
    const std::string_view against =
        Contradiction(Look(outline, reading.begin[i], end), Expect(plan[i].type, one_block));
    ++verdict.checked;
    verdict.telling |= plan[i].type != plan[0].type;
    if (against.empty()) continue;
    if (verdict.differing++ == 0) {
      verdict.first = fmt::format("layer {} is {} in the config and {}", i, plan[i].type, against);
    }
  }
  return verdict;
}

bool ExplainsDouble(const std::vector<Half>& halves, const Reading& reading,
                    std::span<const model::PlannedLayer> plan) {
  const bool all_experts =
      !plan.empty() && std::all_of(plan.begin(), plan.end(), [](const model::PlannedLayer& layer) {
        return layer.type.ends_with("+MOE");
      });
  if (!all_experts || reading.begin.size() != plan.size()) return false;
  for (size_t layer = 0; layer < reading.first_half.size(); ++layer) {
    const size_t first = reading.first_half[layer];
    if (first + 1 >= halves.size() || halves[first].experts == halves[first + 1].experts) {
      return false;
    }
  }
  return true;
}

}  // namespace layerscope::layers
