#pragma once

#include <cstdint>
#include <vector>

#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Which processes of a trace have a host side, and which of them a GPU process belongs to. GPU
/// events carry the GPU's pid; only in merged files do labels tell whose GPU it is: there processes
/// with one ProcessTag are one *family*. A process without a tag is a family of its own.
class HostProcesses {
 public:
  explicit HostProcesses(const trace::Trace& trace);

  /// The first process of the family stands for it.
  trace::ProcessId FamilyOf(trace::ProcessId process) const { return family_[process.index()]; }
  /// True when several processes made calls: correlations may then repeat.
  bool several_callers() const { return several_callers_; }
  /// True when labels say who launches the work of `process`, so that nobody else can have: a
  /// caller shares its tag, or it and all callers have bracketed tags.
  bool FamilyIsKnown(trace::ProcessId process) const;
  /// The host side of a GPU process without a launch: the only one, else the first of its family
  /// when it has a tag, else invalid.
  trace::ProcessId HostOf(trace::ProcessId process) const;

 private:
  void FindFamilies(const trace::Trace& trace);
  void FindHosts(const trace::Trace& trace);

  std::vector<trace::ProcessId> family_;      // by ProcessId
  std::vector<uint8_t> has_tag_;              // by ProcessId
  std::vector<uint8_t> has_bracket_tag_;      // by ProcessId
  std::vector<uint8_t> family_calls_;         // by ProcessId of the family
  std::vector<trace::ProcessId> first_host_;  // by ProcessId of the family
  trace::ProcessId only_host_;                // invalid: none or several
  bool several_callers_ = false;
  bool all_callers_bracketed_ = true;
};

}  // namespace layerscope::attribution
