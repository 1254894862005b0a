#include "src/document/nested_runs.h"

#include <algorithm>
#include <limits>

#include "src/base/checked_sum.h"

namespace layerscope::document {

using base::AddClamped;

void NestedRuns::CloseFrom(size_t level, int64_t limit_ns) {
  for (size_t i = level; i < open_.size(); ++i) {
    Run& run = runs_[open_[i]];
    run.end_ns = std::min(run.end_ns, limit_ns);
  }
  open_.resize(std::min(level, open_.size()));
}

void NestedRuns::Interrupt(int64_t start_ns, size_t level) {
  CloseFrom(level, start_ns);
}

void NestedRuns::Add(const Member& member, std::span<const uint32_t> path) {
  size_t same = 0;
  while (same < path.size() && same < open_.size() && runs_[open_[same]].key == path[same]) ++same;
  CloseFrom(same, member.start_ns);
  for (size_t level = same; level < path.size(); ++level) {
    const uint32_t up = level == 0 ? kNoRun : static_cast<uint32_t>(open_[level - 1]);
    open_.push_back(runs_.size());
    runs_.push_back({static_cast<uint32_t>(level), path[level], up, member.row, member.start_ns,
                     member.start_ns, 0, 0});
  }
  const int64_t end_ns = AddClamped(member.start_ns, std::max<int64_t>(member.dur_ns, 0));
  for (const size_t index : open_) {
    Run& run = runs_[index];
    run.end_ns = std::max(run.end_ns, end_ns);
    if (!member.is_kernel) continue;
    run.sum_ns = AddClamped(run.sum_ns, member.dur_ns);
    ++run.n_kernels;
  }
}

std::vector<Run> NestedRuns::Finish() && {
  CloseFrom(0, std::numeric_limits<int64_t>::max());
  return std::move(runs_);
}

}  // namespace layerscope::document
