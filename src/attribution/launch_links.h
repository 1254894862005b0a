#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/attribution/host_processes.h"
#include "src/attribution/key_index.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Finds the call that caused an activity: equal correlation (> 0) in its process; of several calls
/// those named Launch first, then the last with ts <= the activity's, else the first (DESIGN.md
/// section 2). Correlations repeat between the processes of a merged file, so the calls of the
/// activity's own family of processes come first; where labels do not tell the family, all others
/// are searched after them.
class LaunchLinks {
 public:
  /// `is_launch` is by StringId index. All arguments must outlive this.
  LaunchLinks(const trace::Trace& trace, const HostProcesses& hosts,
              const std::vector<uint8_t>& is_launch);

  /// The launch of every activity; invalid where no call has its correlation.
  std::vector<trace::CallId> LinkAll() const;

 private:
  trace::CallId Find(trace::ProcessId process, int64_t correlation, int64_t start_ns) const;
  std::span<const uint32_t> FindInFamily(trace::ProcessId process, int64_t correlation) const;
  trace::CallId Choose(std::span<const uint32_t> candidates, int64_t start_ns) const;
  void SortFamilies(std::vector<uint32_t> rows);
  bool PreferredBefore(uint32_t a, uint32_t b) const;
  trace::ProcessId FamilyOfCall(uint32_t row) const;

  const trace::Trace& trace_;
  const HostProcesses& hosts_;
  const std::vector<uint8_t>& is_launch_;
  KeyIndex by_correlation_;          // groups in order of preference
  std::vector<uint32_t> by_family_;  // several callers only: by family, correlation, preference
};

}  // namespace layerscope::attribution
