#include "src/layers/halves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/layers/opening_path.h"

namespace layerscope::layers {
namespace {

/// Halves that are asked how layers open.
constexpr size_t kMaxSiblings = 64;

/// A group of norms that may open a block: indices [first, end) of Outline::norms.
struct NormGroup {
  size_t first = kNone;
  size_t end = kNone;
  bool found() const { return first != kNone; }
};

/// The norms behind the last FFN kernel that has norms behind it, before `mixer`.
NormGroup GroupAfterFfn(const Outline& o, uint32_t from, uint32_t mixer, uint32_t* last_ffn) {
  size_t f = o.FirstFfnFrom(mixer);
  while (f > 0 && o.ffn[f - 1] >= from) {
    const uint32_t at = o.ffn[--f];
    const size_t first = o.FirstNormFrom(at + 1);
    if (first >= o.norms.size() || o.norms[first].begin >= mixer) continue;
    *last_ffn = at;
    return {first, NormGroupEnd(o, first, mixer)};
  }
  return {};
}

/// Groups of norms in [from, mixer) with a GEMM before and behind them.
std::vector<NormGroup> ResidualGroups(const Outline& o, uint32_t from, uint32_t mixer) {
  std::vector<NormGroup> groups;
  size_t first = o.FirstNormFrom(from);
  while (first < o.norms.size() && o.norms[first].begin < mixer && groups.size() < 8) {
    const size_t end = NormGroupEnd(o, first, mixer);
    if (o.HasGemm(from, o.norms[first].begin) && o.HasGemm(o.norms[end - 1].end, mixer)) {
      groups.push_back({first, end});
    }
    first = end;
  }
  return groups;
}

struct Gap {
  Separation kind = Separation::kEnd;
  NormGroup opening;
  uint32_t last_ffn = 0;
};

Gap LookBetween(const Outline& o, uint32_t from, uint32_t mixer) {
  Gap gap;
  gap.opening = GroupAfterFfn(o, from, mixer, &gap.last_ffn);
  if (gap.opening.found()) {
    gap.kind = Separation::kFfn;
    return gap;
  }
  if (o.HasFfn(from, mixer)) return gap;
  const std::vector<NormGroup> groups = ResidualGroups(o, from, mixer);
  if (groups.empty()) return gap;
  gap.kind = groups.size() == 1 ? Separation::kBare : Separation::kUnknown;
  gap.opening = groups[std::min<size_t>(groups.size() - 1, 1)];
  return gap;
}

class HalfFinder {
 public:
  explicit HalfFinder(const Outline& outline) : o_(outline) {}

  std::vector<Half> Find() {
    FindRuns();
    if (halves_.empty()) return {};
    usual_ = UsualGroup();
    OpenFirst();
    for (size_t i = 1; i < halves_.size(); ++i) OpenLater(i);
    for (size_t i = 0; i < halves_.size(); ++i) DescribeFfn(i);
    return std::move(halves_);
  }

 private:
  void FindRuns() {
    for (const MixPoint& mixer : o_.mixers) {
      if (!halves_.empty()) {
        const Gap gap = LookBetween(o_, halves_.back().mix_end, mixer.at);
        if (gap.kind == Separation::kEnd) {
          const uint32_t from = halves_.back().mix_end;
          halves_.back().swallows |= o_.HasFfn(from, mixer.at) ||
                                     (from < mixer.at && o_.GemmsBetween(from, mixer.at) >= 2);
          Extend(mixer);
          continue;
        }
        halves_.back().after = gap.kind;
        halves_.back().last_ffn = gap.last_ffn;
        halves_.back().has_ffn = gap.kind == Separation::kFfn;
        openings_.push_back(gap.opening);
      } else {
        openings_.push_back({});
      }
      Half half;
      half.mix_begin = mixer.at;
      halves_.push_back(half);
      Extend(mixer);
    }
  }

  void Extend(const MixPoint& mixer) {
    halves_.back().mix_end = mixer.next;
    halves_.back().state_space |= !mixer.seam && o_.tokens[mixer.at].traits.state_space;
    halves_.back().linear |= !mixer.seam && o_.tokens[mixer.at].traits.linear;
  }

  /// How a half opens: norms together, and kernels from the last of them to the mixer.
  uint64_t OpeningShape(size_t i) const {
    const NormGroup& group = openings_[i];
    const uint64_t size = group.end - group.first;
    return (size << 32) | (halves_[i].mix_begin - o_.norms[group.end - 1].begin);
  }

