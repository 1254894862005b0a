#include "src/layers/literal_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/layers/anchor_misfit.h"
#include "src/layers/layer_ends.h"
#include "src/layers/likeness.h"
#include "src/layers/plan_check.h"

namespace layerscope::layers {
namespace {

class LiteralCutter {
 public:
  LiteralCutter(const AnchoredPass& pass, const std::string& misfit)
      : pass_(pass), o_(pass.outline), hints_(pass.hints), misfit_(misfit) {}

  Segmentation Run() {
    const size_t n = pass_.anchors.size() - pass_.Offset();
    const size_t k = AnchorsPerLayer(n);
    const size_t extra =
        hints_.extra_anchors ? static_cast<size_t>(std::max<int64_t>(0, *hints_.extra_anchors)) : 0;
    size_t layers = n / k;
    size_t rest = n % k;
    if (hints_.num_layers) {
      const size_t wanted = static_cast<size_t>(std::max<int64_t>(1, *hints_.num_layers));
      const bool cut = hints_.may_be_cut_first || hints_.may_be_cut_last;
      const bool offset_is_why = pass_.Offset() > 0 && pass_.anchors.size() >= wanted * k;
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
      return pass_.Refuse(
          fmt::format("{} layers of {} anchors each: no more than {} are looked for", layers, k,
                      kMaxLayers),
          std::string(kResidueCauses));
    }
    return CutAt(layers, k);
  }

 private:
  /// Anchors a layer: as given, else from the number of layers or of attentions, else 1.
  size_t AnchorsPerLayer(size_t n) const {
    if (hints_.blocks_per_layer)
      return static_cast<size_t>(std::max<int64_t>(1, *hints_.blocks_per_layer));
    if (!hints_.num_layers && !pass_.stretches.empty() && pass_.Doubt(pass_.stretches[0]).blocks)
      return 1;
    const size_t layers = hints_.num_layers && *hints_.num_layers > 0
                              ? static_cast<size_t>(*hints_.num_layers)
                              : pass_.halves.size();
    if (layers == 0 || n < layers) return 1;
    return (n + layers / 4) / layers;
  }

  Segmentation RefuseResidue(size_t n, size_t layers, size_t k, size_t extra) const {
    if (pass_.Offset() > 0 && n < layers * k) {
      return pass_.Refuse(
          fmt::format("from occurrence {} on {} {} left; {} layers ({}) x {} need {}",
                      pass_.Offset(), n, n == 1 ? "anchor is" : "anchors are", layers,
                      CountSource(hints_), k, layers * k),
          "leave out --anchor-offset, or give a smaller one");
    }
    std::string why = ResidueText(n, layers, k, extra);
    if (!misfit_.empty()) why += "; " + misfit_;
    return pass_.Refuse(std::move(why), std::string(kResidueCauses));
  }

  Segmentation CutAt(size_t layers, size_t k) {
    std::vector<uint32_t> begin;
    for (size_t i = 0; i < layers; ++i) begin.push_back(pass_.anchors[pass_.Offset() + i * k]);
    const size_t next = pass_.Offset() + layers * k;
    const uint32_t limit = next < pass_.anchors.size() ? pass_.anchors[next] : o_.size();
    if (!o_.mixers.empty()) {
      const uint32_t block_end =
          pass_.Offset() + 1 < pass_.anchors.size() ? pass_.anchors[pass_.Offset() + 1] : limit;
      const bool late = o_.HasMixer(0, begin[0]);
      const bool inside = k < 2 || o_.HasMixer(begin[0], block_end);
      if (hints_.anchor_is_boundary && !hints_.anchor_offset && (late || !inside)) {
        return RefuseLate(layers, k, late);
      }
      if (!hints_.anchor_is_boundary && (late || !inside)) return CutBack(begin, k);
    } else if (!hints_.anchor_is_boundary && !pass_.norm_anchors) {
      return CutBack(begin, k);
    }
    return FinishLiteral(begin, limit, k, "boundary");
  }

  Segmentation RefuseLate(size_t layers, size_t k, bool late) const {
    return pass_.Refuse(
        fmt::format("the first anchor does not open layer 0: attention {}; {} x {} anchors would "
                    "cut every layer late",
                    late ? "stands before it" : "does not follow it", layers, k),
        "leave out --anchor-boundary, so that boundaries move back to the input norms, or give an "
        "anchor that layer 0 has too");
  }

  /// A period anchor: as many norms back as layer 0 has before it (rule 4).
  Segmentation CutBack(const std::vector<uint32_t>& at, size_t k) {
    if (!misfit_.empty() && !hints_.num_layers) {
      return pass_.Refuse(misfit_, std::string(kResidueCauses));
    }
    if (o_.norms.empty() || at.size() < 2) {
      return pass_.Fail(
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
      return pass_.Fail(
          "no norm stands between the anchors to which the layers' begin could be moved",
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
      return pass_.Refuse(
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
        const size_t at = pass_.Offset() + i * k + j;
        if (at < pass_.anchors.size() && pass_.anchors[at] > blocks.back() &&
            pass_.anchors[at] < stop) {
          blocks.push_back(pass_.anchors[at]);
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
    return pass_.norm_anchors && !pass_.stretches.empty() &&
           MayBePostNorm(o_, pass_.halves, pass_.stretches.front(), hints_) == NormDoubt::kGrave;
  }

  /// The literal cut of --anchor-boundary beside the norms at which layers open.
  bool DiffersFromReading(const std::vector<uint32_t>& begin) const {
    for (const Stretch& stretch : pass_.stretches) {
      const Reading reading = Read(o_, pass_.halves, stretch, ReadingKind::kPair, hints_);
      if (reading.begin.size() == begin.size()) return reading.begin != begin;
    }
    return false;
  }

  const AnchoredPass& pass_;
  const Outline& o_;
  const SegmentHints& hints_;
  const std::string& misfit_;
};

}  // namespace

Segmentation CutAtAnchors(const AnchoredPass& pass, const std::string& misfit) {
  return LiteralCutter(pass, misfit).Run();
}

}  // namespace layerscope::layers
