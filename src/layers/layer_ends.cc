#include "src/layers/layer_ends.h"

#include <algorithm>

#include "src/layers/halves.h"
#include "src/layers/likeness.h"

namespace layerscope::layers {
namespace {

/// Earlier layers that the last one is compared with.
constexpr size_t kMaxSiblings = 12;
/// A rest of a layer before the first boundary is believed from this many kernels on.
constexpr uint32_t kMinRest = 3;

struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t size() const { return end - begin; }
};

class EndFinder {
 public:
  EndFinder(const Outline& outline, const std::vector<uint32_t>& begin, uint32_t from,
            uint32_t limit, const SegmentHints& hints)
      : o_(outline), begin_(begin), from_(from), limit_(limit), hints_(hints) {}

  OuterEnds Find() {
    FindEnd();
    FindBegin();
    return ends_;
  }

 private:
  std::span<const Token> Tokens(Range range) const {
    return o_.tokens.subspan(range.begin, range.size());
  }
  Range Layer(size_t i) const { return {begin_[i], begin_[i + 1]}; }

  void FindEnd() {
    const Range rest = {begin_.back(), limit_};
    if (begin_.size() < 2) {
      ends_.end = EndAlone(rest);
      return;
    }
    const Range sibling = ClosestSibling(rest);
    const uint32_t prefix = CommonPrefix(Tokens(rest), Tokens(sibling));
    if (prefix == sibling.size()) {
      ends_.end = TakeCommunication(rest.begin + prefix, sibling);
      LookForCutTail();
      return;
    }
    if (prefix == rest.size()) {
      ends_.end = limit_;
      ends_.cut_last = IsRealLoss({sibling.begin + prefix, sibling.end});
      return;
    }
    FollowTail(rest, sibling);
    if (!ends_.cut_last) LookForCutTail();
  }

  /// The earlier layer that the last one repeats, else the one that shares most kernels with it.
  Range ClosestSibling(Range rest) const {
    const size_t n = begin_.size() - 1;
    const size_t compared = std::min(n, kMaxSiblings);
    Range best;
    uint32_t longest = 0;
    for (size_t back = 1; back <= compared; ++back) {
      const Range layer = Layer(n - back);
      const uint32_t prefix = CommonPrefix(Tokens(rest), Tokens(layer));
      const bool whole = prefix == layer.size() || prefix == rest.size();
      if (whole && prefix > longest) best = layer, longest = prefix;
    }
    if (longest > 0) return best;
    double most = -1;
    for (size_t back = 1; back <= compared; ++back) {
      const Range layer = Layer(n - back);
      const Range own = {rest.begin, std::min(rest.end, rest.begin + layer.size())};
      const double shared = SharedNames(Tokens(own), Tokens(layer));
      if (shared > most) best = layer, most = shared;
    }
    return best;
  }

  /// The last FFN kernel or mixer of a range, at most `norms` norms behind its begin.
  uint32_t Landmark(Range range, size_t norms) const {
    const size_t limit_norm = o_.FirstNormFrom(range.begin) + norms;
    const uint32_t stop =
        limit_norm < o_.norms.size() ? std::min(range.end, o_.norms[limit_norm].begin) : range.end;
    for (uint32_t i = stop; i-- > range.begin;) {
      const Token& token = o_.tokens[i];
      if (token.side_stream) continue;
      if (token.traits.kind == KernelClass::kFfn || token.traits.kind == KernelClass::kMixer) {
        return i;
      }
    }
    return range.begin;
  }

  /// Behind the last mixer of a range before `limit`; its begin when it holds none. Hybrids differ
  /// in the norms before their mixers, not behind.
  uint32_t BehindMixers(Range range, uint32_t limit) const {
    const size_t mixer = o_.FirstMixerFrom(std::min(range.end, limit));
    return mixer == 0 ? range.begin : std::max(range.begin, o_.mixers[mixer - 1].next);
  }

  /// The last kernel of a layer prepares the next layer's norm, as it does before a norm inside the
  /// layer; the last layer has nothing to prepare.
  bool IsNormHelper(Range layer) const {
    const uint32_t name = o_.tokens[layer.end - 1].name;
    for (size_t n = o_.FirstNormFrom(layer.begin + 1); n < o_.norms.size(); ++n) {
      const uint32_t begin = o_.norms[n].begin;
      if (begin >= layer.end) break;
      if (o_.tokens[begin - 1].name == name) return true;
    }
    return false;
  }

