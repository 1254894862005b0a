#include "src/layers/segmentation.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/layers/ambiguity.h"
#include "src/layers/halves.h"
#include "src/layers/judgement.h"
#include "src/layers/outline.h"
#include "src/layers/plan_check.h"
#include "src/layers/readings.h"

namespace layerscope::layers {
namespace {

constexpr std::string_view kGiveConfig =
    "give --config with the model's config.json, --num-layers N, or --anchor-kernel with a kernel "
    "that opens each layer";

constexpr std::string_view kGiveAnchor =
    "give --anchor-kernel with a kernel that opens each layer: the number of layers tells nothing "
    "of it";

Segmentation Abstain(std::string code, std::string why,
                     std::string how = std::string(kGiveConfig)) {
  Segmentation result;
  result.abstained_code = std::move(code);
  result.why_not = std::move(why);
  result.how = std::move(how);
  return result;
}

class Segmenter {
 public:
  Segmenter(std::span<const Token> tokens, const SegmentHints& hints) : o_(tokens), hints_(hints) {}

  Segmentation Run() {
    if (std::optional<Segmentation> missing = FindMissing()) return *std::move(missing);
    halves_ = FindHalves(o_);
    if (halves_.empty()) return Abstain("no_layers", "no layer is recognised in this pass");
    stretches_ = FindStretches(o_, halves_);
    if (halves_.size() > static_cast<size_t>(kMaxLayers)) {
      return Abstain("too_many_layers",
                     fmt::format("{} runs of attention in one pass: no more than {} layers are "
                                 "looked for",
                                 halves_.size(), kMaxLayers));
    }
    if (hints_.num_layers) return CutKnownCount(*hints_.num_layers);
    return CutUnknownCount();
  }

 private:
  std::optional<Segmentation> FindMissing() const {
    if (o_.n_backward * 50 > o_.size() && o_.n_backward >= 4) {
      return Abstain("training_step",
                     fmt::format("{} backward or optimizer kernels: a training step runs through "
                                 "the layers twice",
                                 o_.n_backward),
                     "record inference, or give --anchor-kernel and --num-layers");
    }
    if (o_.mixers.empty()) {
      return Abstain("no_mixer", "no attention, Mamba or linear-attention kernel is recognised");
    }
    if (o_.norms.empty()) return Abstain("no_norm", "no norm is recognised at which layers open");
    return std::nullopt;
  }

  const Stretch& Longest() const {
    return *std::max_element(
        stretches_.begin(), stretches_.end(),
        [](const Stretch& a, const Stretch& b) { return a.end - a.first < b.end - b.first; });
  }

  /// A whole pass must have exactly N layers; one that a window cuts may have fewer.
  bool HasCount(const Reading& reading, int64_t n) const {
    const int64_t found = static_cast<int64_t>(reading.begin.size());
    return found == n ||
           (MayBeCut(reading, hints_) && reading.kind != ReadingKind::kDouble && found < n);
  }

  /// Readings that can give a known number of layers, the likeliest first.
  std::vector<ReadingKind> KindsToTry() const {
    if (IsBlockPlan()) return {ReadingKind::kBlock};
    if (!hints_.plan.empty()) return {ReadingKind::kPair, ReadingKind::kDouble};
    // Half the layers of a cut pass may be as many as its blocks.
    if (hints_.may_be_cut_first || hints_.may_be_cut_last) return {ReadingKind::kPair};
    return {ReadingKind::kPair, ReadingKind::kBlock, ReadingKind::kDouble};
  }

  /// The config has layers that are an FFN alone (Nemotron-H).
  bool IsBlockPlan() const {
    return std::any_of(hints_.plan.begin(), hints_.plan.end(),
                       [](const model::PlannedLayer& layer) {
                         return layer.type == "MLP" || layer.type == "MOE";
                       });
  }

