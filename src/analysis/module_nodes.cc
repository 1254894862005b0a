#include "src/analysis/module_nodes.h"

#include <algorithm>
#include <utility>

#include "src/analysis/interval_union.h"
#include "src/analysis/module_path.h"
#include "src/analysis/selected_host.h"
#include "src/base/check.h"
#include "src/base/checked_sum.h"

namespace layerscope::analysis {
namespace {

using attribution::ModuleId;

/// Fills one node a module, in the order of the module tree (parent before child).
class NodeBuilder {
 public:
  explicit NodeBuilder(const RankView& view)
      : view_(view),
        attr_(view.attribution()),
        modules_(attr_.modules.modules),
        nodes_(modules_.size()),
        device_(modules_.size()),
        used_(modules_.size(), 0) {}

  ModuleNodes Build() {
    NameNodes();
    AddActivities();
    SumUpwards();
    AddBusy();
    CountCalls();
    result_.total_ns = view_.total_ns();
    result_.nodes = InDepthFirstOrder();
    Check();
    return std::move(result_);
  }

 private:
  /// The device of a module's activities: none yet, one, or several.
  struct SeenDevice {
    bool any = false;
    bool several = false;
    trace::DeviceId device;
  };

  void NameNodes() {
    std::vector<std::string> paths = ModulePaths(view_);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const attribution::Module& module = modules_[i];
      ModuleNode& node = nodes_[i];
      node.path = std::move(paths[i]);
      node.instance = view_.trace().strings[module.name];
      node.class_name = attr_.modules.ClassOf(ModuleId(i), view_.trace());
      node.has_path = module.path.valid();
      node.depth = module.depth;
      node.place = PlaceAt(view_, module.process);
    }
  }

  void AddActivities() {
    for (const uint32_t row : view_.rows()) {
      const int64_t dur_ns = view_.activities().dur_ns[row];
      const bool is_kernel = view_.IsKernel(row);
      result_.total_kernels += is_kernel ? 1 : 0;
      result_.total_activities += view_.CountOf(row);
      const ModuleId module = attr_.module[row];
      if (!module.valid()) {
        Unattributed& rest = result_.unattributed;
        rest.gpu_ns += dur_ns;
        rest.kernels += is_kernel ? 1 : 0;
        rest.activities += view_.CountOf(row);
        rest.by_reason[static_cast<size_t>(attr_.module_reason[row])] += dur_ns;
        continue;
      }
      ModuleNode& node = nodes_[module.index()];
      node.gpu_excl_ns += dur_ns;
      node.activities_excl += view_.CountOf(row);
      node.evidence_ns[static_cast<size_t>(attr_.module_evidence[row])] += dur_ns;
      if (is_kernel) {
        node.kernel_excl_ns += dur_ns;
        ++node.kernels_excl;
      }
      used_[module.index()] = 1;
      SeeDevice(device_[module.index()], view_.DeviceOf(row));
    }
  }

  static void SeeDevice(SeenDevice& seen, trace::DeviceId device) {
    seen.several |= seen.any && seen.device != device;
    seen.any = true;
    seen.device = device;
  }

  void SumUpwards() {
    for (ModuleNode& node : nodes_) {
      node.gpu_incl_ns = node.gpu_excl_ns;
      node.kernel_incl_ns = node.kernel_excl_ns;
      node.kernels_incl = node.kernels_excl;
      node.activities_incl = node.activities_excl;
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
      ModuleNode& node = nodes_[i];
      const SeenDevice& seen = device_[i];
      if (seen.any && !seen.several) node.place.device = view_.DeviceLabel(seen.device);
      node.min_incl_ns = node.max_incl_ns = node.gpu_incl_ns;
      const ModuleId up = modules_[i].parent;
      if (!up.valid()) continue;
      ModuleNode& parent = nodes_[up.index()];
      parent.gpu_incl_ns += node.gpu_incl_ns;
      parent.kernel_incl_ns += node.kernel_incl_ns;
      parent.kernels_incl += node.kernels_incl;
      parent.activities_incl += node.activities_incl;
      used_[up.index()] |= used_[i];
      if (seen.any) SeeDevice(device_[up.index()], seen.device);
      device_[up.index()].several |= seen.several;
    }
  }

  /// Running unions of all modules at once: rows come by device and start, each goes to the modules
  /// around it; on a new device the unions start anew and their lengths add up.
  void AddBusy() {
    struct State {
      IntervalUnion busy;
      trace::DeviceId device;
      bool started = false;
    };
    const auto too_deep = [](const attribution::Module& module) {
      return module.depth > ModuleNode::kDeepestBusy;
    };
    if (std::any_of(modules_.begin(), modules_.end(), too_deep)) return;
    for (ModuleNode& node : nodes_) node.gpu_busy_ns = 0;
    std::vector<State> states(nodes_.size());
    for (const uint32_t row : view_.RowsByDeviceAndStart()) {
      const int64_t start_ns = view_.activities().start_ns[row];
      const int64_t dur_ns = view_.activities().dur_ns[row];
      const trace::DeviceId device = view_.DeviceOf(row);
      for (ModuleId m = attr_.module[row]; m.valid(); m = modules_[m.index()].parent) {
        State& state = states[m.index()];
        if (state.started && state.device != device) {
          *nodes_[m.index()].gpu_busy_ns += std::exchange(state.busy, {}).busy_ns();
        }
        state.started = true;
        state.device = device;
        state.busy.Add(start_ns, dur_ns);
      }
    }
    for (size_t i = 0; i < nodes_.size(); ++i) *nodes_[i].gpu_busy_ns += states[i].busy.busy_ns();
  }

