#include "src/layers/likeness.h"

#include <algorithm>
#include <unordered_map>

#include "src/base/hash.h"

namespace layerscope::layers {
namespace {

/// A layer of its own kernel sequence is compared with this many other sequences.
constexpr size_t kMaxCompared = 12;
/// From here on two layers are alike: layer 0's other norm and a few kernels may differ.
constexpr double kAlike = 0.8;

uint64_t HashNames(std::span<const Token> tokens) {
  uint64_t hash = 0x243f6a8885a308d3ULL;
  for (const Token& token : tokens) {
    if (!token.side_stream) hash = base::Mix(hash ^ (token.name + 0x9e3779b97f4a7c15ULL));
  }
  return hash;
}

std::vector<uint32_t> SortedNames(std::span<const Token> tokens) {
  std::vector<uint32_t> names;
  names.reserve(tokens.size());
  for (const Token& token : tokens) {
    if (!token.side_stream) names.push_back(token.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

double Shared(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  size_t i = 0, j = 0, shared = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      ++shared, ++i, ++j;
    } else {
      a[i] < b[j] ? ++i : ++j;
    }
  }
  const size_t longer = std::max(a.size(), b.size());
  return longer == 0 ? 1.0 : static_cast<double>(shared) / static_cast<double>(longer);
}

}  // namespace

Likeness CompareLayers(std::span<const Token> tokens, std::span<const uint32_t> begin,
                       uint32_t end) {
  const size_t n = begin.size();
  const auto layer = [&](size_t i) {
    const uint32_t stop = i + 1 < n ? begin[i + 1] : end;
    return tokens.subspan(begin[i], stop - begin[i]);
  };
  Likeness result;
  std::unordered_map<uint64_t, uint32_t, base::MixHash> numbers;
  std::vector<size_t> count;
  std::vector<size_t> example;
  for (size_t i = 0; i < n; ++i) {
    const auto [it, is_new] =
        numbers.emplace(HashNames(layer(i)), static_cast<uint32_t>(count.size()));
    if (is_new) count.push_back(0), example.push_back(i);
    ++count[it->second];
    result.signature.push_back(it->second);
  }
  result.n_signatures = count.size();

  std::vector<uint32_t> by_count(count.size());
  for (uint32_t s = 0; s < by_count.size(); ++s) by_count[s] = s;
  const size_t compared = std::min(by_count.size(), kMaxCompared);
  std::partial_sort(
      by_count.begin(), by_count.begin() + static_cast<std::ptrdiff_t>(compared), by_count.end(),
      [&](uint32_t a, uint32_t b) { return count[a] != count[b] ? count[a] > count[b] : a < b; });
  std::vector<std::vector<uint32_t>> names;
  for (size_t c = 0; c < compared; ++c) names.push_back(SortedNames(layer(example[by_count[c]])));

  size_t alike = 0;
  for (size_t i = 0; i < n; ++i) {
    if (count[result.signature[i]] > 1) {
      ++alike;
      continue;
    }
    const std::vector<uint32_t> own = SortedNames(layer(i));
    double best = 0;
    for (size_t c = 0; c < compared; ++c) {
      if (by_count[c] != result.signature[i]) best = std::max(best, Shared(own, names[c]));
    }
    alike += best >= kAlike ? 1 : 0;
    if (best < result.worst) result.worst = best, result.worst_layer = i;
  }
  result.alike = n == 0 ? 0 : static_cast<double>(alike) / static_cast<double>(n);
  return result;
}

double SharedNames(std::span<const Token> a, std::span<const Token> b) {
  return Shared(SortedNames(a), SortedNames(b));
}

uint32_t CommonSuffix(std::span<const Token> a, std::span<const Token> b) {
  uint32_t n = 0;
  while (n < a.size() && n < b.size() && a[a.size() - 1 - n].name == b[b.size() - 1 - n].name) ++n;
  return n;
}

uint32_t CommonPrefix(std::span<const Token> a, std::span<const Token> b) {
  uint32_t n = 0;
  while (n < a.size() && n < b.size() && a[n].name == b[n].name) ++n;
  return n;
}

}  // namespace layerscope::layers
