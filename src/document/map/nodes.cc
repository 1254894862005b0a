#include "src/document/map/nodes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "src/analysis/module_path.h"
#include "src/base/checked_sum.h"
#include "src/base/format_number.h"
#include "src/document/map/values.h"

namespace layerscope::document {
namespace {

using table::Array;
using table::Object;
using table::Value;

constexpr const char* kNoOp = "[no op]";
constexpr const char* kForward = "[forward]";
constexpr const char* kCpuOnly = "CPU-only";
constexpr const char* kMetadata = "GPU tensor metadata (no kernel)";

/// One figure of a node for each member of the outermost fold; absent where it is not there.
struct SlotValues {
  std::vector<std::optional<int64_t>> cpu_ns;
  std::vector<std::optional<int64_t>> gpu_ns;
};

SlotValues ValuesBySlot(const ExecutionTree& tree, const MapNode& node) {
  SlotValues values;
  values.cpu_ns.resize(node.n_slots);
  values.gpu_ns.resize(node.n_slots);
  for (const MapNode::Member& member : node.members) {
    const ExecutionNode& of = tree.nodes[member.node];
    values.cpu_ns[member.slot] =
        base::AddClamped(values.cpu_ns[member.slot].value_or(0), of.cpu_ns);
    values.gpu_ns[member.slot] = values.gpu_ns[member.slot].value_or(0) + of.sums.gpu_ns;
  }
  return values;
}

Array ToMicroseconds(const std::vector<std::optional<int64_t>>& values) {
  Array array;
  for (const std::optional<int64_t>& ns : values) {
    array.emplace_back(ns ? Value(Microseconds(*ns)) : Value());
  }
  return array;
}

Array ToNanoseconds(const std::vector<std::optional<int64_t>>& values) {
  Array array;
  for (const std::optional<int64_t>& ns : values) array.emplace_back(ns ? Value(*ns) : Value());
  return array;
}

struct Spread {
  int64_t n = 0;
  int64_t sum = 0;
  int64_t least = 0;
  int64_t most = 0;
  int64_t mean() const { return n == 0 ? 0 : base::DivideHalfEven(sum, n); }
};

Spread SpreadOf(const std::vector<std::optional<int64_t>>& values) {
  Spread spread;
  for (const std::optional<int64_t>& value : values) {
    if (!value) continue;
    spread.least = spread.n == 0 ? *value : std::min(spread.least, *value);
    spread.most = spread.n == 0 ? *value : std::max(spread.most, *value);
    spread.sum = base::AddClamped(spread.sum, *value);
    ++spread.n;
  }
  return spread;
}

}  // namespace

Execution::Execution(ExecutionRank of, bool collapse)
    : rank(std::move(of)),
      names(rank),
      forwards(rank),
      tree(BuildExecutionTree(rank, forwards)),
      folds(FoldModules(tree, names)),
      map(BuildExecutionMap(rank, tree, folds, forwards.size(), collapse)) {}

std::string NodeWriter::NameOf(uint32_t id) const {
  std::vector<attribution::ModuleId> modules;
  for (const MapNode::Member& member : map_.nodes[id].members) {
    modules.push_back(execution_.tree.nodes[member.node].module);
  }
  return execution_.names.NameOfAll(modules);
}

std::string NodeWriter::PathOf(uint32_t id, const std::string& parent_path) const {
  const MapNode& node = map_.nodes[id];
  if (node.members.size() == 1) return execution_.names.PathOf(First(node).module);
  return analysis::JoinPath(parent_path, NameOf(id), First(node).depth);
}

int64_t NodeWriter::FirstCpu(const MapNode& node) const {
  int64_t ns = 0;
  for (const MapNode::Member& member : node.members) {
    if (member.slot != node.members.front().slot) break;
    ns = base::AddClamped(ns, execution_.tree.nodes[member.node].cpu_ns);
  }
  return ns;
}

int64_t NodeWriter::FirstGpu(const MapNode& node) const {
  int64_t ns = 0;
  for (const MapNode::Member& member : node.members) {
    if (member.slot != node.members.front().slot) break;
    ns += execution_.tree.nodes[member.node].sums.gpu_ns;
  }
  return ns;
}

void NodeWriter::AddFigures(const MapNode& node, Object& object) const {
  object.emplace_back("calls", node.calls);
  object.emplace_back("cpu_ns", node.cpu_ns);
  object.emplace_back("gpu_ns", node.sums.gpu_ns);
  object.emplace_back("gpu_own_ns", node.own_ns);
  object.emplace_back("kernel_ns", node.sums.kernel_ns);
  object.emplace_back("gpu_busy_ns", node.busy_ns);
  object.emplace_back("kernels", node.sums.kernels);
  object.emplace_back("evidence", EvidenceValue(node.sums.evidence_ns));
}

void NodeWriter::AddPasses(const MapNode& node, Object& object) const {
  if (execution_.forwards.size() < 2 || node.passes.n == 0) return;
  object.emplace_back(
      "passes", Object{{"n", node.passes.n},
                       {"avg_gpu_ns", base::DivideHalfEven(node.passes.sum_ns, node.passes.n)},
                       {"min_gpu_ns", node.passes.min_ns},
                       {"max_gpu_ns", node.passes.max_ns}});
}

void NodeWriter::AddLayers(const MapNode& node, bool is_module, Object& object) const {
  if (node.n_slots < 2) return;
  const SlotValues values = ValuesBySlot(execution_.tree, node);
  const Spread cpu = SpreadOf(values.cpu_ns);
  const Spread gpu = SpreadOf(values.gpu_ns);
  if (is_module && node.repeat > 1) {
    object.emplace_back("repeat", int64_t{node.repeat});
    object.emplace_back("per_layer_dur", ToMicroseconds(values.cpu_ns));
  }
  object.emplace_back("all_layer_durs", ToMicroseconds(values.cpu_ns));
  object.emplace_back(is_module ? "avg_dur_us" : "avg_us", Microseconds(cpu.mean()));
  object.emplace_back(is_module ? "min_dur_us" : "min_us", Microseconds(cpu.least));
  object.emplace_back(is_module ? "max_dur_us" : "max_us", Microseconds(cpu.most));
  if (node.sums.activities == 0) return;
  object.emplace_back("all_layer_gpu_ns", ToNanoseconds(values.gpu_ns));
  object.emplace_back("avg_gpu_ns", gpu.mean());
  object.emplace_back("min_gpu_ns", gpu.least);
  object.emplace_back("max_gpu_ns", gpu.most);
}

void NodeWriter::AddRanks(const MapNode& node, Object& object) const {
  if (ranks_.empty()) return;
  Array gpu_ns;
  Array cpu_ns;
  for (const PathTimes& rank : ranks_) {
    bool found = false;
    int64_t gpu = 0;
    int64_t cpu = 0;
    for (const MapNode::Member& member : node.members) {
      const auto at =
          rank.of_path.find(execution_.names.PathOf(execution_.tree.nodes[member.node].module));
      if (at == rank.of_path.end()) continue;
      found = true;
      gpu += at->second.first;
      cpu = base::AddClamped(cpu, at->second.second);
    }
    gpu_ns.push_back(found ? Value(gpu) : Value());
    cpu_ns.push_back(found ? Value(cpu) : Value());
  }
  object.emplace_back("rank_gpu_ns", std::move(gpu_ns));
  object.emplace_back("rank_cpu_ns", std::move(cpu_ns));
}

Object NodeWriter::Module(uint32_t id, const std::string& parent_path) const {
  const MapNode& node = map_.nodes[id];
  const attribution::ModuleId module = First(node).module;
  const std::string path = PathOf(id, parent_path);
  Object object{{"class", std::string(execution_.names.ClassOf(module))},
                {"instance", std::max<int64_t>(execution_.names.NumberOf(module), 0)},
                {"name", NameOf(id)},
                {"path", path},
                {"seq", node.seq},
                {"dur_us", Microseconds(FirstCpu(node))}};
  AddFigures(node, object);
  AddPasses(node, object);
  AddLayers(node, true, object);
  if (node.n_slots == node.members.size() && node.n_slots > 1) {
    Array members;
    for (const MapNode::Member& member : node.members) {
      const attribution::ModuleId of = execution_.tree.nodes[member.node].module;
      members.emplace_back(std::string(execution_.names.NameOf(of)));
    }
    object.emplace_back("members", std::move(members));
  }
  AddRanks(node, object);
  Array children;
  for (const uint32_t child : node.modules) children.emplace_back(Module(child, path));
  object.emplace_back("children", std::move(children));
  object.emplace_back("ops", Ops(node.ops));
  return object;
}

Object NodeWriter::Around(const std::vector<uint32_t>& roots) const {
  MapNode sums;
  sums.busy_ns = map_.roots_busy_ns;
  Array children;
  for (const uint32_t root : roots) {
    const MapNode& node = map_.nodes[root];
    sums.calls = std::max(sums.calls, node.calls);
    sums.cpu_ns = base::AddClamped(sums.cpu_ns, node.cpu_ns);
    sums.sums.Add(node.sums);
    children.emplace_back(Module(root, ""));
  }
  Object object{{"class", kForward}, {"instance", 0}, {"name", kForward},
                {"path", ""},        {"seq", 0},      {"dur_us", Microseconds(sums.cpu_ns)}};
  AddFigures(sums, object);
  object.emplace_back("children", std::move(children));
  object.emplace_back("ops", Array());
  return object;
}

Array NodeWriter::Ops(const std::vector<uint32_t>& ops) const {
  Array array;
  for (const uint32_t op : ops) array.emplace_back(Op(op));
  return array;
}

std::string NodeWriter::RoleOf(trace::StringId kernel) const {
  const analysis::RankView& view = *execution_.rank.view;
  return view.rules().category(view.attribution().category_of_name[kernel.index()]).name;
}

void NodeWriter::AddArguments(const MapNode& node, Object& object) const {
  OpArguments arguments = ReadArguments(execution_.rank.trace(), First(node).args);
  const bool has_tensor = arguments.has_tensor;
  if (!arguments.dims.empty()) object.emplace_back("dims", std::move(arguments.dims));
  if (!arguments.args.empty()) object.emplace_back("args", std::move(arguments.args));
  if (node.largest_kernel) return;
  const bool on_gpu = has_tensor && !execution_.rank.view->cpu_only();
  object.emplace_back("gpu_note", on_gpu ? kMetadata : kCpuOnly);
}

void NodeWriter::AddKernels(const MapNode& node, Object& object) const {
  if (!node.largest_kernel) return;
  const trace::StringPool& strings = execution_.rank.trace().strings;
  object.emplace_back("gpu", CutName(strings[node.largest_kernel->name]));
  object.emplace_back("gpu_dur_us", Microseconds(FirstGpu(node)));
  object.emplace_back("gpu_role", RoleOf(node.largest_kernel->name));
}

Object NodeWriter::LongestRun(const KernelUse& kernel) const {
  const analysis::RankView& view = *execution_.rank.view;
  const trace::Trace& trace = execution_.rank.trace();
  const trace::Activities& activities = view.activities();
  Object object{{"gpu_ns", activities.dur_ns[kernel.longest]}};
  const auto add_label = [&object](const char* key, const analysis::LabelValue& label) {
    if (const auto* number = std::get_if<int64_t>(&label)) object.emplace_back(key, *number);
    if (const auto* text = std::get_if<std::string_view>(&label)) {
      object.emplace_back(key, CutName(*text));
    }
  };
  add_label("device", view.DeviceLabel(view.DeviceOf(kernel.longest)));
  const trace::StreamId stream = activities.stream[kernel.longest];
  if (stream.valid()) add_label("stream", view.LabelOf(trace.streams[stream.index()].id));
  if (const trace::ArgsId args = activities.args[kernel.longest]; args.valid()) {
    const trace::Args& of = trace.args[args.index()];
    if (of.grid.valid()) object.emplace_back("grid", CutName(trace.strings[of.grid]));
    if (of.block.valid()) object.emplace_back("block", CutName(trace.strings[of.block]));
  }
  const trace::CallId launch = view.attribution().launch[kernel.longest];
  if (launch.valid()) {
    object.emplace_back("launch", CutName(trace.strings[trace.calls.name[launch.index()]]));
  }
  return object;
}

Object NodeWriter::ListedOp(uint32_t id, const std::string& module) const {
  const MapNode& node = map_.nodes[id];
  const trace::StringPool& strings = execution_.rank.trace().strings;
  const trace::StringId name = First(node).op;
  Object object{{"op", name.valid() ? CutName(strings[name]) : kNoOp},
                {"module", module},
                {"dur_us", Microseconds(FirstCpu(node))}};
  AddArguments(node, object);
  AddKernels(node, object);
  AddFigures(node, object);
  if (node.n_slots < 2) return object;
  const SlotValues values = ValuesBySlot(execution_.tree, node);
  const Spread cpu = SpreadOf(values.cpu_ns);
  const Spread gpu = SpreadOf(values.gpu_ns);
  object.emplace_back("avg_us", Microseconds(cpu.mean()));
  object.emplace_back("min_us", Microseconds(cpu.least));
  object.emplace_back("max_us", Microseconds(cpu.most));
  object.emplace_back("avg_gpu_ns", gpu.mean());
  object.emplace_back("min_gpu_ns", gpu.least);
  object.emplace_back("max_gpu_ns", gpu.most);
  return object;
}

Object NodeWriter::Op(uint32_t id) const {
  const MapNode& node = map_.nodes[id];
  const trace::StringPool& strings = execution_.rank.trace().strings;
  const trace::StringId name = First(node).op;
  Object object{{"op", name.valid() ? CutName(strings[name]) : kNoOp},
                {"seq", node.seq},
                {"dur_us", Microseconds(FirstCpu(node))}};
  AddArguments(node, object);
  AddKernels(node, object);
  AddFigures(node, object);
  AddPasses(node, object);
  AddLayers(node, false, object);
  if (!node.kernels.empty()) {
    Array kernels;
    for (const KernelUse& kernel : node.kernels) {
      kernels.emplace_back(Object{{"name", CutName(strings[kernel.name])},
                                  {"n", kernel.n},
                                  {"gpu_ns", kernel.gpu_ns},
                                  {"role", RoleOf(kernel.name)},
                                  {"longest_run", LongestRun(kernel)}});
    }
    object.emplace_back("gpu_kernels", std::move(kernels));
  }
  if (!node.ops.empty()) object.emplace_back("sub_ops", Ops(node.ops));
  return object;
}

}  // namespace layerscope::document
