#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/layers/ambiguity.h"
#include "src/layers/anchor_misfit.h"
#include "src/layers/halves.h"
#include "src/layers/judgement.h"
#include "src/layers/layer_ends.h"
#include "src/layers/likeness.h"
#include "src/layers/outline.h"
#include "src/layers/plan_check.h"
#include "src/layers/readings.h"
#include "src/layers/segmentation.h"

namespace layerscope::layers {
namespace {

/// What a pass that the anchor verifies is worth at least.
constexpr double kVerified = 0.85;
constexpr double kUnverified = 0.55;
/// A reading from here on outweighs an anchor that does not go with it.
constexpr double kSure = 0.5;
/// Anchors outside the layers that a profile's anchor may have when the profile names no number.
constexpr size_t kUsualExtra = 1;

class AnchorCutter {
 public:
  AnchorCutter(std::span<const Token> tokens, const SegmentHints& hints, bool given)
      : o_(tokens), hints_(hints), given_(given), asked_(given || hints.of_user) {
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].anchor && !tokens[i].side_stream) anchors_.push_back(i);
    }
    norm_anchors_ =
        !anchors_.empty() && std::all_of(anchors_.begin(), anchors_.end(), [&](auto at) {
          return tokens[at].traits.kind == KernelClass::kNorm;
        });
  }

  Segmentation Run() {
    if (std::optional<Segmentation> absurd = RefuseAbsurd()) return *std::move(absurd);
    if (anchors_.empty()) return Fail("no kernel of this pass matches the anchor", "");
    const int64_t n = static_cast<int64_t>(anchors_.size());
    if (hints_.anchor_offset && (*hints_.anchor_offset < 0 || *hints_.anchor_offset >= n)) {
      return Refuse(fmt::format("anchor offset {} is no occurrence: the anchor stands {} times in "
                                "this pass, at 0 to {}",
                                *hints_.anchor_offset, n, n - 1),
                    "give --anchor-offset within that range");
    }
    if (!o_.mixers.empty() && !o_.norms.empty()) halves_ = FindHalves(o_);
    if (!halves_.empty()) stretches_ = FindStretches(o_, halves_);
    if (asked_ && anchors_.size() == 1 && halves_.size() > 2) {
      return Refuse(
          "the anchor stands once in the pass: a layer's anchor stands in every layer",
          "give a kernel that opens each layer, such as its norm, or one that each layer holds");
    }
    std::optional<Segmentation> cut = CutByReading();
    // The layers are plain to see and the anchor does not go with them.
    const bool contradicted = contradicted_ || (blocks_contradicted_ && !cut);
    if (contradicted && !hints_.anchor_offset) return Refuse(misfit_, std::string(kResidueCauses));
    if (cut && !hints_.anchor_is_boundary) return *std::move(cut);
    return CutLiterally();
  }

 private:
  size_t Offset() const { return static_cast<size_t>(hints_.anchor_offset.value_or(0)); }

  /// Before any arithmetic with numbers that no model has.
  std::optional<Segmentation> RefuseAbsurd() const {
    if (hints_.num_layers.value_or(0) > kMaxLayers) {
      return Refuse(
          fmt::format("{} layers: no more than {} are looked for", *hints_.num_layers, kMaxLayers),
          "give the number of layers of the model");
    }
    if (hints_.blocks_per_layer.value_or(0) > kMaxBlocksPerLayer) {
      return Refuse(fmt::format("{} blocks a layer: no more than {} are looked for",
                                *hints_.blocks_per_layer, kMaxBlocksPerLayer),
                    "give how often the anchor stands in a layer");
    }
    return std::nullopt;
  }

  Segmentation Fail(std::string why, std::string how) const {
    Segmentation result;
    result.abstained_code = "anchor_not_verified";
    result.why_not = std::move(why);
    result.how = std::move(how);
    return result;
  }

  /// A refusal where the user gave the anchor, else only a failed verification.
  Segmentation Refuse(std::string why, std::string hint) const {
    if (!given_) return Fail(std::move(why), std::move(hint));
    Segmentation result;
    result.rejected = std::move(why);
    result.rejected_hint = std::move(hint);
    return result;
  }

  // ---- the layers that repetition finds, confirmed by the anchor

  std::optional<Segmentation> CutByReading() {
    std::optional<Segmentation> best;
    for (const ReadingKind kind : {ReadingKind::kPair, ReadingKind::kBlock, ReadingKind::kDouble}) {
      for (const Stretch& stretch : stretches_) {
        const Reading reading = Read(o_, halves_, stretch, kind, hints_);
        if (reading.begin.empty() || !HasCount(reading)) continue;
        const AnchorRhythm rhythm = Rhythm(reading);
        if (!Fits(reading, rhythm)) {
          if (kind == ReadingKind::kPair && reading.begin.size() > 2) {
            Remember(reading, rhythm, stretch);
          }
          continue;
        }
        Segmentation cut = Confirm(reading, rhythm);
        if (!best || cut.confidence > best->confidence + 0.05) best = std::move(cut);
      }
    }
    if (best && best->confidence < kShown) return std::nullopt;
    return best;
  }

  bool HasCount(const Reading& reading) const {
    if (!hints_.num_layers) {
      const bool blocks = Doubt(stretches_[0]).blocks;
      if (reading.kind == ReadingKind::kBlock && blocks) return true;
      return (reading.kind == ReadingKind::kPair && !blocks) || hints_.blocks_per_layer;
    }
    const int64_t found = static_cast<int64_t>(reading.begin.size());
    return found == *hints_.num_layers ||
           (MayBeCut(reading, hints_) && reading.kind == ReadingKind::kPair &&
            found < *hints_.num_layers);
  }

  size_t CountIn(uint32_t from, uint32_t to) const {
    return static_cast<size_t>(std::lower_bound(anchors_.begin(), anchors_.end(), to) -
                               std::lower_bound(anchors_.begin(), anchors_.end(), from));
  }

  AnchorRhythm Rhythm(const Reading& reading) const {
    AnchorRhythm rhythm;
    std::map<size_t, size_t> histogram;
    const size_t n = reading.begin.size();
    const size_t whole = n - (reading.cut_last ? 1 : 0);
    std::vector<size_t> counts;
    size_t opening = 0;
    for (size_t i = 0; i < whole; ++i) {
      const uint32_t end = i + 1 < n ? reading.begin[i + 1] : reading.end;
      counts.push_back(CountIn(reading.begin[i], end));
      ++histogram[counts.back()];
      opening += OpensAt(reading.begin[i]) ? 1 : 0;
    }
    size_t most = 0;
    for (const auto& [count, layers] : histogram) {
      if (layers >= most) most = layers, rhythm.per_layer = count;
    }
    for (size_t i = 0; i < whole; ++i) {
      // Layer 0's own norm has another name than the fused ones.
      if (i == 0 && norm_anchors_ && counts[i] + 1 == rhythm.per_layer) continue;
      rhythm.without += counts[i] == 0 ? 1 : 0;
      if (counts[i] == rhythm.per_layer) continue;
      if (rhythm.irregular++ == 0) rhythm.odd_layer = i, rhythm.odd_count = counts[i];
    }
    rhythm.outside = anchors_.size() - CountIn(reading.begin.front(), reading.end);
    rhythm.opens = opening + 1 >= whole && opening > 0;
    return rhythm;
  }

  /// An eager norm opens a few kernels before the one that the anchor names.
  bool OpensAt(uint32_t begin) const {
    uint32_t end = begin + 1;
    const size_t norm = o_.FirstNormFrom(begin);
    if (norm < o_.norms.size() && o_.norms[norm].begin == begin) end = o_.norms[norm].end;
    return CountIn(begin, end) > 0;
  }

  bool Fits(const Reading& reading, const AnchorRhythm& rhythm) const {
    if (rhythm.per_layer == 0 || rhythm.irregular > 0) return false;
    if (HasOtherBlocks(rhythm, hints_) &&
        (asked_ || rhythm.opens || reading.kind != ReadingKind::kPair))
      return false;
    if (hints_.anchor_offset) {
      return CountIn(0, reading.begin.front()) == Offset() && !reading.cut_first;
    }
    if (!given_ && !reading.cut_first && !reading.cut_last) {
      const size_t extra =
          hints_.extra_anchors ? static_cast<size_t>(*hints_.extra_anchors) : rhythm.outside;
      if (rhythm.outside != extra || rhythm.outside > kUsualExtra + extra) return false;
    }
    return true;
  }

  Ambiguity Doubt(const Stretch& stretch) const {
    return FindAmbiguity(o_, halves_, stretch, hints_);
  }

  /// Keeps how the anchors miss a reading's layers; a sure reading refuses them. Where a window
  /// may cut the pass, one odd layer may be the cut's doing; several are not.
  void Remember(const Reading& reading, const AnchorRhythm& rhythm, const Stretch& stretch) {
    misfit_ = MisfitText(anchors_.size(), reading.begin.size(), rhythm, hints_, asked_);
    const bool misses = rhythm.irregular > 0 || rhythm.per_layer == 0;
    const bool other_blocks = asked_ && HasOtherBlocks(rhythm, hints_);
    if (!misses && !other_blocks) return;
    if (MayBeCut(reading, hints_) && !(asked_ && (rhythm.per_layer == 0 || rhythm.irregular > 1)) &&
        !other_blocks) {
      return;
    }
    const Ambiguity doubt = Doubt(stretch);
    if (!doubt.why.empty() || doubt.blocks) return;
    const double confidence =
        Judge(o_, halves_, reading, hints_, hints_.num_layers.has_value()).confidence;
    if (confidence < kSure) return;
    (misses ? contradicted_ : blocks_contradicted_) = true;
  }

  Segmentation Confirm(const Reading& reading, const AnchorRhythm& rhythm) const {
    const bool known = hints_.num_layers.has_value() &&
                       static_cast<int64_t>(reading.begin.size()) == *hints_.num_layers;
    const Judgement judgement = Judge(o_, halves_, reading, hints_, known);
    Segmentation cut = CutAsRead(halves_, reading);
    cut.kind = rhythm.opens ? "boundary" : "period";
    cut.anchors_per_layer = static_cast<int64_t>(rhythm.per_layer);
    cut.confidence = judgement.confidence;
    const bool unsure = reading.kind == ReadingKind::kBlock && !known;
    if (rhythm.opens && judgement.confidence >= kUnverified && !unsure) {
      cut.confidence = std::max(judgement.confidence, kVerified);
    }
    cut.why = fmt::format("{} anchors a layer in {} layers; {}", rhythm.per_layer,
                          reading.begin.size(), judgement.why);
    return cut;
  }

  // ---- cut at the anchors themselves

  /// Anchors a layer: as given, else from the number of layers or of attentions, else 1.
  size_t AnchorsPerLayer(size_t n) const {
    if (hints_.blocks_per_layer)
      return static_cast<size_t>(std::max<int64_t>(1, *hints_.blocks_per_layer));
    if (!hints_.num_layers && !stretches_.empty() && Doubt(stretches_[0]).blocks) return 1;
    const size_t layers = hints_.num_layers && *hints_.num_layers > 0
                              ? static_cast<size_t>(*hints_.num_layers)
                              : halves_.size();
    if (layers == 0 || n < layers) return 1;
    return (n + layers / 4) / layers;
  }

  Segmentation CutLiterally() {
    const size_t n = anchors_.size() - Offset();
    const size_t k = AnchorsPerLayer(n);
    const size_t extra =
        hints_.extra_anchors ? static_cast<size_t>(std::max<int64_t>(0, *hints_.extra_anchors)) : 0;
    size_t layers = n / k;
    size_t rest = n % k;
    if (hints_.num_layers) {
      const size_t wanted = static_cast<size_t>(std::max<int64_t>(1, *hints_.num_layers));
      const bool cut = hints_.may_be_cut_first || hints_.may_be_cut_last;
      const bool offset_is_why = Offset() > 0 && anchors_.size() >= wanted * k;
      if (n < wanted * k && (!cut || offset_is_why)) return RefuseResidue(n, wanted, k, extra);
      if (n > wanted * k + std::max(extra, kUsualExtra)) return RefuseResidue(n, wanted, k, extra);
      layers = std::min(layers, wanted);
      rest = n - layers * k;
    } else if (rest > std::max(extra, kUsualExtra)) {
      return RefuseResidue(n, layers, k, extra);
    } else if (rest == 0 && k == 1 && extra > 0 && layers > extra) {
      layers -= extra;
    }
    if (layers == 0) return RefuseResidue(n, layers, k, extra);
    if (layers > static_cast<size_t>(kMaxLayers)) {
      return Refuse(fmt::format("{} layers of {} anchors each: no more than {} are looked for",
                                layers, k, kMaxLayers),
                    std::string(kResidueCauses));
    }
    return CutAt(layers, k);
  }

  Segmentation RefuseResidue(size_t n, size_t layers, size_t k, size_t extra) const {
    if (Offset() > 0 && n < layers * k) {
      return Refuse(fmt::format("from occurrence {} on {} {} left; {} layers ({}) x {} need {}",
                                Offset(), n, n == 1 ? "anchor is" : "anchors are", layers,
                                CountSource(hints_), k, layers * k),
                    "leave out --anchor-offset, or give a smaller one");
    }
    std::string why = ResidueText(n, layers, k, extra);
    if (!misfit_.empty()) why += "; " + misfit_;
    return Refuse(std::move(why), std::string(kResidueCauses));
  }

  Segmentation CutAt(size_t layers, size_t k) {
    std::vector<uint32_t> begin;
    for (size_t i = 0; i < layers; ++i) begin.push_back(anchors_[Offset() + i * k]);
    const size_t next = Offset() + layers * k;
    const uint32_t limit = next < anchors_.size() ? anchors_[next] : o_.size();
    if (!o_.mixers.empty()) {
      const uint32_t block_end = Offset() + 1 < anchors_.size() ? anchors_[Offset() + 1] : limit;
      const bool late = o_.HasMixer(0, begin[0]);
      const bool inside = k < 2 || o_.HasMixer(begin[0], block_end);
      if (hints_.anchor_is_boundary && !hints_.anchor_offset && (late || !inside)) {
        return RefuseLate(layers, k, late);
      }
      if (!hints_.anchor_is_boundary && (late || !inside)) return CutBack(begin, k);
    } else if (!hints_.anchor_is_boundary && !norm_anchors_) {
      return CutBack(begin, k);
    }
    return FinishLiteral(begin, limit, k, "boundary");
  }

  Segmentation RefuseLate(size_t layers, size_t k, bool late) const {
    return Refuse(
        fmt::format("the first anchor does not open layer 0: attention {}; {} x {} anchors would "
                    "cut every layer late",
                    late ? "stands before it" : "does not follow it", layers, k),
        "leave out --anchor-boundary, so that boundaries move back to the input norms, or give an "
        "anchor that layer 0 has too");
  }

  /// A period anchor: as many norms back as layer 0 has before it (rule 4).
  Segmentation CutBack(const std::vector<uint32_t>& at, size_t k) {
    if (!misfit_.empty() && !hints_.num_layers) {
      return Refuse(misfit_, std::string(kResidueCauses));
    }
    if (o_.norms.empty() || at.size() < 2) {
      return Fail(
          "the anchor stands inside the layers, and no norm is recognised to which their "
          "begin could be moved back",
          "give --anchor-boundary to cut at the anchor itself, or an anchor that opens a "
          "layer");
    }
    const size_t before_first = o_.FirstNormFrom(at[0]);
    size_t between = o_.norms.size();
    for (size_t i = 1; i < at.size(); ++i) {
      between = std::min(between, o_.FirstNormFrom(at[i]) - o_.FirstNormFrom(at[i - 1]));
    }
    const size_t back = std::min(before_first, between);
    if (back == 0) {
      return Fail("no norm stands between the anchors to which the layers' begin could be moved",
                  "give --anchor-boundary to cut at the anchor itself");
    }
    std::vector<uint32_t> begin;
    for (const uint32_t anchor : at)
      begin.push_back(o_.norms[o_.FirstNormFrom(anchor) - back].begin);
    return FinishLiteral(begin, o_.size(), k, "period");
  }

  Segmentation FinishLiteral(const std::vector<uint32_t>& begin, uint32_t limit, size_t k,
                             const char* kind) {
    const OuterEnds ends = FindOuterEnds(o_, begin, 0, limit, hints_);
    Segmentation cut;
    cut.begin = begin;
    cut.end = kind == std::string_view("boundary") ? WithoutFinalNorm(begin, ends.end) : ends.end;
    cut.cut_last = ends.cut_last && cut.end == ends.end;
    cut.kind = kind;
    cut.anchors_per_layer = static_cast<int64_t>(k);
    const Likeness likeness = CompareLayers(o_.tokens, begin, ends.end);
    const bool known = hints_.num_layers && static_cast<size_t>(*hints_.num_layers) == begin.size();
    if (begin.size() > 1 && likeness.alike < 0.6) {
      return Refuse(
          fmt::format("cut at the anchors, {} layers are not alike by kernel names", begin.size()),
          std::string(kResidueCauses));
    }
    cut.confidence = likeness.alike >= 0.9 && begin.size() > 2 ? (known ? 0.9 : 0.75) : kUnverified;
    const bool unseen = o_.mixers.empty() || !o_.HasGemm(begin.front(), ends.end);
    if (unseen || ends.odd_last || DiffersFromPlan(cut)) {
      cut.confidence = std::min(cut.confidence, kUnverified);
    }
    if (std::string_view(kind) == "period") cut.confidence = std::min(cut.confidence, 0.65);
    if (!misfit_.empty() || DiffersFromReading(begin) || NormsMayClose()) {
      cut.confidence = std::min(cut.confidence, 0.65);
    }
    cut.why = fmt::format("{} layers cut at {} anchors each", begin.size(), k);
    if (!misfit_.empty()) cut.why += "; " + misfit_;
    AddBlocks(k, cut);
    return cut;
  }

  /// Layers cut inside themselves hold the next one's input norm and projections; behind the last
  /// one stand the final norm and the output projection in their place.
  uint32_t WithoutFinalNorm(const std::vector<uint32_t>& begin, uint32_t end) const {
    if (o_.HasNorm(begin.front(), begin.front() + 1) || o_.ffn.empty() || begin.size() < 2) {
      return end;
    }
    const size_t behind = o_.FirstNormFrom(end);
    if (behind == 0) return end;
    const uint32_t last_norm = o_.norms[behind - 1].begin;
    if (last_norm <= begin.back() || o_.FirstFfnFrom(last_norm) < o_.ffn.size()) return end;
    if (!o_.HasFfn(begin.back(), last_norm) || o_.HasMixer(last_norm, o_.size())) return end;
    return last_norm;
  }

  /// The anchors inside a layer open its further blocks.
  void AddBlocks(size_t k, Segmentation& cut) const {
    for (size_t i = 0; i < cut.begin.size(); ++i) {
      std::vector<uint32_t> blocks = {cut.begin[i]};
      const uint32_t stop = i + 1 < cut.begin.size() ? cut.begin[i + 1] : cut.end;
      for (size_t j = 1; j < k && cut.kind == "boundary"; ++j) {
        const size_t at = Offset() + i * k + j;
        if (at < anchors_.size() && anchors_[at] > blocks.back() && anchors_[at] < stop) {
          blocks.push_back(anchors_[at]);
        }
      }
      cut.block_begin.push_back(std::move(blocks));
    }
  }

  bool DiffersFromPlan(const Segmentation& cut) const {
    Reading reading;
    reading.begin = cut.begin;
    reading.end = cut.end;
    reading.cut_last = cut.cut_last;
    return CheckPlan(o_, reading, hints_.plan).differing > 0;
  }

  bool NormsMayClose() const {
    return norm_anchors_ && !stretches_.empty() &&
           MayBePostNorm(o_, halves_, stretches_.front(), hints_) == NormDoubt::kGrave;
  }

  /// The literal cut of --anchor-boundary beside the norms at which layers open.
  bool DiffersFromReading(const std::vector<uint32_t>& begin) const {
    for (const Stretch& stretch : stretches_) {
      const Reading reading = Read(o_, halves_, stretch, ReadingKind::kPair, hints_);
      if (reading.begin.size() == begin.size()) return reading.begin != begin;
    }
    return false;
  }

  Outline o_;
  const SegmentHints& hints_;
  bool given_;  ///< and must fit
  bool asked_;  ///< the user's: the pass may be one that a window cuts
  bool norm_anchors_ = false;
  std::vector<uint32_t> anchors_;
  std::vector<Half> halves_;
  std::vector<Stretch> stretches_;
  bool contradicted_ = false;
  bool blocks_contradicted_ = false;  ///< by --blocks-per-layer alone
  std::string misfit_;                ///< how the anchors miss the layers that repetition finds
};

}  // namespace

Segmentation SegmentByAnchor(std::span<const Token> tokens, const SegmentHints& hints, bool given) {
  return AnchorCutter(tokens, hints, given).Run();
}

}  // namespace layerscope::layers
