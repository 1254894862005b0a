#include "src/replay/eager_fit.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

#include "src/base/hash.h"
#include "src/replay/replayed_sequence.h"

namespace layerscope::replay {
namespace {

/// Cells of the table of one alignment, half a second: what hostile sequences may cost.
constexpr size_t kMaxWork = size_t{1} << 26;
/// Differences beyond those that the numbers of kernels demand. A kernel in another place costs
/// two, and only 2 % may lie elsewhere (kEnoughAligned): 4 %, and some in small forwards.
constexpr size_t kReplayedPerDifference = 25;
constexpr size_t kMoreAtLeast = 16;
/// Of the eager kernels between the first and the last that the replay stands for.
constexpr size_t kUsedTogether = 2;  // one in so many

/// The eager side may have more before, after and (piecewise graphs) between; two sequences that
/// differ in more than this are not of one model.
size_t AllowedDifferences(size_t n_replayed, size_t n_eager) {
  const size_t more = n_eager > n_replayed ? n_eager - n_replayed : 0;
  const size_t wanted = more + n_replayed / kReplayedPerDifference + kMoreAtLeast;
  return std::min(wanted, kMaxWork / (n_replayed + n_eager + 1));
}

}  // namespace

std::vector<Element> ElementsOf(const trace::Trace& replayed, const ReplayedForward& forward) {
  std::vector<Element> elements;
  elements.reserve(forward.rows.size());
  for (const uint32_t row : forward.rows) {
    const auto lane = static_cast<uint32_t>(replayed.activities.stream[row].index());
    elements.push_back(ReplayedElement(replayed, row, lane));
  }
  return elements;
}

namespace {

/// Kernels of the replay that the eager forward runs too, each of its kernels standing for one.
int64_t CountShared(std::span<const Element> replayed, std::span<const uint8_t> under_graph,
                    std::span<const Element> eager) {
  tsl::robin_map<uint32_t, int64_t, base::MixHash> left;
  for (const Element& element : eager) ++left[element.symbol];
  int64_t n_shared = 0;
  for (size_t i = 0; i < replayed.size(); ++i) {
    if (under_graph[i] == 0 || replayed[i].is_copy) continue;
    const auto known = left.find(replayed[i].symbol);
    if (known == left.end() || known->second == 0) continue;
    --known.value();
    ++n_shared;
  }
  return n_shared;
}

bool Enough(int64_t part, int64_t all) {
  return all > 0 && static_cast<double>(part) >= kEnoughAligned * static_cast<double>(all);
}

/// A few kernels can be found strewn over any forward: from the first to the last eager kernel that
/// the replay stands for, it must stand for half. What lies before and after is not counted: an
/// eager forward may run a vision tower first.
bool StandsTogether(const SequenceMatch& match, std::span<const Element> eager) {
  std::vector<uint8_t> used(eager.size(), 0);
  size_t first = eager.size(), last = 0;
  for (const uint32_t at : match.recorded_of) {
    if (at == kUnmatched || eager[at].is_copy) continue;
    used[at] = 1;
    first = std::min<size_t>(first, at);
    last = std::max<size_t>(last, at);
  }
  size_t n_kernels = 0, n_used = 0;
  for (size_t at = first; at < eager.size() && at <= last; ++at) {
    n_kernels += eager[at].is_copy ? 0 : 1;
    n_used += used[at];
  }
  return n_used > 0 && kUsedTogether * n_used >= n_kernels;
}

}  // namespace

size_t AlignmentWork(size_t n_replayed, size_t n_eager) {
  return (n_replayed + n_eager) * (AllowedDifferences(n_replayed, n_eager) + 1);
}

EagerFit FitEager(std::span<const Element> replayed, std::span<const uint8_t> under_graph,
                  std::span<const Element> eager, Places places) {
  EagerFit fit;
  for (size_t i = 0; i < replayed.size(); ++i) {
    fit.kernels += under_graph[i] != 0 && !replayed[i].is_copy ? 1 : 0;
  }
  fit.named = CountShared(replayed, under_graph, eager);
  if (!Enough(fit.named, fit.kernels)) return fit;
  SequenceMatch match =
      AlignSequences(replayed, eager, places, AllowedDifferences(replayed.size(), eager.size()));
  for (size_t i = 0; i < replayed.size(); ++i) {
    if (under_graph[i] == 0 || replayed[i].is_copy) continue;
    fit.matched += match.recorded_of[i] != kUnmatched ? 1 : 0;
  }
  fit.missing = match.n_only_recorded;
  fit.fits = Enough(fit.matched, fit.kernels) && StandsTogether(match, eager);
  fit.node_of = std::move(match.recorded_of);
  return fit;
}

}  // namespace layerscope::replay
