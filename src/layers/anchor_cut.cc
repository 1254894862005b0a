#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/layers/anchor_misfit.h"
#include "src/layers/anchored_pass.h"
#include "src/layers/judgement.h"
#include "src/layers/literal_cut.h"
#include "src/layers/readings.h"
#include "src/layers/segmentation.h"

namespace layerscope::layers {
namespace {

/// What a pass that the anchor verifies is worth at least.
constexpr double kVerified = 0.85;
/// A reading from here on outweighs an anchor that does not go with it.
constexpr double kSure = 0.5;

/// The layers that repetition finds, confirmed by the anchor; else the anchors as they stand.
class AnchorCutter {
 public:
  AnchorCutter(std::span<const Token> tokens, const SegmentHints& hints, bool given)
      : pass_(tokens, hints, given) {}
  AnchorCutter(const AnchorCutter&) = delete;
  AnchorCutter& operator=(const AnchorCutter&) = delete;

  Segmentation Run() {
    if (std::optional<Segmentation> absurd = RefuseAbsurd()) return *std::move(absurd);
    if (pass_.anchors.empty()) return pass_.Fail("no kernel of this pass matches the anchor", "");
    const int64_t n = static_cast<int64_t>(pass_.anchors.size());
    if (hints_.anchor_offset && (*hints_.anchor_offset < 0 || *hints_.anchor_offset >= n)) {
      return pass_.Refuse(
          fmt::format("anchor offset {} is no occurrence: the anchor stands {} times in "
                      "this pass, at 0 to {}",
                      *hints_.anchor_offset, n, n - 1),
          "give --anchor-offset within that range");
    }
    if (!o_.mixers.empty() && !o_.norms.empty()) pass_.halves = FindHalves(o_);
    if (!pass_.halves.empty()) pass_.stretches = FindStretches(o_, pass_.halves);
    if (pass_.asked && pass_.anchors.size() == 1 && pass_.halves.size() > 2) {
      return pass_.Refuse(
          "the anchor stands once in the pass: a layer's anchor stands in every layer",
          "give a kernel that opens each layer, such as its norm, or one that each layer holds");
    }
    std::optional<Segmentation> cut = CutByReading();
    // The layers are plain to see and the anchor does not go with them.
    const bool contradicted = contradicted_ || (blocks_contradicted_ && !cut);
    if (contradicted && !hints_.anchor_offset)
      return pass_.Refuse(misfit_, std::string(kResidueCauses));
    if (cut && !hints_.anchor_is_boundary) return *std::move(cut);
    return CutAtAnchors(pass_, misfit_);
  }

 private:
  /// Before any arithmetic with numbers that no model has.
  std::optional<Segmentation> RefuseAbsurd() const {
    if (hints_.num_layers.value_or(0) > kMaxLayers) {
      return pass_.Refuse(
          fmt::format("{} layers: no more than {} are looked for", *hints_.num_layers, kMaxLayers),
          "give the number of layers of the model");
    }
    if (hints_.blocks_per_layer.value_or(0) > kMaxBlocksPerLayer) {
      return pass_.Refuse(fmt::format("{} blocks a layer: no more than {} are looked for",
                                      *hints_.blocks_per_layer, kMaxBlocksPerLayer),
                          "give how often the anchor stands in a layer");
    }
    return std::nullopt;
  }

  // ---- the layers that repetition finds, confirmed by the anchor

