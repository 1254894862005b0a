#include "src/layers/name_period.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/hash.h"

namespace layerscope::layers {
namespace {

/// Names a run has: long enough to be rare inside a layer, short enough to fit between two kernels
/// that differ from layer to layer.
constexpr size_t kRun = 5;
/// A distance under this share of all repeats says nothing.
constexpr double kMinShare = 0.15;
/// Layers in a repeating pattern of types (sliding and full attention, dense and MoE).
constexpr size_t kMaxPattern = 12;

}  // namespace

NamePeriod FindNamePeriod(std::span<const Token> tokens) {
  if (tokens.size() < 2 * kRun) return {};
  std::vector<std::pair<uint64_t, uint32_t>> runs;
  runs.reserve(tokens.size());
  for (size_t i = 0; i + kRun <= tokens.size(); ++i) {
    uint64_t hash = 0;
    for (size_t j = 0; j < kRun; ++j) {
      hash = base::Mix(hash * 3 + tokens[i + j].name + 0x9e3779b97f4a7c15ULL);
    }
    runs.emplace_back(hash, static_cast<uint32_t>(i));
  }
  std::sort(runs.begin(), runs.end());
  std::vector<uint32_t> distances;
  distances.reserve(runs.size());
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first == runs[i - 1].first) {
      distances.push_back(runs[i].second - runs[i - 1].second);
    }
  }
  if (distances.empty()) return {};
  std::sort(distances.begin(), distances.end());
  NamePeriod period;
  size_t best = 0;
  for (size_t i = 0, j = 0; i < distances.size(); i = j) {
    while (j < distances.size() && distances[j] == distances[i]) ++j;
    if (j - i >= best) best = j - i, period.length = distances[i];
  }
  period.share = static_cast<double>(best) / static_cast<double>(distances.size());
  return period;
}

PeriodVerdict CheckPeriod(const NamePeriod& period, std::span<const uint32_t> begin, uint32_t end) {
  if (period.length == 0 || period.share < kMinShare || begin.size() < 3) {
    return PeriodVerdict::kSilent;
  }
  const auto at = [&](size_t i) { return i < begin.size() ? begin[i] : end; };
  for (size_t q = 1; q <= kMaxPattern && q < begin.size(); ++q) {
    size_t equal = 0;
    const size_t n = begin.size() + 1 - q;
    for (size_t i = 0; i < n; ++i) equal += at(i + q) - at(i) == period.length ? 1 : 0;
    if (equal * 10 >= n * 3) return PeriodVerdict::kAgrees;
  }
  const uint32_t average = (end - begin.front()) / static_cast<uint32_t>(begin.size());
  return period.length < average ? PeriodVerdict::kShorter : PeriodVerdict::kDiffers;
}

}  // namespace layerscope::layers
