#include "src/replay/eager_forwards.h"

#include <algorithm>
#include <tuple>

#include "src/attribution/step_name.h"
#include "src/replay/stream_chains.h"

namespace layerscope::replay {
namespace {

class ForwardFinder {
 public:
  explicit ForwardFinder(const SideTrace& side)
      : side_(side), trace_(*side.trace), attribution_(*side.attribution) {}

  std::vector<Recording> Find() {
    if (attribution_.cpu_only) return {};
    SortRows();
    attribution_.steps.empty() ? GroupByRootModule() : GroupByStep();
    NumberChains();
    return std::move(forwards_);
  }

 private:
  /// Launched activities by (process, launch).
  void SortRows() {
    for (uint32_t row = 0; row < attribution_.launch.size(); ++row) {
      if (attribution_.launch[row].valid()) rows_.push_back(row);
    }
    const auto key = [&](uint32_t row) {
      const size_t launch = attribution_.launch[row].index();
      const trace::ThreadId thread = trace_.calls.thread[launch];
      return std::tuple(trace_.threads[thread.index()].process, trace_.calls.start_ns[launch],
                        launch, trace_.activities.start_ns[row], row);
    };
    std::sort(rows_.begin(), rows_.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  }

  RecordedNode NodeOf(uint32_t row) const {
    const trace::ActivityKind kind = trace_.activities.kind[row];
    RecordedNode node;
    node.kind = kind == trace::ActivityKind::kMemcpy   ? NodeKind::kCopy
                : kind == trace::ActivityKind::kMemset ? NodeKind::kSet
                                                       : NodeKind::kKernel;
    node.row = row;
    node.kernel = trace_.activities.name[row];
    node.op = attribution_.op[row];
    node.scope = attribution_.scope[row];
    return node;
  }

  Recording& NewForward() {
    Recording& forward = forwards_.emplace_back();
    forward.source = &side_;
    forward.batch = side_.batch;
    forward.pieces.emplace_back().names_kernels = true;
    return forward;
  }

  void GroupByStep() {
    constexpr uint32_t kNone = static_cast<uint32_t>(-1);
    std::vector<uint8_t> replays(attribution_.steps.size(), 0);
    for (const uint32_t row : rows_) {
      const attribution::StepId step = attribution_.step[row];
      if (step.valid() && attribution_.under_graph[row] != 0) replays[step.index()] = 1;
    }
    std::vector<uint32_t> forward_of(attribution_.steps.size(), kNone);
    for (const uint32_t row : rows_) {
      const attribution::StepId step = attribution_.step[row];
      if (!step.valid() || replays[step.index()] != 0) continue;
      uint32_t& forward = forward_of[step.index()];
      if (forward == kNone) {
        forward = static_cast<uint32_t>(forwards_.size());
        const attribution::StepFields& fields = attribution_.steps[step.index()].fields;
        Recording& added = NewForward();
        added.mode = attribution::ToString(fields.phase);
        if (fields.requests) added.batch = fields.requests;
      }
      forwards_[forward].pieces.front().nodes.push_back(NodeOf(row));
    }
  }

  void NumberChains() {
    const StreamChains chains(trace_);
    for (Recording& forward : forwards_) {
      std::vector<NodeLaunch> launches;
      for (const RecordedNode& node : forward.pieces.front().nodes) {
        const size_t call = attribution_.launch[node.row].index();
        launches.push_back({trace_.calls.thread[call], trace_.calls.start_ns[call],
                            trace_.activities.stream[node.row]});
      }
      chains.Number(launches, forward.pieces.front());
    }
  }

  /// The outermost call around a scope. A scope's parent may come later in the file.
  trace::ScopeId RootOf(trace::ScopeId scope) {
    const std::vector<trace::ScopeId>& parent = attribution_.modules.parent_of_scope;
    if (root_of_.empty()) root_of_.resize(parent.size());
    std::vector<trace::ScopeId> path;
    while (!root_of_[scope.index()].valid()) {
      path.push_back(scope);
      if (!parent[scope.index()].valid())
        root_of_[scope.index()] = scope;
      else
        scope = parent[scope.index()];
    }
    const trace::ScopeId root = root_of_[scope.index()];
    for (const trace::ScopeId on_path : path) root_of_[on_path.index()] = root;
    return root;
  }

  void GroupByRootModule() {
    attribution::ModuleId opening;
    trace::ScopeId current;
    for (const uint32_t row : rows_) {
      if (attribution_.under_graph[row] != 0) continue;
      const trace::ScopeId scope = attribution_.scope[row];
      const trace::ScopeId root = scope.valid() ? RootOf(scope) : trace::ScopeId();
      if (root.valid()) {
        const attribution::ModuleId module = attribution_.modules.module_of_scope[root.index()];
        if (!opening.valid()) opening = module;
        if (module == opening && root != current) {
          NewForward();
          current = root;
        }
      }
      if (current.valid()) forwards_.back().pieces.front().nodes.push_back(NodeOf(row));
    }
  }

  const SideTrace& side_;
  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  std::vector<uint32_t> rows_;
  std::vector<trace::ScopeId> root_of_;
  std::vector<Recording> forwards_;
};

}  // namespace

std::vector<Recording> FindEagerForwards(const SideTrace& side) {
  return ForwardFinder(side).Find();
}

}  // namespace layerscope::replay
