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
  trace::CallId Choose(std::span<const uint32_t> candidates, int64_t start_ns) const;
  void IndexFamilies(std::span<const uint32_t> rows);
  KeyIndex IndexOf(std::span<const uint32_t> rows) const;
  bool PreferredBefore(uint32_t a, uint32_t b) const;
  size_t FamilyOfCall(uint32_t row) const;

  const trace::Trace& trace_;
  const HostProcesses& hosts_;
  const std::vector<uint8_t>& is_launch_;
  // By correlation, groups in order of preference.
  KeyIndex of_all_;                  // where families may be unknown
  std::vector<KeyIndex> of_family_;  // by ProcessId of the family, where correlations repeat
};

}  // namespace layerscope::attribution
