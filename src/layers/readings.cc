#include "src/layers/readings.h"

#include <algorithm>

#include "src/layers/layer_ends.h"
#include "src/layers/opening_path.h"

namespace layerscope::layers {
namespace {

/// More gaps than this with an embedding or sampler in them: each layer has one.
constexpr size_t kMaxParts = 4;

void AddBlock(Reading* reading, uint32_t begin, size_t half) {
  if (!reading->begin.empty() && begin <= reading->begin.back()) return;
  reading->begin.push_back(begin);
  reading->first_half.push_back(half);
}

bool OpensPair(const std::vector<Half>& halves, const Stretch& stretch, size_t i) {
  return i == stretch.first || halves[i - 1].after != Separation::kBare || !stretch.has_ffn;
}

/// A stretch behind an embedding opens at its own first norm, not at the final norm before.
uint32_t OpeningOf(const Outline& o, const Half& half, const Stretch& stretch) {
  if (half.begin >= stretch.from) return half.begin;
  size_t norm = o.FirstNormFrom(stretch.from);
  while (norm < o.norms.size() && o.norms[norm].begin < half.mix_begin) {
    const size_t end = NormGroupEnd(o, norm, half.mix_begin);
    if (o.HasGemm(o.norms[end - 1].end, half.mix_begin)) return o.norms[end - 1].begin;
    norm = end;
  }
  return half.mix_begin;
}

void DropFirst(Reading* reading) {
  reading->begin.erase(reading->begin.begin());
  reading->first_half.erase(reading->first_half.begin());
}

/// True when the norms that end at `norm` are those of queries and keys: a mixer follows with no
/// projection between.
bool LeadsToMixer(const Outline& o, const NormUnit& norm, uint32_t mixer) {
  return norm.begin < mixer && !o.HasGemm(norm.end, mixer) && !o.HasFfn(norm.end, mixer);
}

/// Where groups of norms open blocks in a stretch; norms of queries and keys open none.
std::vector<uint32_t> BlockOpenings(const Outline& o, const Stretch& stretch, uint32_t from) {
  std::vector<uint32_t> openings;
  size_t norm = o.FirstNormFrom(from);
  while (norm < o.norms.size() && o.norms[norm].begin < stretch.limit) {
    const size_t end = NormGroupEnd(o, norm, stretch.limit);
    const size_t mixer = o.FirstMixerFrom(o.norms[end - 1].end);
    const bool inner =
        mixer < o.mixers.size() && LeadsToMixer(o, o.norms[end - 1], o.mixers[mixer].at);
    if (!inner) openings.push_back(o.norms[norm].begin);
    norm = end;
  }
  return openings;
}

/// The first of the FFN blocks that stand before a stretch's first mixer (a pattern that begins
/// with an FFN); `begin`, where the mixer's own block opens, when there is none.
uint32_t FirstBlock(const Outline& o, const Stretch& stretch, uint32_t begin) {
  size_t norm = o.FirstNormFrom(begin);
  while (norm > 0) {
    const size_t first = norm - GroupSizeBackwards(o, norm - 1);
    const uint32_t earlier = o.norms[first].begin;
    const uint32_t behind = o.norms[norm - 1].end;
    if (earlier < stretch.from || o.HasApart(behind, begin) || !o.HasFfn(behind, begin)) break;
    begin = earlier;
    norm = first;
  }
  return begin;
}

/// One block a layer: every group of norms opens one, as long as mixers or FFN kernels follow.
void ReadBlocks(const Outline& o, const std::vector<Half>& halves, const Stretch& stretch,
                Reading* reading) {
  const uint32_t first = FirstBlock(o, stretch, OpeningOf(o, halves[stretch.first], stretch));
  const auto openings = BlockOpenings(o, stretch, first);
  size_t half = stretch.first;
  for (size_t i = 0; i < openings.size(); ++i) {
    const uint32_t begin = openings[i];
    const uint32_t stop = i + 1 < openings.size() ? openings[i + 1] : stretch.limit;
    while (half + 1 < stretch.end && halves[half + 1].begin <= begin) ++half;
    if (o.HasMixer(begin, stop) || o.HasFfn(begin, stop)) AddBlock(reading, begin, half);
  }
}

void ReadPairs(const Outline& outline, const std::vector<Half>& halves, const Stretch& stretch,
               Reading* reading) {
  size_t pairs = 0;
  for (size_t i = stretch.first; i < stretch.end; ++i) {
    const Half& half = halves[i];
    const uint32_t begin = i == stretch.first ? OpeningOf(outline, half, stretch) : half.begin;
    if (!OpensPair(halves, stretch, i)) continue;
    if (reading->kind == ReadingKind::kPair || pairs % 2 == 0) AddBlock(reading, begin, i);
    ++pairs;
  }
}

}  // namespace

std::vector<Stretch> FindStretches(const Outline& outline, const std::vector<Half>& halves) {
  std::vector<Stretch> stretches = {{0, halves.size(), 0, outline.size()}};
  for (size_t i = 1; i < halves.size(); ++i) {
    const uint32_t from = halves[i - 1].mix_end;
    const auto apart = std::lower_bound(outline.apart.begin(), outline.apart.end(), from);
    if (apart == outline.apart.end() || *apart >= halves[i].mix_begin) continue;
    stretches.back().end = i;
    stretches.back().limit = *apart;
    stretches.push_back({i, halves.size(), *apart, outline.size()});
    if (stretches.size() > kMaxParts + 1) {
      stretches = {{0, halves.size(), 0, outline.size()}};
      break;
    }
  }
  for (Stretch& stretch : stretches) {
    stretch.has_ffn = outline.HasFfn(halves[stretch.first].mix_end, stretch.limit);
  }
  return stretches;
}

Reading Read(const Outline& outline, const std::vector<Half>& halves, const Stretch& stretch,
             ReadingKind kind, const SegmentHints& hints) {
  Reading reading;
  reading.kind = kind;
  reading.stretch = stretch;
  if (kind == ReadingKind::kBlock) {
    ReadBlocks(outline, halves, stretch, &reading);
  } else {
    ReadPairs(outline, halves, stretch, &reading);
  }
  if (reading.begin.empty()) return reading;
  const OuterEnds ends = FindOuterEnds(outline, reading.begin, stretch.from, stretch.limit, hints);
  reading.end = ends.end;
  reading.cut_first = ends.cut_first;
  reading.cut_last = ends.cut_last;
  reading.odd_last = ends.odd_last;
  reading.tail_may_be_layer = ends.tail_may_be_layer;
  if (ends.tail_is_layer) {
    AddBlock(&reading, ends.end, stretch.end);
    reading.end = stretch.limit;
  }
  if (ends.drop_first) DropFirst(&reading);
  return reading;
}

bool MayBeCut(const Reading& reading, const SegmentHints& hints) {
  return reading.cut_first || reading.cut_last || hints.may_be_cut_first || hints.may_be_cut_last;
}

Segmentation CutAsRead(const std::vector<Half>& halves, const Reading& reading) {
  Segmentation cut;
  cut.begin = reading.begin;
  cut.end = reading.end;
  cut.cut_first = reading.cut_first;
  cut.cut_last = reading.cut_last;
  const size_t n = reading.begin.size();
  for (size_t layer = 0; layer < n; ++layer) {
    std::vector<uint32_t> blocks = {reading.begin[layer]};
    const uint32_t end = layer + 1 < n ? reading.begin[layer + 1] : reading.end;
    const size_t last = layer + 1 < n ? reading.first_half[layer + 1] : halves.size();
    for (size_t i = reading.first_half[layer]; i < last; ++i) {
      const Half& half = halves[i];
      for (const uint32_t at : {half.begin, half.has_ffn_norm ? half.ffn_open : 0}) {
        if (at > blocks.back() && at < end) blocks.push_back(at);
      }
    }
    cut.block_begin.push_back(std::move(blocks));
  }
  return cut;
}

}  // namespace layerscope::layers