  Segmentation CutKnownCount(int64_t n) {
    if (MayBePostNorm(o_, halves_, Longest(), hints_) == NormDoubt::kGrave) {
      return Abstain("ambiguous_layers", std::string(kNormDoubt), std::string(kGiveAnchor));
    }
    for (const bool exact : {true, false}) {
      for (const ReadingKind kind : KindsToTry()) {
        std::vector<Reading> fitting;
        for (const Stretch& stretch : stretches_) {
          Reading reading = Read(o_, halves_, stretch, kind, hints_);
          const int64_t found = static_cast<int64_t>(reading.begin.size());
          if (found == 0 || !(exact ? found == n : HasCount(reading, n))) continue;
          if (!exact && kind == ReadingKind::kBlock && ContradictsPlan(reading)) continue;
          fitting.push_back(std::move(reading));
        }
        if (!fitting.empty()) return FinishOneOf(fitting, exact);
      }
    }
    return CountDiffers(n);
  }

  /// Blocks that a window may cut are fewer than the model's; of these kinds they must be.
  bool ContradictsPlan(const Reading& reading) const {
    const PlanVerdict verdict = CheckPlan(o_, reading, hints_.plan);
    return verdict.differing * 10 > verdict.checked;
  }

  Segmentation CountDiffers(int64_t n) const {
    const bool blocks = FindAmbiguity(o_, halves_, Longest(), hints_).blocks;
    int64_t found = 0;
    for (const Stretch& stretch : stretches_) {
      const Reading reading =
          Read(o_, halves_, stretch, blocks ? ReadingKind::kBlock : ReadingKind::kPair, hints_);
      found = std::max(found, static_cast<int64_t>(reading.begin.size()));
    }
    const std::string says = hints_.count_source.empty()
                                 ? fmt::format("the model has {} layers", n)
                                 : fmt::format("{} says {} layers", hints_.count_source, n);
    return Abstain(
        "layer_count_differs",
        fmt::format("{} and {} {} found in this pass", says, found, found == 1 ? "is" : "are"),
        found < n ? "check --config and --num-layers: another model's, or the pass is "
                    "one pipeline stage or lies only in part in the window"
                  : "check --config and --num-layers: another model's, or the pass "
                    "holds draft layers or several micro-batches");
  }

  /// Several parts may have the wanted number of layers: the language model comes last.
  Segmentation FinishOneOf(const std::vector<Reading>& readings, bool count_known) {
    Segmentation result = Finish(readings.back(), count_known);
    if (readings.size() > 1 && result.ok() && result.confidence > 0.6) {
      result.confidence = 0.6;
      result.why = "several parts of the pass have as many layers as the model";
    }
    return result;
  }

  Segmentation CutUnknownCount() {
    const Stretch& stretch = Longest();
    const Ambiguity ambiguity = FindAmbiguity(o_, halves_, stretch, hints_);
    if (!ambiguity.why.empty()) return Abstain("ambiguous_layers", ambiguity.why);
    const ReadingKind kind = ambiguity.blocks ? ReadingKind::kBlock : ReadingKind::kPair;
    Segmentation result = Finish(Read(o_, halves_, stretch, kind, hints_), false);
    if (stretches_.size() > 1 && result.ok() && result.confidence > 0.6) {
      result.confidence = 0.6;
      result.why = "an embedding or sampler stands between the layers: more than one model or pass";
    }
    return result;
  }

  Segmentation Finish(const Reading& reading, bool count_known) {
    Judgement judgement = Judge(o_, halves_, reading, hints_, count_known);
    if (judgement.confidence < kShown) {
      const size_t n = reading.begin.size();
      return Abstain(
          "low_confidence",
          n == 1 ? "only one layer is recognised, and a single layer shows no repetition"
                 : fmt::format("a cut into {} layers is not convincing: {}", n, judgement.why));
    }
    Segmentation result = CutAsRead(halves_, reading);
    result.kind = "repetition";
    result.confidence = judgement.confidence;
    result.why = std::move(judgement.why);
    return result;
  }

  Outline o_;
  const SegmentHints& hints_;
  std::vector<Half> halves_;
  std::vector<Stretch> stretches_;
};

}  // namespace

Segmentation SegmentByRepetition(std::span<const Token> tokens, const SegmentHints& hints) {
  return Segmenter(tokens, hints).Run();
}

}  // namespace layerscope::layers