  /// Rule 6 where the last layer differs from its siblings: from the last FFN kernel on.
  void FollowTail(Range rest, Range sibling) {
    const uint32_t mark = Landmark(sibling, o_.norms.size());
    const uint32_t from = BehindMixers(sibling, mark);
    const size_t norms = o_.FirstNormFrom(mark + 1) - o_.FirstNormFrom(from);
    const uint32_t behind = BehindMixers(rest, limit_);
    if (behind >= limit_) {  // Nothing follows the last layer's mixer, and siblings go on.
      ends_.end = limit_;
      ends_.odd_last = true;
      ends_.cut_last = hints_.may_be_cut_last;
      return;
    }
    const uint32_t own = Landmark({behind, limit_}, norms);
    uint32_t p = own + 1;
    uint32_t q = mark + 1;
    while (p < limit_ && q < sibling.end) {
      const uint32_t at = NextLike(p, {q, sibling.end});
      if (at == sibling.end) break;
      ++p;
      q = at + 1;
    }
    if (p == limit_ && q < sibling.end) ends_.cut_last = IsRealLoss({q, sibling.end});
    // A last layer that goes on with kernels its siblings lack, and not with the final norm.
    const bool helper = q + 1 == sibling.end && IsNormHelper(sibling);
    const bool breaks_off =
        q < sibling.end && p < limit_ && !helper &&
        (o_.HasNorm(q, sibling.end) ||
         (!o_.HasNorm(p, p + 1) && o_.tokens[p].traits.kind != KernelClass::kCommunication));
    ends_.odd_last = breaks_off || o_.tokens[own].traits.kind != o_.tokens[mark].traits.kind;
    if (ends_.odd_last && hints_.may_be_cut_last) ends_.cut_last = true;
    ends_.end = ends_.cut_last ? limit_ : TakeCommunication(p, sibling);
  }

  /// Where in the rest of the sibling the kernel at `p` stands; layers of another FFN end alike,
  /// but not all of their kernels do. A norm must come right now: a later one is another norm.
  uint32_t NextLike(uint32_t p, Range sibling) const {
    if (Follows(o_.tokens[p], o_.tokens[sibling.begin])) return sibling.begin;
    if (o_.InNorm(p)) return sibling.end;
    for (uint32_t q = sibling.begin + 1; q < sibling.end && !o_.InNorm(q); ++q) {
      if (o_.tokens[q].name == o_.tokens[p].name) return q;
    }
    return sibling.end;
  }

  static bool Follows(const Token& own, const Token& sibling) {
    if (own.name == sibling.name) return true;
    const KernelClass kind = own.traits.kind;
    if (kind != sibling.traits.kind) return false;
    return kind == KernelClass::kGemm || kind == KernelClass::kCommunication ||
           kind == KernelClass::kFfn || kind == KernelClass::kQuant;
  }

  /// Communication right behind the FFN stands in for the siblings' fused all-reduce and norm.
  uint32_t TakeCommunication(uint32_t end, Range sibling) const {
    for (uint32_t i = sibling.end; i-- > sibling.begin;) {
      const KernelClass kind = o_.tokens[i].traits.kind;
      if (kind == KernelClass::kCommunication) return end;
      if (kind == KernelClass::kGemm || kind == KernelClass::kFfn) break;
    }
    const auto communicates = [this](uint32_t at) {
      return at < limit_ && o_.tokens[at].traits.kind == KernelClass::kCommunication;
    };
    // A stray kernel of the host's may stand between.
    const bool stray = end < limit_ && !o_.InNorm(end) && !o_.HasGemm(end, end + 1) &&
                       !o_.HasApart(end, end + 1) && communicates(end + 1);
    if (stray && !communicates(end)) ++end;
    while (communicates(end)) ++end;
    return end;
  }

  /// Kernels that the last layer lacks at the end of the window.
  bool IsRealLoss(Range lost) const {
    for (uint32_t i = lost.begin; i < lost.end; ++i) {
      const KernelClass kind = o_.tokens[i].traits.kind;
      const bool heavy = kind == KernelClass::kGemm || kind == KernelClass::kFfn ||
                         kind == KernelClass::kMixer || kind == KernelClass::kNorm;
      if (heavy) return true;
      if (hints_.may_be_cut_last) return true;
    }
    return false;
  }