  /// A later half that opens as most of those do whose mixer is that of the first one; one layer
  /// may lack a kernel.
  size_t Sibling() const {
    std::map<uint64_t, std::pair<size_t, size_t>> shapes;  // -> count, first half
    const size_t limit = std::min(halves_.size(), kMaxSiblings);
    for (const bool same_mixer : {true, false}) {
      for (size_t i = 1; i < limit; ++i) {
        if (same_mixer && MixerName(i) != MixerName(0)) continue;
        auto& shape = shapes.emplace(OpeningShape(i), std::pair(size_t{0}, i)).first->second;
        ++shape.first;
      }
      if (!shapes.empty()) break;
    }
    std::pair<size_t, size_t> best = {0, 1};
    for (const auto& [key, shape] : shapes) {
      if (shape.first > best.first) best = shape;
    }
    return best.second;
  }

  /// Norms that stand together before most halves.
  size_t UsualGroup() const {
    std::map<size_t, size_t> sizes;
    for (size_t i = 1; i < halves_.size(); ++i) ++sizes[openings_[i].end - openings_[i].first];
    std::pair<size_t, size_t> best = {1, 0};
    for (const auto& [size, count] : sizes) {
      if (count > best.second) best = {size, count};
    }
    return best.first;
  }

  uint32_t MixerName(size_t i) const {
    const uint32_t at = halves_[i].mix_begin;
    return at < o_.size() ? o_.tokens[at].name : 0;
  }

  void OpenFirst() {
    Half& first = halves_[0];
    if (halves_.size() < 2) {
      OpenOnly();
      return;
    }
    const size_t sibling = Sibling();
    const NormGroup& group = openings_[sibling];
    const uint32_t from = o_.norms[group.end - 1].begin;
    const auto like = PathNames(o_, from, halves_[sibling].mix_begin);
    const bool projected = o_.HasGemm(from, halves_[sibling].mix_begin);
    const bool apart = o_.HasApart(from, halves_[sibling].mix_begin);
    const size_t best = OpeningOfFirst(o_, first.mix_begin, like, projected, apart);
    if (best == kNone) {
      OpenWithoutNorm();
      return;
    }
    k_ = std::min(GroupSizeBackwards(o_, best), group.end - group.first);
    first.begin = o_.norms[best - (k_ - 1)].begin;
    first.opened = true;
    first.n_opening = static_cast<uint32_t>(k_);
    FindSkip(sibling, o_.norms[best].begin);
  }

  /// A norm inside the FFN (before its last projection) is no opening: then layer 0's path to its
  /// mixer is like that from a later group of norms.
  void FindSkip(size_t sibling, uint32_t own_opening) {
    const auto own = PathNames(o_, own_opening, halves_[0].mix_begin);
    const uint32_t mixer = halves_[sibling].mix_begin;
    NormGroup group = openings_[sibling];
    size_t best = Difference(PathNames(o_, o_.norms[group.end - 1].begin, mixer), own);
    for (size_t skipped = 1; skipped <= 2; ++skipped) {
      group = NextGroup(group, mixer);
      if (!group.found()) return;
      const size_t difference =
          Difference(PathNames(o_, o_.norms[group.end - 1].begin, mixer), own);
      if (difference < best) best = difference, skip_ = skipped;
    }
  }

  /// The next group of norms that has a GEMM behind it.
  NormGroup NextGroup(const NormGroup& group, uint32_t mixer) const {
    if (group.end >= o_.norms.size() || o_.norms[group.end].begin >= mixer) return {};
    const NormGroup next = {group.end, NormGroupEnd(o_, group.end, mixer)};
    return o_.HasGemm(o_.norms[next.end - 1].end, mixer) ? next : NormGroup{};
  }

  /// A single run: the last norm before the mixer that has a GEMM between.
  void OpenOnly() {
    Half& first = halves_[0];
    for (size_t n = 0; n < o_.norms.size(); ++n) {
      const uint32_t behind = o_.norms[n].end;
      if (!o_.HasGemm(behind, first.mix_begin)) break;
      if (o_.HasApart(behind, first.mix_begin)) continue;
      NormGroup group = {n, NormGroupEnd(o_, n, first.mix_begin)};
      // A draft model norms embedding and hidden state, then projects them.
      const NormGroup next = NextGroup(group, first.mix_begin);
      if (group.end - group.first > 1 && next.found()) group = next;
      first.begin = o_.norms[group.end - 1].begin;
      first.opened = true;
      return;
    }
    OpenWithoutNorm();
  }

