#include "src/layers/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/layers/ambiguity.h"
#include "src/layers/likeness.h"
#include "src/layers/name_period.h"
#include "src/layers/plan_check.h"

namespace layerscope::layers {
namespace {

/// Share of layers that must show a piece of evidence for it to count as recognised.
constexpr double kMost = 0.9;
/// Layers that share less than this of their kernels belong to different models.
constexpr double kStranger = 0.4;
/// What a cut is worth: at the outset, and at most once a doubt of the named weight stands against
/// it. Relative to kShown and kConfident: a grave doubt withholds it, all but a mild one keep it
/// from being called sure. Settled on random models of known structure (formats/layer_finding.md,
/// rule 8).
constexpr double kKnownCount = 0.98;
constexpr double kHigh = 0.95;
constexpr double kMildDoubt = 0.75;
constexpr double kSomeDoubt = 0.65;
constexpr double kDoubt = 0.6;
constexpr double kStrongDoubt = 0.5;
constexpr double kGraveDoubt = 0.3;

/// The upper median.
template <typename Number>
Number Middle(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

class Judging {
 public:
  Judging(const Outline& outline, const std::vector<Half>& halves, const Reading& reading,
          const SegmentHints& hints, bool count_known)
      : o_(outline),
        halves_(halves),
        r_(reading),
        hints_(hints),
        count_known_(count_known),
        plan_(CheckPlan(outline, reading, hints.plan)) {}

  Judgement Give() {
    judgement_.confidence = count_known_ ? kKnownCount : kHigh;
    CheckCount();
    CheckKernels();
    CheckShape();
    CheckPlanned();
    CheckNormSide();
    CheckLikeness();
    CheckLengths();
    if (r_.kind == ReadingKind::kPair) CheckTails();
    CheckTowers();
    CheckNames();
    if (judgement_.why.empty()) judgement_.why = Reasons();
    return judgement_;
  }

 private:
  void Cap(double confidence, std::string why) {
    if (confidence >= judgement_.confidence) return;
    judgement_.confidence = confidence;
    judgement_.why = std::move(why);
  }

  std::string Reasons() const {
    return fmt::format(
        "{} layers open at a norm, mix tokens between two projections and are alike by name{}",
        r_.begin.size(), count_known_ ? ", as many as the model has" : "");
  }

  size_t EndHalf(size_t layer) const {
    return layer + 1 < r_.first_half.size() ? r_.first_half[layer + 1] : halves_.size();
  }
  uint32_t EndOf(size_t layer) const {
    return layer + 1 < r_.begin.size() ? r_.begin[layer + 1] : r_.end;
  }

  void CheckCount() {
    const size_t n = r_.begin.size();
    if (n < 2) Cap(count_known_ ? 0.55 : 0.2, "a single layer shows no repetition");
    if (n == 2) Cap(count_known_ ? 0.8 : kDoubt, "two layers are little repetition");
    if (n == 3 && !count_known_) {
      Cap(r_.cut_first || r_.cut_last ? kSomeDoubt : kMildDoubt,
          "three layers are little repetition");
    }
  }

  /// Halves of the layers that are whole, and how many of them show what.
  struct Evidence {
    size_t n = 0, projected = 0, linear = 0, unopened = 0, unknown = 0, odd = 0;
    size_t with_ffn = 0, with_ffn_norm = 0, several_ffn = 0, closes = 0, swallows = 0;
  };

  Evidence CountEvidence() const {
    Evidence seen;
    for (size_t layer = 0; layer < r_.begin.size(); ++layer) {
      if (r_.cut_last && layer + 1 == r_.begin.size()) break;
      for (size_t i = r_.first_half[layer]; i < EndHalf(layer); ++i) {
        const Half& half = halves_[i];
        const uint32_t end =
            half.has_ffn_norm ? half.ffn_open : std::max(EndOf(layer), half.mix_end);
        const bool projected =
            o_.HasGemm(half.begin, half.mix_begin) && o_.HasGemm(half.mix_end, end);
        ++seen.n;
        seen.projected += projected ? 1 : 0;
        seen.linear += half.linear ? 1 : 0;
        seen.unopened += half.opened ? 0 : 1;
        seen.unknown += half.after == Separation::kUnknown ? 1 : 0;
        seen.odd += half.odd_opening ? 1 : 0;
        seen.with_ffn += half.n_ffn_blocks > 0 ? 1 : 0;
        seen.with_ffn_norm += half.has_ffn_norm ? 1 : 0;
        seen.several_ffn += half.n_ffn_blocks > 1 ? 1 : 0;
        seen.closes += half.closes ? 1 : 0;
        seen.swallows += half.swallows ? 1 : 0;
      }
    }
    return seen;
  }

  void CheckKernels() {
    const Evidence seen = CountEvidence();
    if (seen.n == 0) return;
    const double all = static_cast<double>(seen.n);
    const double bare = static_cast<double>(seen.n - seen.projected);
    if (bare > std::max((1 - kMost) * all, seen.n >= 6 ? 1.0 : 0.0)) {
      Cap(kStrongDoubt, "no GEMM is recognised on both sides of the attention in most layers");
    }
    if (o_.mixers_are_softmax) Cap(kDoubt, "attention is recognised by its softmax alone");
    CheckOpenings(seen);
    CheckFfns(seen);
  }

  void CheckOpenings(const Evidence& seen) {
    const Half& first = halves_[r_.first_half[0]];
    const bool without_norm = !first.closes && !o_.HasNorm(r_.begin[0], r_.begin[0] + 1);
    if (seen.unopened > 0 || without_norm) {
      Cap(kStrongDoubt, "layer 0 has no norm of its own in this pass");
    }
    if (seen.odd > 0) {
      Cap(kDoubt, "a projection stands between the FFN's norm and the next input norm");
    }
    if (first.n_opening > 1 && !o_.tokens[r_.begin[0]].traits.mixes_streams) {
      Cap(kSomeDoubt, "several norms stand together before the attention");
    }
    if (seen.closes > 0) {
      Cap(kSomeDoubt, "layer 0 has no norm before its attention: blocks end with theirs");
    }
    if (seen.swallows > 0) {
      Cap(kStrongDoubt, "some layers hold more than one attention with projections between");
    }
  }

  void CheckFfns(const Evidence& seen) {
    if (seen.with_ffn == 0) {
      const bool pure = static_cast<double>(seen.linear) >= kMost * static_cast<double>(seen.n);
      Cap(pure ? kMildDoubt : kStrongDoubt, "no FFN kernel is recognised");
    }
    if (seen.unknown > 0) Cap(kDoubt, "some layers have an FFN of unknown kernels");
    if (r_.kind != ReadingKind::kPair) return;
    if (seen.several_ffn > 0) {
      Cap(kSomeDoubt,
          "some layers hold two FFNs with a norm between: an attention may have no known name");
    }
    if (seen.with_ffn_norm > 0 && seen.with_ffn_norm < seen.with_ffn) {
      Cap(kSomeDoubt, "some layers have a norm before their FFN and some have not");
    }
  }

  void CheckShape() {
    if (r_.odd_last) Cap(kDoubt, "the last layer does not follow its siblings");
    if (r_.tail_may_be_layer && !count_known_) {
      Cap(kDoubt, "the norm behind the last layer may be the first kernel of a cut one");
    }
    if (r_.kind == ReadingKind::kBlock) CheckBlocks();
    if (r_.kind == ReadingKind::kDouble) CheckDouble();
  }

  /// One block a layer: mixers with a norm and no FFN between them show it (Nemotron-H); where each
  /// mixer has its FFN, a number alone may as well be wrong.
  void CheckBlocks() {
    if (!count_known_)
      Cap(kDoubt, "each block is taken for a layer, which only a config can confirm");
    const size_t bare =
        static_cast<size_t>(std::count_if(halves_.begin(), halves_.end(), [](const Half& half) {
          return half.after == Separation::kBare;
        }));
    if (bare > 0 || (plan_.telling && plan_.agrees())) return;
    Cap(kStrongDoubt,
        fmt::format("{} runs of attention and FFN are seen where the model is said to have {} "
                    "layers: each block would be one",
                    halves_.size(), r_.begin.size()));
  }

  /// Two runs of attention and FFN a layer (LongCat-Flash).
  void CheckDouble() {
    constexpr int64_t kBlocksOfDouble = 4;
    if (hints_.blocks_per_layer == kBlocksOfDouble) return;
    if (ExplainsDouble(halves_, r_, hints_.plan)) return;
    Cap(kStrongDoubt,
        fmt::format("{} runs of attention and FFN are seen where the model is said to have {} "
                    "layers: each would hold two",
                    halves_.size(), r_.begin.size()));
  }

  /// The kinds of layers that the config names, a check on the cut.
  void CheckPlanned() {
    if (plan_.differing == 0) return;
    const bool many =
        static_cast<double>(plan_.differing) > (1 - kMost) * static_cast<double>(plan_.checked);
    Cap(many ? kStrongDoubt : kSomeDoubt, plan_.first);
  }

  void CheckNormSide() {
    const NormDoubt doubt = MayBePostNorm(o_, halves_, r_.stretch, hints_);
    if (doubt != NormDoubt::kNone) {
      Cap(doubt == NormDoubt::kGrave ? kGraveDoubt : kDoubt, std::string(kNormDoubt));
    }
  }

  void CheckLikeness() {
    const bool leave_last = r_.cut_last && r_.begin.size() > 1;
    std::vector<uint32_t> begin = r_.begin;
    uint32_t end = r_.end;
    if (leave_last) end = begin.back(), begin.pop_back();
    const Likeness likeness = CompareLayers(o_.tokens, begin, end);
    for (const uint32_t signature : likeness.signature) ++repeats_[signature];
    signature_ = likeness.signature;
    if (begin.size() < 2) return;
    if (likeness.alike < 0.6) {
      Cap(kGraveDoubt, "the layers are not alike by kernel names");
    } else if (likeness.alike < kMost) {
      Cap(kDoubt, "many layers are like no other by kernel names");
    }
    if (likeness.worst < 0.5) {
      Cap(kDoubt, fmt::format("layer {} is unlike all others", likeness.worst_layer));
    }
  }

  /// Projections behind the last FFN kernel are the same in all layers that end with it; one more
  /// belongs to the next layer, whose norm was not recognised.
  void CheckTails() {
    std::map<uint32_t, std::map<uint32_t, size_t>> counts;  // FFN kernel -> projections -> layers
    for (size_t i = 0; i + 1 < halves_.size(); ++i) {
      if (!halves_[i].has_ffn) continue;
      ++counts[o_.tokens[halves_[i].last_ffn].name]
              [o_.GemmsBetween(halves_[i].last_ffn, halves_[i + 1].begin)];
    }
    for (const auto& [name, by_count] : counts) {
      size_t most = 0, all = 0;
      for (const auto& [count, layers] : by_count) most = std::max(most, layers), all += layers;
      if (most < all) Cap(kSomeDoubt, "the layers do not all end with the same projections");
    }
  }

  /// A layer that lost its mixer's name is taken with its neighbour, or left in the tail.
  void CheckLengths() {
    std::vector<uint32_t> lengths;
    std::vector<size_t> norms;
    for (size_t i = 0; i < r_.begin.size(); ++i) {
      lengths.push_back(EndOf(i) - r_.begin[i]);
      norms.push_back(o_.FirstNormFrom(EndOf(i)) - o_.FirstNormFrom(r_.begin[i]));
    }
    const double usual = Middle(lengths);
    const size_t usual_norms = Middle(norms);
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (Repeats(i)) continue;
      if (lengths[i] >= 1.6 * usual && 2 * norms[i] >= 3 * usual_norms &&
          norms[i] >= usual_norms + 2) {
        Cap(kDoubt, fmt::format("layer {} is as long as two", i));
      }
    }
    if (!r_.stretch.has_ffn && *std::max_element(norms.begin(), norms.end()) > usual_norms) {
      Cap(kDoubt, "some layers hold more norms than others: a projection may have no known name");
    }
    const uint32_t reach = static_cast<uint32_t>(2 * usual);
    const uint32_t head = r_.begin[0] > reach ? r_.begin[0] - reach : 0;
    if (!r_.cut_first && o_.HasFfn(head, r_.begin[0]) && !o_.HasApart(head, r_.begin[0])) {
      Cap(kDoubt, "FFN kernels stand before the first layer");
    }
    const uint32_t stop = std::min(o_.size(), r_.end + reach);
    const size_t ffn = o_.FirstFfnFrom(r_.end);
    if (ffn < o_.ffn.size() && o_.ffn[ffn] < stop && !o_.HasApart(r_.end, o_.ffn[ffn])) {
      Cap(kDoubt, "FFN kernels stand behind the last layer");
    }
  }

  /// Another layer has the same kernels.
  bool Repeats(size_t layer) const {
    return layer < signature_.size() && repeats_.at(signature_[layer]) > 1;
  }

  /// Two towers: the kernels change altogether, once, between two layers.
  void CheckTowers() {
    size_t changes = 0, at = 0;
    for (size_t i = 1; i < r_.begin.size(); ++i) {
      if (changes > 1) return;
      const bool stranger = LayersShare(i - 1, i) < kStranger || (i > 1 && NormsChange(i));
      if (stranger) ++changes, at = i;
    }
    const size_t n = r_.begin.size() - (r_.cut_last ? 1 : 0);
    if (changes != 1 || at < 2 || at + 1 >= n || LayersShare(0, n - 1) >= 2 * kStranger) return;
    Cap(kDoubt, fmt::format("from layer {} on the kernels are others: two models in one pass", at));
  }

  /// From LayerNorm to RMSNorm.
  bool NormsChange(size_t layer) const {
    return o_.tokens[r_.begin[layer]].traits.layer_norm !=
           o_.tokens[r_.begin[layer - 1]].traits.layer_norm;
  }

  double LayersShare(size_t a, size_t b) const {
    return SharedNames(o_.tokens.subspan(r_.begin[a], EndOf(a) - r_.begin[a]),
                       o_.tokens.subspan(r_.begin[b], EndOf(b) - r_.begin[b]));
  }

  void CheckNames() {
    const uint32_t from = r_.begin.front();
    const NamePeriod period = FindNamePeriod(o_.tokens.subspan(from, r_.end - from));
    const PeriodVerdict verdict = CheckPeriod(period, r_.begin, r_.end);
    const bool halves_repeat = r_.kind == ReadingKind::kDouble && count_known_;
    if (verdict == PeriodVerdict::kShorter && !halves_repeat) {
      Cap(kDoubt,
          fmt::format("names alone repeat every {} kernels, inside the layers", period.length));
    } else if (verdict == PeriodVerdict::kDiffers) {
      Cap(kDoubt, fmt::format("names alone repeat every {} kernels, which is no number of layers",
                              period.length));
    }
  }

  const Outline& o_;
  const std::vector<Half>& halves_;
  const Reading& r_;
  const SegmentHints& hints_;
  bool count_known_;
  PlanVerdict plan_;
  std::vector<uint32_t> signature_;     ///< by layer
  std::map<uint32_t, size_t> repeats_;  ///< signature -> layers
  Judgement judgement_;
};

}  // namespace

Judgement Judge(const Outline& outline, const std::vector<Half>& halves, const Reading& reading,
                const SegmentHints& hints, bool count_known) {
  return Judging(outline, halves, reading, hints, count_known).Give();
}

}  // namespace layerscope::layers
