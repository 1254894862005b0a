#include "src/attribution/attribution.h"

#include <span>
#include <string_view>
#include <utility>

#include "src/attribution/activity_warnings.h"
#include "src/attribution/captured_calls.h"
#include "src/attribution/captured_nodes.h"
#include "src/attribution/cpu_activities.h"
#include "src/attribution/graph_replays.h"
#include "src/attribution/host_processes.h"
#include "src/attribution/innermost_index.h"
#include "src/attribution/launch_links.h"
#include "src/attribution/module_ranges.h"
#include "src/attribution/op_links.h"
#include "src/attribution/path_names.h"
#include "src/attribution/plain_ranges.h"
#include "src/attribution/steps.h"
#include "src/base/checked_sum.h"

namespace layerscope::attribution {
namespace {

/// Fills the columns of one trace. The lookups are shared by all of them.
class Attributor {
 public:
  explicit Attributor(const trace::Trace& trace)
      : trace_(trace),
        names_(ClassifyCallNames(trace)),
        hosts_(trace),
        knows_nodes_(KnowsGraphNodes(trace)),
        step_table_(BuildSteps(trace, names_.is_launch)),
        step_locator_(trace, step_table_.steps) {
    out_.cpu_only = trace.activities.size() == 0 && trace.ops.size() > 0;
    out_.modules = BuildModuleTree(trace, &scopes_);
  }

  Attribution Run(const kernel_names::RuleSet& rules) && {
    if (out_.cpu_only) {
      FillCpuRows();
    } else {
      FillGpuRows();
    }
    MarkCapturedCalls(trace_, out_);
    CountStepLaunches();
    out_.steps = std::move(step_table_.steps);
    Categorise(rules);
    counts_.step_numbers_dropped = step_table_.n_out_of_range;
    out_.warnings = ActivityWarnings(trace_, out_, counts_);
    return std::move(out_);
  }

 private:
  void Resize(size_t n) {
    out_.launch.resize(n);
    out_.thread.resize(n);
    out_.op.resize(n);
    out_.scope.resize(n);
    out_.module.resize(n);
    out_.step.resize(n);
    out_.module_evidence.resize(n, Evidence::kUnresolved);
    out_.module_reason.resize(n, Reason::kNone);
    out_.under_graph.resize(n, 0);
    out_.host_process.resize(n);
  }

  /// The columns that follow from a thread and a time on it: a launch, or the start of a CPU row.
  void PlaceHost(size_t row, trace::ThreadId thread, int64_t t_ns) {
    out_.thread[row] = thread;
    out_.host_process[row] = trace_.threads[thread.index()].process;
    out_.step[row] = step_locator_.Find(thread, t_ns);
  }

  void PlaceInScope(size_t row, trace::ScopeId scope, Evidence evidence) {
    if (!scope.valid()) return;
    out_.scope[row] = scope;
    out_.module[row] = out_.modules.module_of_scope[scope.index()];
    out_.module_evidence[row] = evidence;
    out_.module_reason[row] = Reason::kNone;
  }

  trace::ScopeId ScopeAt(trace::ThreadId thread, int64_t t_ns) {
    const uint32_t scope = scopes_.Find(thread.index(), t_ns);
    return scope == kNoRow ? trace::ScopeId() : trace::ScopeId(scope);
  }

  void FillGpuRows() {
    const trace::Activities& activities = trace_.activities;
    Resize(activities.size());
    out_.launch = LaunchLinks(trace_, hosts_, names_.is_launch).LinkAll();
    hosts_.LearnOwnHosts(trace_, out_.launch);
    OpLinks ops(trace_);
    for (size_t row = 0; row < activities.size(); ++row) {
      const trace::CallId launch = out_.launch[row];
      // A graph ran what is one of its nodes, also where the graph launch is not in the file.
      out_.module_reason[row] = HasKnownNode(row) ? Reason::kGraphLaunch : Reason::kNoLaunch;
      out_.host_process[row] = hosts_.HostOf(activities.process[row]);
      if (launch.valid()) PlaceLaunched(row, launch);
      const trace::CallId op_launch = IsOfElsewhere(row) ? trace::CallId() : launch;
      out_.op[row] = ops.Find(row, op_launch, out_.host_process[row]);
    }
    if (knows_nodes_) PlaceCapturedNodes(ops);
  }

  /// True of a node of a graph where the file says what its graphs replay.
  bool HasKnownNode(size_t row) const {
    return knows_nodes_ && trace_.activities.GraphNodeOf(row) != trace::kNoGraphNode;
  }
  /// What is open at a graph launch is no module and no op of the nodes: these were captured
  /// elsewhere, and this profiler says where.
  bool IsOfElsewhere(size_t row) const { return knows_nodes_ && out_.under_graph[row] != 0; }

  void PlaceLaunched(size_t row, trace::CallId launch) {
    const size_t call = launch.index();
    const trace::ThreadId thread = trace_.calls.thread[call];
    const int64_t t_ns = trace_.calls.start_ns[call];
    PlaceHost(row, thread, t_ns);
    const bool under_graph =
        HasKnownNode(row) || names_.is_graph_launch[trace_.calls.name[call].index()] != 0;
    out_.under_graph[row] = under_graph ? 1 : 0;
    out_.module_reason[row] = under_graph ? Reason::kGraphLaunch : Reason::kOutsideScopes;
    if (!IsOfElsewhere(row)) PlaceInScope(row, ScopeAt(thread, t_ns), Evidence::kLaunchCorrelation);
  }

