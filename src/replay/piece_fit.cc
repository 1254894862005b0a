#include "src/replay/piece_fit.h"

#include <algorithm>
#include <cctype>
#include <string>

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

constexpr const char* kOtherOrder =
    "its kernels have the capture's names, but their order fits in no way, or in too many";

}  // namespace

NodeKind KindOfName(std::string_view kernel_name) {
  std::string name(kernel_name.substr(0, 32));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.starts_with("memcpy") || name.starts_with("__amd_rocclr_copybuffer")) {
    return NodeKind::kCopy;
  }
  if (name.starts_with("memset") || name.starts_with("__amd_rocclr_fillbuffer")) {
    return NodeKind::kSet;
  }
  return NodeKind::kKernel;
}

ReplayedSequence ReadReplayed(const trace::Trace& trace, const GraphLaunch& launch) {
  const LaneRows lanes = RowsByLane(trace, launch);
  const trace::Activities& all = trace.activities;
  ReplayedSequence sequence;
  sequence.one_lane = lanes.begin.size() <= 2;
  for (uint32_t lane = 0; lane + 1 < lanes.begin.size(); ++lane) {
    for (uint32_t i = lanes.begin[lane]; i < lanes.begin[lane + 1]; ++i) {
      const uint32_t row = lanes.rows[i];
      const trace::StringId name = all.name[row];
      NodeKind kind = NodeKind::kKernel;
      if (all.kind[row] == trace::ActivityKind::kMemcpy) kind = NodeKind::kCopy;
      if (all.kind[row] == trace::ActivityKind::kMemset) kind = NodeKind::kSet;
      if (kind == NodeKind::kKernel) kind = KindOfName(trace.strings[name]);
      Element element{static_cast<uint32_t>(name.index()), lane, kind != NodeKind::kKernel};
      if (kind == NodeKind::kCopy) element.symbol = kCopySymbol;
      if (kind == NodeKind::kSet) element.symbol = kSetSymbol;
      if (!element.is_copy) sequence.sorted.push_back(element.symbol);
      sequence.elements.push_back(element);
      sequence.names.push_back(name);
    }
  }
  std::sort(sequence.sorted.begin(), sequence.sorted.end());
  sequence.n_kernels = static_cast<int64_t>(sequence.sorted.size());
  return sequence;
}

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
  // A few more than the names alone demand: kernels in another order cost two each.
  const size_t allowed = only_equal ? 0
                                    : static_cast<size_t>(least_differences) + 8 +
                                          static_cast<size_t>(replayed.n_kernels) / 25;
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
