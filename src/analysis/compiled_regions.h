#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/trace/trace.h"

namespace layerscope::analysis {

/// One run of code that torch.compile made: a `Torch-Compiled Region: 0/0` operator, or outside of
/// those a `## Call CompiledFxGraph <hash> ##` annotation. Regions do not nest: inner ones belong
/// to the outermost.
struct CompiledRegion {
  trace::ThreadId thread;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  trace::StringId name;
};

/// The regions of one file, by thread and start.
class CompiledRegions {
 public:
  static constexpr uint32_t kNone = 0xffffffffU;

  explicit CompiledRegions(const trace::Trace& trace);
  /// The calls of compiled graphs alone, wherever they are.
  static CompiledRegions GraphCalls(const trace::Trace& trace);
  bool empty() const { return regions_.empty(); }
  const std::vector<CompiledRegion>& regions() const { return regions_; }
  /// The index of the region that contains a time of a thread, else kNone.
  uint32_t Find(trace::ThreadId thread, int64_t time_ns) const;

 private:
  explicit CompiledRegions(std::vector<CompiledRegion> all);

  std::vector<CompiledRegion> regions_;
};

/// When and on which thread an activity was started: its launch, or a CPU row itself. The thread is
/// invalid where neither is known.
struct HostStart {
  trace::ThreadId thread;
  int64_t time_ns = 0;
};
HostStart HostStartOf(const trace::Trace& trace, const attribution::Attribution& attribution,
                      uint32_t row);

}  // namespace layerscope::analysis
