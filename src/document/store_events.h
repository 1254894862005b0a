#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/document/process_correlations.h"
#include "src/document/store_order.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// Threads on which the activities of streams are written: above every thread id of a system, and
/// below those of TrackEvents.
inline constexpr int64_t kFirstStreamTid = 500'000'000;

/// Rows of a store as events of a Chrome trace, in the words of the PyTorch profiler, so that a
/// viewer shows them and ReadTrace of ingest/kineto gives the same rows back. A stream is a thread
/// of the process that launched what runs on it; `args` name its device and stream. A module scope
/// becomes an annotation `{'Module': 'path'}`. What the other format has no word for is written
/// under a `cat` that it ignores: whole graphs. Where several processes count correlations, an
/// activity without a call of its own process says none: the other format would find a stranger's.
/// Processes of the same pid get pids of their own (written_pids.h).
class StoreEvents {
 public:
  /// `trace` must outlive this. `names`: which processes are named, absent = all.
  explicit StoreEvents(const trace::Trace& trace,
                       const std::function<bool(trace::ProcessId)>& names = {});

  /// The members that stand before traceEvents, without commas around them.
  std::string Members() const;
  /// Names of processes, threads and streams, one event at a time; false when there is none left.
  bool NextName(std::string& event);
  /// Puts the event of a row in the place of `event`.
  void Write(const StoreRow& row, std::string& event) const;
  /// The same of a row of GraphNodes: where a node of a graph was captured, or of what it is a
  /// clone. The reader takes it back (EventClass::kGraphNode), so that what was replayed keeps its
  /// modules.
  void WriteGraphNode(size_t row, std::string& event) const;

 private:
  /// Begins an event: everything up to `args`.
  void Begin(const char* cat, std::string_view name, const std::string& thread, const StoreRow& row,
             std::string& event) const;
  void WriteActivity(const StoreRow& row, std::string& event) const;
  void WriteCall(const StoreRow& row, std::string& event) const;
  void WriteOp(const StoreRow& row, std::string& event) const;
  void WriteScope(const StoreRow& row, std::string& event) const;
  void WriteAnnotation(const StoreRow& row, std::string& event) const;
  void CollectCorrelations();
  /// Its process makes a call of its correlation.
  bool HasCall(size_t activity) const;
  std::string StreamThread(trace::ProcessId process, trace::StreamId stream) const;
  void AddNames(const std::function<bool(trace::ProcessId)>& names);
  void AddName(const char* what, const std::string& thread, std::string_view name);

  const trace::Trace& trace_;
  std::vector<std::string> threads_;  ///< by thread: `"pid":1,"tid":2`
  /// By process: `"pid":1`.
  std::vector<std::string> processes_;
  bool many_processes_ = false;  ///< that launch or run something
  ProcessCorrelations calls_;    ///< of `many_processes_` only
  std::vector<std::string> names_;
  size_t next_name_ = 0;
};

}  // namespace layerscope::document
