#include "src/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace layerscope::base {
namespace {

/// Optimal string alignment distance, three rows at a time.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

/// A word of so many letters is the beginning of a longer one before it is another word misspelt.
constexpr size_t kBeginning = 3;

/// The shortest candidate that begins with `word`, of several the first.
std::string_view BegunBy(std::string_view word, std::span<const std::string> candidates) {
  std::string_view best;
  if (word.size() < kBeginning) return best;
  for (const std::string& candidate : candidates) {
    if (!candidate.starts_with(word) || candidate.size() == word.size()) continue;
    if (best.empty() || candidate.size() < best.size()) best = candidate;
  }
  return best;
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string_view begun = BegunBy(word, candidates);
  if (!begun.empty()) return begun;
  std::string_view best;
  size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    const size_t allowed = std::max<size_t>(2, std::max(word.size(), candidate.size()) / 3);
    if (distance > allowed || distance >= std::max(word.size(), candidate.size())) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  if (nearest.empty()) return {};
  return "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace layerscope::base
