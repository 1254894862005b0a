#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/attribution/evidence.h"
#include "src/attribution/graph_alignment.h"
#include "src/attribution/module_tree.h"
#include "src/attribution/step.h"
#include "src/kernel_names/rule_set.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Ops that replayed kernels had when their graph was recorded. They stand in no thread of this
/// trace; their ids come behind those of trace::Ops.
struct ReplayedOps {
  std::vector<trace::StringId> name;
  std::vector<trace::ArgsId> args;
  size_t size() const { return name.size(); }
};

/// The columns of DESIGN.md section 2, one row an activity, beside the trace's own columns. Every
/// analysis is a group-by of these; none decides attribution again.
struct Attribution {
  /// True: the trace has no kernel, copy or set but at least one op. Rows are then `cpu_activities`
  /// (kind kCpu, no stream, `thread` says where), else they are the trace's activities.
  bool cpu_only = false;
  trace::Activities cpu_activities;

  std::vector<trace::CallId> launch;    ///< invalid: no call has its correlation (or CPU row)
  std::vector<trace::ThreadId> thread;  ///< the launching thread, or the CPU row's own
  std::vector<trace::OpId> op;  ///< External id first, else innermost containing op; see OpName
  std::vector<trace::ScopeId> scope;  ///< innermost module scope, of the trace or of a replay
  std::vector<ModuleId> module;       ///< = modules.module_of_scope[scope]
  std::vector<StepId> step;
  std::vector<Evidence> module_evidence;
  std::vector<Reason> module_reason;
  std::vector<uint8_t> under_graph;  ///< 1: its launch is a graph launch

  ModuleTree modules;
  std::vector<Step> steps;  ///< by (start, file order)
  /// Process index of the host side of a row (launch's process, else the only host process, else
  /// the one whose label shares the activity's prefix, else invalid).
  std::vector<trace::ProcessId> host_process;

  /// Category of every name, by StringId index (only names of activities are filled, others 0).
  std::vector<kernel_names::CategoryId> category_of_name;

  ReplayedOps replayed_ops;
  /// What became of each graph of this trace, and by which recording (src/replay).
  std::vector<GraphAlignment> alignments;
  std::vector<AlignedLaunch> aligned_launches;  ///< all that ran something, by CallId

  std::vector<table::HealthEntry> warnings;

  /// Name and arguments of an op, the trace's own or a replayed one.
  trace::StringId OpName(const trace::Trace& trace, trace::OpId id) const {
    const size_t own = trace.ops.size();
    return id.index() < own ? trace.ops.name[id.index()] : replayed_ops.name[id.index() - own];
  }
  trace::ArgsId OpArgs(const trace::Trace& trace, trace::OpId id) const {
    const size_t own = trace.ops.size();
    return id.index() < own ? trace.ops.args[id.index()] : replayed_ops.args[id.index() - own];
  }
  const trace::Activities& rows(const trace::Trace& trace) const {
    return cpu_only ? cpu_activities : trace.activities;
  }
};

/// Launch-like: a runtime or driver call whose name contains "Launch"; graph launch: "GraphLaunch".
struct CallNameFlags {
  std::vector<uint8_t> is_launch;        ///< by StringId index
  std::vector<uint8_t> is_graph_launch;  ///< by StringId index
};
CallNameFlags ClassifyCallNames(const trace::Trace& trace);

/// True where the file itself says what its graphs replay, as Nsight Systems does: it tells, or
/// would tell, where each node was captured. A trace that was written from a database has its
/// nodes.
inline bool KnowsGraphNodes(const trace::Trace& trace) {
  return trace.format == trace::TraceFormat::kNsys || trace.graph_nodes.size() > 0;
}

/// Computes all columns. Where the trace knows its graph nodes the work of a graph is of the module
/// in which its node was captured, or of none, never of the one that is open at the graph launch.
/// `rules` categorises names (kernel names; in CPU-only traces op names). First joins ranges with
/// the scopes of the same modules (see JoinModuleRanges) and takes plain NVTX ranges for module
/// scopes where no scope names a module (see TakePlainRanges), at last names
/// modules that are known by path by their part of it (see NamePathModules): `trace` loses those
/// ranges and its pool takes new strings.
Attribution Attribute(trace::Trace& trace, const kernel_names::RuleSet& rules);

}  // namespace layerscope::attribution