  void CountCalls() {
    CountSelectedCalls();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!view_.SelectsHost(modules_[i].process)) continue;
      nodes_[i].calls = modules_[i].calls;
      nodes_[i].captured_calls = modules_[i].captured_calls;
      nodes_[i].cpu_ns = modules_[i].cpu_ns;
      nodes_[i].cpu_self_ns = modules_[i].cpu_self_ns;
      used_[i] = 1;
    }
  }

  /// Calls that hold a selected activity, those that the selection holds by itself, and the calls
  /// around them; and their CPU time.
  void CountSelectedCalls() {
    if (view_.selects_all()) return;
    const attribution::ModuleTree& tree = attr_.modules;
    std::vector<uint8_t> counted(tree.module_of_scope.size(), 0);
    const auto count_around = [&](trace::ScopeId s) {
      for (; s.valid() && counted[s.index()] == 0; s = tree.parent_of_scope[s.index()]) {
        counted[s.index()] = 1;
      }
    };
    for (const uint32_t row : view_.rows()) count_around(attr_.scope[row]);
    SelectedHost host(view_);
    const trace::Scopes& scopes = view_.trace().scopes;
    for (size_t i = 0; i < scopes.size(); ++i) {
      const int64_t end_ns = base::AddClamped(scopes.start_ns[i], scopes.dur_ns[i]);
      if (host.Holds(scopes.thread[i], scopes.start_ns[i], end_ns)) count_around(trace::ScopeId(i));
    }
    for (size_t i = 0; i < counted.size(); ++i) {
      if (counted[i] != 0) CountCall(trace::ScopeId(i));
    }
    if (!view_.cpu_only()) return;
    for (ModuleNode& node : nodes_) node.cpu_self_ns = node.gpu_excl_ns;
  }

  void CountCall(trace::ScopeId call) {
    const attribution::ModuleTree& tree = attr_.modules;
    const size_t module = tree.module_of_scope[call.index()].index();
    const std::vector<int64_t>& lengths = view_.trace().scopes.dur_ns;
    const int64_t dur_ns = call.index() < lengths.size() ? lengths[call.index()] : 0;  // replayed
    ModuleNode& node = nodes_[module];
    ++(tree.IsCapture(call) ? node.captured_calls : node.calls);
    node.cpu_ns += dur_ns;
    node.cpu_self_ns += dur_ns;
    used_[module] = 1;
    const trace::ScopeId up = tree.parent_of_scope[call.index()];
    if (up.valid()) nodes_[tree.module_of_scope[up.index()].index()].cpu_self_ns -= dur_ns;
  }

  std::vector<ModuleNode> InDepthFirstOrder() {
    constexpr uint32_t kNone = 0xffffffffU;
    std::vector<uint32_t> first_child(nodes_.size(), kNone), next_sibling(nodes_.size(), kNone);
    uint32_t first_root = kNone;
    for (size_t i = nodes_.size(); i-- > 0;) {
      const ModuleId up = modules_[i].parent;
      uint32_t& head = up.valid() ? first_child[up.index()] : first_root;
      next_sibling[i] = head;
      head = static_cast<uint32_t>(i);
    }
    std::vector<int64_t> place_of(nodes_.size(), -1);
    std::vector<ModuleNode> ordered;
    std::vector<uint32_t> stack;
    if (first_root != kNone) stack.push_back(first_root);
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      stack.pop_back();
      if (next_sibling[at] != kNone) stack.push_back(next_sibling[at]);
      if (used_[at] == 0) continue;
      place_of[at] = static_cast<int64_t>(ordered.size());
      ModuleNode node = std::move(nodes_[at]);
      node.id = place_of[at];
      const ModuleId up = modules_[at].parent;
      node.parent = up.valid() ? place_of[up.index()] : -1;
      ordered.push_back(std::move(node));
      if (first_child[at] != kNone) stack.push_back(first_child[at]);
    }
    return ordered;
  }

  void Check() const {
    int64_t attributed_ns = 0;
    std::vector<int64_t> below(result_.nodes.size(), 0);
    for (size_t i = result_.nodes.size(); i-- > 0;) {
      const ModuleNode& node = result_.nodes[i];
      LS_CHECK(node.gpu_incl_ns == node.gpu_excl_ns + below[i],
               "children do not sum to the parent");
      if (node.parent >= 0) below[static_cast<size_t>(node.parent)] += node.gpu_incl_ns;
      attributed_ns += node.gpu_excl_ns;
    }
    LS_CHECK(attributed_ns + result_.unattributed.gpu_ns == result_.total_ns,
             "attributed and unattributed time do not add up to the total");
  }

  const RankView& view_;
  const attribution::Attribution& attr_;
  const std::vector<attribution::Module>& modules_;
  std::vector<ModuleNode> nodes_;
  std::vector<SeenDevice> device_;
  std::vector<uint8_t> used_;
  ModuleNodes result_;
};

}  // namespace

ModuleNodes BuildModuleNodes(const RankView& view) {
  return NodeBuilder(view).Build();
}

std::vector<size_t> SubtreeEnds(const std::vector<ModuleNode>& nodes) {
  std::vector<size_t> ends(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    ends[i] = std::max(ends[i], i + 1);
    if (nodes[i].parent < 0) continue;
    size_t& parent_end = ends[static_cast<size_t>(nodes[i].parent)];
    parent_end = std::max(parent_end, ends[i]);
  }
  return ends;
}

}  // namespace layerscope::analysis