  std::optional<Segmentation> CutByReading() {
    std::optional<Segmentation> best;
    for (const ReadingKind kind : {ReadingKind::kPair, ReadingKind::kBlock, ReadingKind::kDouble}) {
      for (const Stretch& stretch : pass_.stretches) {
        const Reading reading = Read(o_, pass_.halves, stretch, kind, hints_);
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
      const bool blocks = pass_.Doubt(pass_.stretches[0]).blocks;
      if (reading.kind == ReadingKind::kBlock && blocks) return true;
      return (reading.kind == ReadingKind::kPair && !blocks) || hints_.blocks_per_layer;
    }
    const int64_t found = static_cast<int64_t>(reading.begin.size());
    return found == *hints_.num_layers ||
           (MayBeCut(reading, hints_) && reading.kind == ReadingKind::kPair &&
            found < *hints_.num_layers);
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
      counts.push_back(pass_.CountIn(reading.begin[i], end));
      ++histogram[counts.back()];
      opening += OpensAt(reading.begin[i]) ? 1 : 0;
    }
    size_t most = 0;
    for (const auto& [count, layers] : histogram) {
      if (layers >= most) most = layers, rhythm.per_layer = count;
    }
    for (size_t i = 0; i < whole; ++i) {
      // Layer 0's own norm has another name than the fused ones.
      if (i == 0 && pass_.norm_anchors && counts[i] + 1 == rhythm.per_layer) continue;
      rhythm.without += counts[i] == 0 ? 1 : 0;
      if (counts[i] == rhythm.per_layer) continue;
      if (rhythm.irregular++ == 0) rhythm.odd_layer = i, rhythm.odd_count = counts[i];
    }
    rhythm.outside = pass_.anchors.size() - pass_.CountIn(reading.begin.front(), reading.end);
    rhythm.opens = opening + 1 >= whole && opening > 0;
    return rhythm;
  }

  /// An eager norm opens a few kernels before the one that the anchor names.
  bool OpensAt(uint32_t begin) const {
    uint32_t end = begin + 1;
    const size_t norm = o_.FirstNormFrom(begin);
    if (norm < o_.norms.size() && o_.norms[norm].begin == begin) end = o_.norms[norm].end;
    return pass_.CountIn(begin, end) > 0;
  }

  bool Fits(const Reading& reading, const AnchorRhythm& rhythm) const {
    if (rhythm.per_layer == 0 || rhythm.irregular > 0) return false;
    if (HasOtherBlocks(rhythm, hints_) &&
        (pass_.asked || rhythm.opens || reading.kind != ReadingKind::kPair))
      return false;
    if (hints_.anchor_offset) {
      return pass_.CountIn(0, reading.begin.front()) == pass_.Offset() && !reading.cut_first;
    }
    if (!pass_.given && !reading.cut_first && !reading.cut_last) {
      const size_t extra =
          hints_.extra_anchors ? static_cast<size_t>(*hints_.extra_anchors) : rhythm.outside;
      if (rhythm.outside != extra || rhythm.outside > kUsualExtra + extra) return false;
    }
    return true;
  }

  /// Keeps how the anchors miss a reading's layers; a sure reading refuses them. Where a window
  /// may cut the pass, one odd layer may be the cut's doing; several are not.
  void Remember(const Reading& reading, const AnchorRhythm& rhythm, const Stretch& stretch) {
    misfit_ = MisfitText(pass_.anchors.size(), reading.begin.size(), rhythm, hints_, pass_.asked);
    const bool misses = rhythm.irregular > 0 || rhythm.per_layer == 0;
    const bool other_blocks = pass_.asked && HasOtherBlocks(rhythm, hints_);
    if (!misses && !other_blocks) return;
    if (MayBeCut(reading, hints_) &&
        !(pass_.asked && (rhythm.per_layer == 0 || rhythm.irregular > 1)) && !other_blocks) {
      return;
    }
    const Ambiguity doubt = pass_.Doubt(stretch);
    if (!doubt.why.empty() || doubt.blocks) return;
    const double confidence =
        Judge(o_, pass_.halves, reading, hints_, hints_.num_layers.has_value()).confidence;
    if (confidence < kSure) return;
    (misses ? contradicted_ : blocks_contradicted_) = true;
  }

  Segmentation Confirm(const Reading& reading, const AnchorRhythm& rhythm) const {
    const bool known = hints_.num_layers.has_value() &&
                       static_cast<int64_t>(reading.begin.size()) == *hints_.num_layers;
    const Judgement judgement = Judge(o_, pass_.halves, reading, hints_, known);
    Segmentation cut = CutAsRead(pass_.halves, reading);
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

  AnchoredPass pass_;
  const Outline& o_ = pass_.outline;
  const SegmentHints& hints_ = pass_.hints;
  bool contradicted_ = false;
  bool blocks_contradicted_ = false;  ///< by --blocks-per-layer alone
  std::string misfit_;                ///< how the anchors miss the layers that repetition finds
};

}  // namespace

Segmentation SegmentByAnchor(std::span<const Token> tokens, const SegmentHints& hints, bool given) {
  return AnchorCutter(tokens, hints, given).Run();
}

}  // namespace layerscope::layers
