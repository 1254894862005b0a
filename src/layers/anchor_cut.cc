#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/layers/ambiguity.h"
#include "src/layers/halves.h"
#include "src/layers/judgement.h"
#include "src/layers/layer_ends.h"
#include "src/layers/likeness.h"
#include "src/layers/outline.h"
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

constexpr std::string_view kResidueCauses =
    "likely causes: a draft model's or MTP layers in the pass, micro-batches, a window that cuts "
    "the pass, an anchor that only some layers have; try another --anchor-kernel, --num-layers, "
    "--blocks-per-layer or --anchor-offset";

/// How the anchors stand in a reading's layers.
struct AnchorRhythm {
  size_t per_layer = 0;
  size_t irregular = 0;  ///< whole layers with another number
  size_t outside = 0;    ///< in head and tail
  bool opens = false;    ///< the first anchor of each layer stands at its begin
};

class AnchorCutter {
 public:
  AnchorCutter(std::span<const Token> tokens, const SegmentHints& hints, bool given)
      : o_(tokens), hints_(hints), given_(given) {
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].anchor && !tokens[i].side_stream) anchors_.push_back(i);
    }
    norm_anchors_ =
        !anchors_.empty() && std::all_of(anchors_.begin(), anchors_.end(), [&](auto at) {
          return tokens[at].traits.kind == KernelClass::kNorm;
        });
  }

  Segmentation Run() {
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
    std::optional<Segmentation> cut = CutByReading();
    // The layers are plain to see and the anchor does not go with them.
    if (contradicted_ && !hints_.anchor_offset) return Refuse(misfit_, std::string(kResidueCauses));
    if (cut && !hints_.anchor_is_boundary) return *std::move(cut);
    return CutLiterally();
  }

 private:
  size_t Offset() const { return static_cast<size_t>(hints_.anchor_offset.value_or(0)); }

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
    const bool cut =
        reading.cut_first || reading.cut_last || hints_.may_be_cut_first || hints_.may_be_cut_last;
    return found == *hints_.num_layers ||
           (cut && reading.kind == ReadingKind::kPair && found < *hints_.num_layers);
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
      rhythm.irregular += counts[i] != rhythm.per_layer ? 1 : 0;
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
    const auto blocks = hints_.blocks_per_layer;
    if (blocks && static_cast<int64_t>(rhythm.per_layer) != *blocks && rhythm.opens) return false;
    if (blocks && reading.kind != ReadingKind::kPair &&
        static_cast<int64_t>(rhythm.per_layer) != *blocks) {
      return false;
    }
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

  Ambiguity Doubt(const Stretch& stretch) const { return FindAmbiguity(o_, halves_, stretch); }

  /// Keeps how the anchors miss a reading's layers; a sure reading of a whole pass refuses them.
  void Remember(const Reading& reading, const AnchorRhythm& rhythm, const Stretch& stretch) {
    const size_t layers = reading.begin.size();
    const int64_t extra = hints_.extra_anchors.value_or(static_cast<int64_t>(rhythm.outside));
    misfit_ = fmt::format(
        "the anchor stands {} times in this pass, which is not {} layers x {} a layer + {} extra: "
        "residue {}; {} layers have another number",
        anchors_.size(), layers, rhythm.per_layer, extra,
        static_cast<int64_t>(anchors_.size()) - static_cast<int64_t>(layers * rhythm.per_layer) -
            extra,
        rhythm.irregular);
    const bool cut =
        reading.cut_first || reading.cut_last || hints_.may_be_cut_first || hints_.may_be_cut_last;
    const Ambiguity doubt = Doubt(stretch);
    const bool misses = rhythm.irregular > 0 || rhythm.per_layer == 0;
    if (cut || !misses || !doubt.why.empty() || doubt.blocks) return;
    contradicted_ = Judge(o_, halves_, reading, hints_.num_layers.has_value()).confidence >= kSure;
  }

  Segmentation Confirm(const Reading& reading, const AnchorRhythm& rhythm) const {
    const bool known = hints_.num_layers.has_value() &&
                       static_cast<int64_t>(reading.begin.size()) == *hints_.num_layers;
    const Judgement judgement = Judge(o_, halves_, reading, known);
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
      if (n < wanted * k && !cut) return RefuseResidue(n, wanted, k, extra);
      if (n > wanted * k + std::max(extra, kUsualExtra)) return RefuseResidue(n, wanted, k, extra);
      layers = std::min(layers, wanted);
      rest = n - layers * k;
    } else if (rest > std::max(extra, kUsualExtra)) {
      return RefuseResidue(n, layers, k, extra);
    } else if (rest == 0 && k == 1 && extra > 0 && layers > extra) {
      layers -= extra;
    }
    if (layers == 0) return RefuseResidue(n, layers, k, extra);
    return CutAt(layers, k);
  }

  Segmentation RefuseResidue(size_t n, size_t layers, size_t k, size_t extra) const {
    const int64_t residue =
        static_cast<int64_t>(n) - static_cast<int64_t>(layers * k) - static_cast<int64_t>(extra);
    std::string why =
        fmt::format("{} anchors in this pass are not {} layers x {} a layer + {} extra: residue {}",
                    n, layers, k, extra, residue);
    if (!misfit_.empty()) why += "; " + misfit_;
    return Refuse(std::move(why), std::string(kResidueCauses));
  }

  bool HasMixer(uint32_t from, uint32_t to) const {
    const auto it = std::lower_bound(o_.mixers.begin(), o_.mixers.end(), from,
                                     [](const MixPoint& m, uint32_t at) { return m.at < at; });
    return it != o_.mixers.end() && it->at < to;
  }

  Segmentation CutAt(size_t layers, size_t k) {
    std::vector<uint32_t> begin;
    for (size_t i = 0; i < layers; ++i) begin.push_back(anchors_[Offset() + i * k]);
    const size_t next = Offset() + layers * k;
    const uint32_t limit = next < anchors_.size() ? anchors_[next] : o_.size();
    if (!o_.mixers.empty()) {
      const uint32_t block_end = Offset() + 1 < anchors_.size() ? anchors_[Offset() + 1] : limit;
      const bool late = HasMixer(0, begin[0]);
      const bool inside = k < 2 || HasMixer(begin[0], block_end);
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
    cut.end = ends.end;
    cut.cut_last = ends.cut_last;
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
    if (o_.mixers.empty() || ends.odd_last) cut.confidence = std::min(cut.confidence, kUnverified);
    if (std::string_view(kind) == "period") cut.confidence = std::min(cut.confidence, 0.65);
    if (!misfit_.empty() || DiffersFromReading(begin)) {
      cut.confidence = std::min(cut.confidence, 0.65);
    }
    cut.why = fmt::format("{} layers cut at {} anchors each", begin.size(), k);
    if (!misfit_.empty()) cut.why += "; " + misfit_;
    for (size_t i = 0; i < begin.size(); ++i) {
      std::vector<uint32_t> blocks = {begin[i]};
      const uint32_t stop = i + 1 < begin.size() ? begin[i + 1] : cut.end;
      for (size_t j = 1; j < k && std::string_view(kind) == "boundary"; ++j) {
        const size_t at = Offset() + i * k + j;
        if (at < anchors_.size() && anchors_[at] > blocks.back() && anchors_[at] < stop) {
          blocks.push_back(anchors_[at]);
        }
      }
      cut.block_begin.push_back(std::move(blocks));
    }
    return cut;
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
  bool given_;
  bool norm_anchors_ = false;
  std::vector<uint32_t> anchors_;
  std::vector<Half> halves_;
  std::vector<Stretch> stretches_;
  bool contradicted_ = false;
  std::string misfit_;  ///< how the anchors miss the layers that repetition finds
};

}  // namespace

Segmentation SegmentByAnchor(std::span<const Token> tokens, const SegmentHints& hints, bool given) {
  return AnchorCutter(tokens, hints, given).Run();
}

}  // namespace layerscope::layers
