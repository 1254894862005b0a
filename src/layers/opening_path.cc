#include "src/layers/opening_path.h"

#include <algorithm>
#include <limits>

namespace layerscope::layers {
namespace {

/// Norms before the first mixer that may open layer 0.
constexpr size_t kMaxCandidates = 16;
constexpr uint32_t kAnyNorm = std::numeric_limits<uint32_t>::max();

}  // namespace

std::vector<uint32_t> PathNames(const Outline& o, uint32_t from, uint32_t to) {
  std::vector<uint32_t> names;
  from = std::max(from, to > kMaxPath ? to - kMaxPath : 0);
  for (uint32_t i = from; i < to; ++i) {
    const Token& token = o.tokens[i];
    if (token.side_stream) continue;
    names.push_back(token.traits.kind == KernelClass::kNorm ? kAnyNorm : token.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

size_t Difference(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  size_t i = 0, j = 0, differing = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      ++i, ++j;
    } else {
      ++differing;
      a[i] < b[j] ? ++i : ++j;
    }
  }
  return differing + (a.size() - i) + (b.size() - j);
}

size_t OpeningOfFirst(const Outline& o, uint32_t mixer, const std::vector<uint32_t>& like,
                      bool projected, bool apart) {
  const size_t end = o.FirstNormFrom(mixer);
  const size_t begin = end > kMaxCandidates ? end - kMaxCandidates : 0;
  size_t best = kNone;
  size_t best_difference = kNone;
  for (size_t n = end; n-- > begin;) {
    if (projected && !o.HasGemm(o.norms[n].end, mixer)) continue;
    if (!apart && o.HasApart(o.norms[n].end, mixer)) break;
    const size_t difference = Difference(PathNames(o, o.norms[n].begin, mixer), like);
    if (difference < best_difference) {
      best = n;
      best_difference = difference;
    }
  }
  return best;
}

size_t GroupSizeBackwards(const Outline& o, size_t last) {
  size_t n = 1;
  while (n <= last && n < kMaxCandidates) {
    const uint32_t from = o.norms[last - n].end;
    const uint32_t to = o.norms[last - n + 1].begin;
    if (o.HasGemm(from, to) || o.HasFfn(from, to) || o.HasApart(from, to)) break;
    ++n;
  }
  return n;
}

}  // namespace layerscope::layers
