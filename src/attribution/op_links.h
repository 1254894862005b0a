#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/innermost_index.h"
#include "src/attribution/key_index.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Finds the framework op behind an activity: the last op in the file with the activity's External
/// id, else with its launch's, else the innermost op on the launching thread that contains the
/// launch (formats/kineto.md, "Links"). External ids repeat between the processes of a merged file:
/// with ops in several processes only those of the host process count, where it is known.
class OpLinks {
 public:
  explicit OpLinks(const trace::Trace& trace);

  /// `host` may be invalid (unknown); `launch` too (then only the External id can tell).
  trace::OpId Find(size_t activity, trace::CallId launch, trace::ProcessId host);
  /// The innermost op on a thread at a time; invalid: none.
  trace::OpId At(trace::ThreadId thread, int64_t t_ns);

 private:
  trace::OpId ByExternalId(int64_t external_id, trace::ProcessId host) const;
  trace::ProcessId ProcessOf(uint32_t op) const;

  const trace::Trace& trace_;
  bool several_processes_ = false;
  KeyIndex by_external_id_;   // groups in file order
  KeyIndex in_processes_;     // several processes only: groups by process, then in file order
  InnermostIndex innermost_;  // built on the first question that External ids do not answer
  bool has_innermost_ = false;
};

}  // namespace layerscope::attribution