  void OpenWithoutNorm() {
    Half& first = halves_[0];
    uint32_t at = first.mix_begin;
    const uint32_t limit = at > kMaxPath ? at - kMaxPath : 0;
    for (uint32_t i = at; i-- > limit;) {
      if (o_.tokens[i].traits.kind == KernelClass::kGemm) at = i;
    }
    first.begin = at;
    k_ = 1;
    if (ClosesWithNorms()) {
      k_ = 0;
      first.opened = first.closes = true;
    }
  }

  /// Blocks that end with their norm (OLMo 2): layer 0 has none to open it, and the last layer has
  /// its own and the final norm.
  bool ClosesWithNorms() const {
    if (halves_.size() < 3) return false;
    uint32_t last_ffn = 0;
    const NormGroup tail = GroupAfterFfn(o_, halves_.back().mix_end, o_.size(), &last_ffn);
    return tail.found() && tail.end - tail.first == usual_ + 1;
  }

  /// The first kernel behind a norm that is no residual add and no copy.
  uint32_t BehindNorm(size_t norm, uint32_t limit) const {
    uint32_t at = o_.norms[norm].end;
    while (at < limit) {
      const KernelClass kind = o_.tokens[at].traits.kind;
      if (kind != KernelClass::kElementwise && kind != KernelClass::kCopy &&
          kind != KernelClass::kCommunication) {
        break;
      }
      ++at;
    }
    return at;
  }

  void OpenLater(size_t i) {
    const NormGroup first = openings_[i];
    NormGroup group = first;
    for (size_t skipped = 0; skipped < skip_; ++skipped) {
      const NormGroup next = NextGroup(group, halves_[i].mix_begin);
      if (next.found()) group = next;
    }
    // A layer that lacks its first projection shows the norms of queries and keys in the group.
    const size_t size = std::min(group.end - group.first, usual_);
    const size_t k = std::min(std::max<size_t>(k_, 1), size);
    Half& half = halves_[i];
    half.closes = k_ == 0;
    half.begin = half.closes ? BehindNorm(group.first + size - 1, half.mix_begin)
                             : o_.norms[group.first + size - k].begin;
    half.opened = true;
    half.n_together = static_cast<uint32_t>(group.end - group.first);
    half.odd_opening = !half.closes && o_.HasGemm(o_.norms[first.first].end, half.begin);
  }

  uint32_t EndOf(size_t i) const {
    return i + 1 < halves_.size() ? halves_[i + 1].begin : o_.size();
  }

  void DescribeFfn(size_t i) {
    Half& half = halves_[i];
    const uint32_t end = EndOf(i);
    size_t f = o_.FirstFfnFrom(half.mix_end);
    uint32_t previous = 0;
    for (; f < o_.ffn.size() && o_.ffn[f] < end; ++f) {
      const uint32_t at = o_.ffn[f];
      if (half.after == Separation::kFfn && at > half.last_ffn) break;
      half.experts |= o_.tokens[at].traits.experts;
      if (half.n_ffn_blocks == 0) {
        OpenFfn(&half, at);
        half.n_ffn_blocks = 1;
      } else if (o_.HasNorm(previous, at)) {
        ++half.n_ffn_blocks;
      }
      previous = at;
    }
  }

  void OpenFfn(Half* half, uint32_t first_ffn) {
    const size_t end = o_.FirstNormFrom(first_ffn);
    if (end == 0 || o_.norms[end - 1].begin < half->mix_end) return;
    size_t first = end - 1;
    while (end - first < std::max<size_t>(k_, 1) && first > 0 &&
           o_.norms[first - 1].begin >= half->mix_end &&
           !o_.HasGemm(o_.norms[first - 1].end, o_.norms[first].begin)) {
      --first;
    }
    half->ffn_open = o_.norms[first].begin;
    half->has_ffn_norm = true;
  }

  const Outline& o_;
  std::vector<Half> halves_;
  std::vector<NormGroup> openings_;  ///< by half; none for the first
  size_t k_ = 1;                     ///< norms that open a block together
  size_t usual_ = 1;                 ///< norms that stand together before most halves
  size_t skip_ = 0;                  ///< groups of norms inside the FFN
};

}  // namespace

size_t NormGroupEnd(const Outline& outline, size_t first, uint32_t limit) {
  size_t end = first + 1;
  while (end < outline.norms.size() && outline.norms[end].begin < limit) {
    const uint32_t from = outline.norms[end - 1].end;
    const uint32_t to = outline.norms[end].begin;
    if (outline.HasGemm(from, to) || outline.HasFfn(from, to)) break;
    ++end;
  }
  return end;
}

std::vector<Half> FindHalves(const Outline& outline) {
  return HalfFinder(outline).Find();
}

}  // namespace layerscope::layers