  /// A window may end before the mixer of its last layer: then the tail begins as a layer does. A
  /// lone norm may open such a layer or be the final one; a norm and a projection are no more than
  /// that where nothing says that the window cuts.
  void LookForCutTail() {
    if (ends_.cut_last || ends_.end >= limit_) return;
    const Range tail = {ends_.end, limit_};
    if (hints_.may_be_cut_last) {
      // A final norm and an output projection are no more than this.
      const bool more = tail.size() > NormSize(tail) + 3 || LeadsToAMixer(tail);
      if (more && !o_.HasApart(tail.begin, tail.end)) ends_.odd_last = true;
    } else if (!LeadsToAMixer(tail)) {
      return;
    }
    const size_t n = begin_.size() - 1;
    for (size_t back = 1; back <= std::min(n, kMaxSiblings); ++back) {
      const Range layer = Layer(n - back);
      if (tail.size() >= layer.size()) continue;
      if (CommonPrefix(Tokens(tail), Tokens(layer)) < tail.size()) continue;
      if (tail.size() <= NormSize(layer)) {
        ends_.tail_may_be_layer = true;
        continue;
      }
      ends_.cut_last = true;
      ends_.tail_is_layer = true;
      ends_.odd_last = ends_.tail_may_be_layer = false;
      return;
    }
  }

  /// Kernels that only a layer has between its norm and its mixer.
  bool LeadsToAMixer(Range range) const {
    return std::any_of(
        o_.tokens.begin() + range.begin, o_.tokens.begin() + range.end, [](const Token& token) {
          const KernelClass kind = token.traits.kind;
          return kind == KernelClass::kRope || kind == KernelClass::kInnerNorm ||
                 kind == KernelClass::kCacheWrite || kind == KernelClass::kMixerHelper;
        });
  }

  /// Kernels of the norms that open a layer: alone they may as well be the final norm.
  uint32_t NormSize(Range layer) const {
    const size_t norm = o_.FirstNormFrom(layer.begin);
    if (norm >= o_.norms.size() || o_.norms[norm].begin >= layer.end) return 1;
    return o_.norms[NormGroupEnd(o_, norm, layer.end) - 1].end - layer.begin;
  }

  /// A single layer: behind its FFN the down projection, a residual add and communication.
  uint32_t EndAlone(Range rest) const {
    uint32_t end = Landmark(rest, o_.norms.size()) + 1;
    bool projected = false;
    for (; end < limit_; ++end) {
      const KernelTraits& traits = o_.tokens[end].traits;
      if (traits.kind == KernelClass::kGemm) {
        if (projected) break;
        projected = true;
      } else if (traits.kind != KernelClass::kCommunication && traits.op != EagerOp::kAdd &&
                 traits.kind != KernelClass::kQuant) {
        break;
      }
    }
    return end;
  }

  void FindBegin() {
    const Range head = {from_, begin_[0]};
    // No model has projections or an FFN before its first layer.
    if (hints_.may_be_cut_first && !o_.HasApart(head.begin, head.end) &&
        (o_.HasFfn(head.begin, head.end) || o_.HasGemm(head.begin, head.end))) {
      ends_.cut_first = true;
    }
    if (begin_.size() < 3) return;
    const Range first = {from_, begin_[1]};
    for (size_t i = 1; i + 1 < begin_.size() && i <= kMaxSiblings; ++i) {
      const Range layer = Layer(i);
      if (first.size() < layer.size() &&
          CommonSuffix(Tokens(first), Tokens(layer)) == first.size() &&
          (hints_.may_be_cut_first || first.size() + 1 < layer.size())) {
        ends_.cut_first = ends_.drop_first = true;
        return;
      }
      if (head.size() == 0 || head.size() >= layer.size()) continue;
      const uint32_t suffix = CommonSuffix(Tokens(head), Tokens(layer));
      if (suffix == head.size() && (hints_.may_be_cut_first || suffix >= kMinRest)) {
        ends_.cut_first = true;
        return;
      }
    }
  }

  const Outline& o_;
  const std::vector<uint32_t>& begin_;
  uint32_t from_;
  uint32_t limit_;
  const SegmentHints& hints_;
  OuterEnds ends_;
};

}  // namespace

OuterEnds FindOuterEnds(const Outline& outline, const std::vector<uint32_t>& begin, uint32_t from,
                        uint32_t limit, const SegmentHints& hints) {
  return EndFinder(outline, begin, from, limit, hints).Find();
}

}  // namespace layerscope::layers
