#include "src/replay/piece_fit.h"

#include <algorithm>
#include <span>
#include <utility>

#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {
namespace {

/// How many elements of sorted `a` are in sorted `b`, each used once.
size_t CountCommon(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  size_t n = 0;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) ++n;
    const bool next_a = a[i] <= b[k];
    const bool next_b = b[k] <= a[i];
    i += next_a ? 1 : 0;
    k += next_b ? 1 : 0;
  }
  return n;
}

/// Below this a piece is not looked at any further: one of a few kernels may differ in one of them,
/// and the forward as a whole is judged elsewhere.
constexpr double kLeastCommon = 0.5;

/// Kernels in another order cost two differences each, beyond those that the names demand. A piece
/// that needs more is not used anyhow (kEnoughAligned is 98 %): 4 % of it, and some in small ones.
constexpr double kMoreDifferences = 0.04;
constexpr double kMoreAtLeast = 8;

constexpr const char* kOtherOrder =
    "its kernels have the capture's names, but their order fits in no way, or in too many";

}  // namespace

int64_t LeastDifferences(const ReplayedSequence& replayed, const RecordedSequence& recorded) {
  const auto n_common = static_cast<int64_t>(CountCommon(replayed.sorted, recorded.sorted));
  return replayed.n_kernels + recorded.n_kernels - 2 * n_common;
}

PieceFit FitByName(const ReplayedSequence& replayed, const RecordedSequence& recorded,
                   bool only_equal) {
  PieceFit fit;
  fit.kernels = replayed.n_kernels;
  const auto n_common = static_cast<int64_t>(CountCommon(replayed.sorted, recorded.sorted));
  const int64_t least_differences = replayed.n_kernels + recorded.n_kernels - 2 * n_common;
  fit.matched = n_common;  // at most
  fit.missing = recorded.n_kernels - n_common;
  fit.differences = least_differences;
  const auto share = [](double part, int64_t of) { return part * static_cast<double>(of); };
  if (n_common == 0 || static_cast<double>(n_common) < share(kLeastCommon, replayed.n_kernels) ||
      static_cast<double>(n_common) < share(kLeastCommon, recorded.n_kernels)) {
    return fit;
  }
  if (only_equal && (least_differences > 0 || !replayed.one_lane)) {
    fit.reason = kTooManyNear;
    return fit;
  }
  const double more = kMoreAtLeast + share(kMoreDifferences, replayed.n_kernels);
  const size_t allowed =
      only_equal ? 0 : static_cast<size_t>(least_differences) + static_cast<size_t>(more);
  SequenceMatch match =
      AlignSequences(replayed.elements, recorded.elements, recorded.places, allowed);
  fit.work = match.work;
  if (!match.aligned) {
    const bool same_names =
        static_cast<double>(n_common) >= share(kEnoughAligned, replayed.n_kernels);
    if (only_equal || same_names) fit.reason = only_equal ? kTooManyNear : kOtherOrder;
    return fit;
  }
  fit.node_of = std::move(match.recorded_of);
  fit.matched = match.n_matched;
  fit.uncertain = match.n_uncertain;
  fit.missing = match.n_only_recorded;
  fit.differences = match.n_differences;
  fit.agreeing = fit.matched;
  fit.possible = true;
  return fit;
}

}  // namespace layerscope::replay
