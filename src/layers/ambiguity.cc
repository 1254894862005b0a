#include "src/layers/ambiguity.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/layers/opening_path.h"

namespace layerscope::layers {
namespace {

/// From this share of changes on, two kinds of layers stand in turn.
constexpr double kInTurn = 0.85;
constexpr size_t kMinInTurn = 4;

bool StandInTurn(const std::vector<bool>& kinds) {
  if (kinds.size() < kMinInTurn) return false;
  size_t changes = 0, back = 0;
  for (size_t i = 1; i < kinds.size(); ++i) changes += kinds[i] != kinds[i - 1] ? 1 : 0;
  for (size_t i = 2; i < kinds.size(); ++i) back += kinds[i] == kinds[i - 2] ? 1 : 0;
  return static_cast<double>(changes) >= kInTurn * static_cast<double>(kinds.size() - 1) &&
         static_cast<double>(back) >= kInTurn * static_cast<double>(kinds.size() - 2);
}

struct RunCounts {
  size_t halves = 0, bare = 0, state_space = 0, runs = 0;
  size_t shortest = SIZE_MAX, longest = 0;  ///< mixers before an FFN
};

RunCounts Count(const std::vector<Half>& halves, const Stretch& stretch) {
  RunCounts counts;
  size_t run = 0;
  for (size_t i = stretch.first; i < stretch.end; ++i) {
    ++counts.halves;
    ++run;
    counts.state_space += halves[i].state_space ? 1 : 0;
    if (halves[i].after == Separation::kBare && i + 1 < stretch.end) {
      ++counts.bare;
      continue;
    }
    ++counts.runs;
    counts.shortest = std::min(counts.shortest, run);
    counts.longest = std::max(counts.longest, run);
    run = 0;
  }
  return counts;
}

/// By half but the last, which the tail may lengthen: whether its FFN kernels are those of the
/// stretch's first half. Halves of two micro-batches on one stream differ in them.
std::vector<bool> FfnKinds(const Outline& o, const std::vector<Half>& halves,
                           const Stretch& stretch) {
  std::vector<bool> like_first;
  std::vector<uint32_t> first;
  for (size_t i = stretch.first; i + 1 < stretch.end; ++i) {
    std::vector<uint32_t> names;
    for (size_t f = o.FirstFfnFrom(halves[i].mix_end);
         f < o.ffn.size() && o.ffn[f] < halves[i + 1].begin; ++f) {
      names.push_back(o.tokens[o.ffn[f]].name);
    }
    if (i == stretch.first) first = names;
    like_first.push_back(names == first);
  }
  return like_first;
}

/// The ends of a stretch show that norms open its blocks.
bool EndsShowPreNorm(const Outline& o, const std::vector<Half>& halves, const Stretch& stretch,
                     const SegmentHints& hints) {
  const Half& first = halves[stretch.first];
  if (!first.opened || first.closes) return false;
  const size_t opening = o.FirstNormFrom(first.begin);
  if (opening >= o.norms.size() || stretch.end - stretch.first < 2) return false;
  // The second half opens with as many norms as stand together inside.
  const size_t inside = halves[stretch.first + 1].n_together;
  const size_t before = GroupSizeBackwards(o, opening) + first.n_opening - 1;
  if (before > inside) return true;
  const size_t last_ffn = o.FirstFfnFrom(stretch.limit);
  if (last_ffn == 0 || hints.may_be_cut_last) return false;
  return !o.HasNorm(o.ffn[last_ffn - 1], stretch.limit);
}

}  // namespace

NormDoubt MayBePostNorm(const Outline& o, const std::vector<Half>& halves, const Stretch& stretch,
                        const SegmentHints& hints) {
  const bool two_norms =
      std::any_of(halves.begin(), halves.end(), [](const Half& half) { return half.has_ffn_norm; });
  if (!two_norms || o.n_cache_writes > 0 || o.n_samplers > 0) return NormDoubt::kNone;
  const bool layer_norm = o.n_layer_norms >= halves.size();
  const bool decoder = o.n_decoder_signs > 0 || o.n_eager_norms > 0;
  if (!layer_norm && decoder) return NormDoubt::kNone;
  if (EndsShowPreNorm(o, halves, stretch, hints)) return NormDoubt::kNone;
  return layer_norm ? NormDoubt::kGrave : NormDoubt::kSlight;
}

Ambiguity FindAmbiguity(const Outline& o, const std::vector<Half>& halves, const Stretch& stretch,
                        const SegmentHints& hints) {
  const RunCounts counts = Count(halves, stretch);
  if (counts.bare > 0 && counts.runs > 1) {
    if (counts.shortest == counts.longest) {
      return {fmt::format("each FFN follows {} mixers with a norm between them: {} layers with "
                          "several, or {} blocks of one",
                          counts.longest, counts.runs, counts.halves + counts.runs),
              false};
    }
    return {"", true};
  }
  if (counts.bare > 0) return {};
  std::vector<bool> experts;
  for (size_t i = stretch.first; i < stretch.end; ++i) experts.push_back(halves[i].experts);
  if (StandInTurn(experts)) {
    return {fmt::format("dense and MoE blocks stand in turn: {} layers, or {} of two halves each",
                        counts.halves, counts.halves / 2),
            false};
  }
  if (StandInTurn(FfnKinds(o, halves, stretch))) {
    return {fmt::format("FFNs of two kinds stand in turn: {} layers, or {} of two halves each",
                        counts.halves, counts.halves / 2),
            false};
  }
  if (counts.state_space * 4 >= counts.halves && counts.runs > 1) {
    return {
        fmt::format("Mamba and FFN blocks stand strictly in turn: {} layers, or {} of one block",
                    counts.halves, 2 * counts.halves),
        false};
  }
  if (MayBePostNorm(o, halves, stretch, hints) != NormDoubt::kNone) {
    return {std::string(kNormDoubt), false};
  }
  return {};
}

}  // namespace layerscope::layers