  /// What a graph replays is of the module in which its node was captured.
  void PlaceCapturedNodes(OpLinks& ops) {
    const trace::Activities& activities = trace_.activities;
    for (size_t row = 0; row < activities.size(); ++row) {
      if (activities.kind[row] != trace::ActivityKind::kGraph) continue;
      out_.module_reason[row] = Reason::kGraphLaunch;
      ++counts_.whole_graphs;
    }
    const GraphReplays replays(trace_, out_.launch);
    if (replays.size() == 0) return;
    const CapturedNodes nodes(trace_, out_.modules, [&](trace::ThreadId thread, int64_t t_ns) {
      return CapturedNodes::Open{ScopeAt(thread, t_ns), ops.At(thread, t_ns)};
    });
    for (size_t row = 0; row < activities.graph_node.size(); ++row) {
      const int64_t id = activities.graph_node[row];
      if (id == trace::kNoGraphNode) continue;
      const CapturedNode node = nodes.Find(activities.process[row], id);
      if (node.origin == CapturedNode::Origin::kUnknown) ++counts_.unknown_nodes;
      if (node.origin == CapturedNode::Origin::kConflicting) ++counts_.conflicting_nodes;
      if (node.origin != CapturedNode::Origin::kCaptured) continue;
      out_.op[row] = node.op;
      out_.module_reason[row] = Reason::kOutsideScopes;
      PlaceInScope(row, node.scope, Evidence::kGraphNode);
    }
    AddReplayedCalls(replays, out_);
    counts_.differing_launches = CountDifferingReplays(trace_, replays);
  }

  void FillCpuRows() {
    CpuActivities cpu = BuildCpuActivities(trace_);
    out_.cpu_activities = std::move(cpu.rows);
    const trace::Activities& rows = out_.cpu_activities;
    Resize(rows.size());
    out_.op = std::move(cpu.op);
    for (Module& module : out_.modules.modules) module.cpu_self_ns = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      PlaceHost(row, cpu.thread[row], rows.start_ns[row]);
      out_.module_reason[row] = Reason::kOutsideScopes;
      PlaceInScope(row, ScopeAt(cpu.thread[row], rows.start_ns[row]), Evidence::kLaunchCorrelation);
      if (!out_.module[row].valid()) continue;
      int64_t& self_ns = out_.modules.modules[out_.module[row].index()].cpu_self_ns;
      self_ns = base::AddClamped(self_ns, rows.dur_ns[row]);
    }
  }

  void CountStepLaunches() {
    if (step_table_.steps.empty()) return;
    const trace::Calls& calls = trace_.calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (names_.is_launch[calls.name[i].index()] == 0) continue;
      const StepId step = step_locator_.Find(calls.thread[i], calls.start_ns[i]);
      if (step.valid()) ++step_table_.steps[step.index()].n_launches;
    }
  }

  void Categorise(const kernel_names::RuleSet& rules) {
    out_.category_of_name.assign(trace_.strings.size(), kernel_names::CategoryId(0));
    std::vector<uint8_t> seen(trace_.strings.size(), 0);
    for (const trace::StringId name : out_.rows(trace_).name) {
      if (std::exchange(seen[name.index()], uint8_t{1}) != 0) continue;
      out_.category_of_name[name.index()] = rules.Match(trace_.strings[name]);
    }
  }

  const trace::Trace& trace_;
  const CallNameFlags names_;
  HostProcesses hosts_;
  const bool knows_nodes_;
  StepTable step_table_;
  StepLocator step_locator_;
  InnermostIndex scopes_;
  AttributionCounts counts_;
  Attribution out_;
};

}  // namespace

CallNameFlags ClassifyCallNames(const trace::Trace& trace) {
  CallNameFlags flags;
  flags.is_launch.resize(trace.strings.size(), 0);
  flags.is_graph_launch.resize(trace.strings.size(), 0);
  std::vector<uint8_t> seen(trace.strings.size(), 0);
  for (const trace::StringId id : trace.calls.name) {
    if (std::exchange(seen[id.index()], uint8_t{1}) != 0) continue;
    const std::string_view name = trace.strings[id];
    flags.is_launch[id.index()] = name.find("Launch") != std::string_view::npos ? 1 : 0;
    flags.is_graph_launch[id.index()] = name.find("GraphLaunch") != std::string_view::npos ? 1 : 0;
  }
  return flags;
}

Attribution Attribute(trace::Trace& trace, const kernel_names::RuleSet& rules) {
  JoinModuleRanges(trace);
  TakePlainRanges(trace);
  Attribution out = Attributor(trace).Run(rules);
  NamePathModules(trace, out.modules);
  out.category_of_name.resize(trace.strings.size(), kernel_names::CategoryId(0));
  return out;
}

}  // namespace layerscope::attribution
