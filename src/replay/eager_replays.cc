#include "src/replay/eager_replays.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace layerscope::replay {
namespace {

/// Length of the shortest prefix that the sequences repeat, the last time perhaps cut short (Knuth,
/// Morris, Pratt 1977: n less the longest border).
size_t Period(const std::vector<uint32_t>& sequences) {
  std::vector<size_t> border(sequences.size() + 1, 0);
  for (size_t i = 1; i < sequences.size(); ++i) {
    size_t length = border[i];
    while (length > 0 && sequences[i] != sequences[length]) length = border[length];
    border[i + 1] = sequences[i] == sequences[length] ? length + 1 : 0;
  }
  return sequences.size() - border.back();
}

}  // namespace

ReplayedForwards::ReplayedForwards(const Resolution& resolution)
    : resolution_(resolution), beside_begin_(resolution.attribution.steps.size() + 2, 0) {
  const attribution::Attribution& attribution = resolution.attribution;
  const auto is_beside = [&](uint32_t row) {
    return attribution.step[row].valid() && attribution.under_graph[row] == 0;
  };
  const auto n_rows = static_cast<uint32_t>(attribution.step.size());
  for (uint32_t row = 0; row < n_rows; ++row) {
    if (is_beside(row)) ++beside_begin_[attribution.step[row].index() + 2];
  }
  std::partial_sum(beside_begin_.begin(), beside_begin_.end(), beside_begin_.begin());
  beside_.resize(beside_begin_.back());
  for (uint32_t row = 0; row < n_rows; ++row) {
    if (is_beside(row)) beside_[beside_begin_[attribution.step[row].index() + 1]++] = row;
  }
}

std::vector<LaunchRange> ReplayedForwards::Ranges(const GraphLaunches::Group& group,
                                                  Cut cut) const {
  std::vector<LaunchRange> ranges;
  const auto add = [&](uint32_t begin, uint32_t end) { ranges.push_back({begin, end}); };
  if (cut == Cut::kStep) {
    if (group.step.valid()) add(group.begin, group.end);
    return ranges;
  }
  uint32_t length = 1;
  if (cut == Cut::kPeriod) {
    std::vector<uint32_t> sequences;
    for (uint32_t i = group.begin; i < group.end; ++i) {
      sequences.push_back(resolution_.graphs.launches[i].sequence);
    }
    length = static_cast<uint32_t>(Period(sequences));
    const bool whole_step = group.step.valid() && length == group.end - group.begin;
    if (length <= 1 || whole_step) return ranges;
  }
  for (uint32_t begin = group.begin; begin < group.end; begin += length) {
    add(begin, std::min(begin + length, group.end));
  }
  return ranges;
}

ReplayedForward ReplayedForwards::Rows(const GraphLaunches::Group& group, const LaunchRange& range,
                                       Cut cut) const {
  std::vector<std::pair<uint32_t, uint8_t>> rows;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    for (const uint32_t row : resolution_.graphs.launches[i].rows) rows.emplace_back(row, 1);
  }
  if (cut == Cut::kStep) {
    const size_t step = group.step.index();
    for (uint32_t i = beside_begin_[step]; i < beside_begin_[step + 1]; ++i) {
      rows.emplace_back(beside_[i], 0);
    }
  }
  const std::vector<int64_t>& start_ns = resolution_.trace.activities.start_ns;
  std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return std::pair(start_ns[a.first], a.first) < std::pair(start_ns[b.first], b.first);
  });
  ReplayedForward forward;
  for (const auto& [row, under_graph] : rows) {
    forward.rows.push_back(row);
    forward.under_graph.push_back(under_graph);
  }
  return forward;
}

}  // namespace layerscope::replay
