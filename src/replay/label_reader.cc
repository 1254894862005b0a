#include "src/replay/label_reader.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "src/base/hash.h"

namespace layerscope::replay {
namespace {

using OpName = trace::StringId;

class LabelReader {
 public:
  LabelReader(const SideTrace& source, const RecordedPiece& piece) : source_(source) {
    for (uint32_t i = 0; i < piece.nodes.size(); ++i) {
      const RecordedNode& node = piece.nodes[i];
      const bool copies = node.kernel.valid() &&
                          KindOfName(source.trace->strings[node.kernel]) != NodeKind::kKernel;
      if (node.kind == NodeKind::kKernel && !copies) labels_.node.push_back(i);
    }
    for (const uint32_t i : labels_.node) nodes_.push_back(&piece.nodes[i]);
  }

  RecordedLabels Read() {
    FindRuns();
    for (size_t run = 0; run < labels_.runs.size(); ++run) LabelRun(run);
    return std::move(labels_);
  }

 private:
  OpName NameOf(const RecordedNode& node) const {
    return node.op.valid() ? source_.attribution->OpName(*source_.trace, node.op) : OpName();
  }

  void FindRuns() {
    for (uint32_t begin = 0; begin < nodes_.size();) {
      uint32_t end = begin + 1;
      const trace::OpId op = nodes_[begin]->op;
      while (op.valid() && end < nodes_.size() && nodes_[end]->op == op) ++end;
      const std::string_view name = source_.trace->strings[NameOf(*nodes_[begin])];
      RecordedLabels::Run run{begin, end, FamilyOf(name), {}};
      if (NamesItsKernel(name)) run.kernel = name;
      labels_.runs.push_back(std::move(run));
      begin = end;
    }
  }

  WorkFamily FamilyOf(std::string_view op_name) {
    const auto [at, is_new] = family_of_.try_emplace(op_name, WorkFamily::kUnknown);
    if (is_new) at->second = FamilyOfOp(op_name);
    return at->second;
  }

  void LabelRun(size_t index) {
    const RecordedLabels::Run& run = labels_.runs[index];
    const auto name_of_run = [&](size_t i) {
      return i < labels_.runs.size() ? NameOf(*nodes_[labels_.runs[i].begin]) : OpName();
    };
    const RecordedNode& first = *nodes_[run.begin];
    const trace::ArgsId args =
        first.op.valid() ? source_.attribution->OpArgs(*source_.trace, first.op) : trace::ArgsId();
    for (uint32_t k = run.begin; k < run.end; ++k) {
      const Key key{name_of_run(index),    args,
                    ClassesOf(*nodes_[k]), k - run.begin,
                    run.end - run.begin,   name_of_run(index - 1),
                    name_of_run(index + 1)};
      const auto next = static_cast<uint32_t>(label_of_.size());
      labels_.label.push_back(label_of_.try_emplace(key, next).first->second);
    }
  }

  /// The classes of the modules around a node, hashed.
  uint64_t ClassesOf(const RecordedNode& node) {
    if (!node.scope.valid()) return 0;
    const attribution::ModuleTree& tree = source_.attribution->modules;
    uint64_t hash = 1;
    attribution::ModuleId module = tree.module_of_scope[node.scope.index()];
    for (size_t level = 0; module.valid() && level < attribution::kMaxModuleLevels; ++level) {
      const std::string_view name = tree.ClassOf(module, *source_.trace);
      hash = base::MixIn(hash, std::hash<std::string_view>{}(name));
      module = tree.modules[module.index()].parent;
    }
    return hash;
  }

  using Key = std::tuple<OpName, trace::ArgsId, uint64_t, uint32_t, uint32_t, OpName, OpName>;

  const SideTrace& source_;
  RecordedLabels labels_;
  std::vector<const RecordedNode*> nodes_;  // kernels
  std::map<std::string_view, WorkFamily> family_of_;
  std::map<Key, uint32_t> label_of_;
};

}  // namespace

RecordedLabels ReadLabels(const SideTrace& source, const RecordedPiece& piece) {
  return LabelReader(source, piece).Read();
}

}  // namespace layerscope::replay
