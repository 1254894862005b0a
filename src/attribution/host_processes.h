#pragma once

#include <cstdint>
#include <vector>

#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Which processes of a trace have a host side, and which of them a GPU process belongs to. GPU
/// events carry the GPU's pid; only in merged files do labels tell whose GPU it is: there processes
/// with one ProcessTag are one *family*. A process without a tag is a family of its own. In an
/// Nsight Systems trace every activity carries its host process: each is its own host; so it is in
/// a copy of one (documents.md).
class HostProcesses {
 public:
  explicit HostProcesses(const trace::Trace& trace);

  /// Once launches are known (by activity): a process that makes calls, and under which everything
  /// that has a launch was launched by itself, is its own host also of what has none.
  void LearnOwnHosts(const trace::Trace& trace, const std::vector<trace::CallId>& launch);

  /// The first process of the family stands for it.
  trace::ProcessId FamilyOf(trace::ProcessId process) const { return family_[process.index()]; }
  /// True when a correlation alone does not tell the call: several processes made some, or the
  /// calls of one are none of another's.
  bool correlations_repeat() const { return several_callers_ || own_hosts_; }
  /// True when it is known who launches the work of `process`, so that nobody else can have: its
  /// own host, or by the labels: a caller shares its tag, or it and all callers have bracketed
  /// tags.
  bool FamilyIsKnown(trace::ProcessId process) const;
  /// The host side of a GPU process without a launch: its own, or the only one, else the first of
  /// its family when it has a tag, else invalid.
  trace::ProcessId HostOf(trace::ProcessId process) const;

 private:
  void FindFamilies(const trace::Trace& trace);
  void FindHosts(const trace::Trace& trace);

  std::vector<trace::ProcessId> family_;      // by ProcessId
  std::vector<uint8_t> has_tag_;              // by ProcessId
  std::vector<uint8_t> has_bracket_tag_;      // by ProcessId
  std::vector<uint8_t> family_calls_;         // by ProcessId of the family
  std::vector<uint8_t> is_own_host_;          // by ProcessId; empty: not learnt
  std::vector<trace::ProcessId> first_host_;  // by ProcessId of the family
  trace::ProcessId only_host_;                // invalid: none or several
  bool own_hosts_ = false;                    // every process is its own host (Nsight Systems)
  bool several_callers_ = false;
  bool all_callers_bracketed_ = true;
};

}  // namespace layerscope::attribution
