#include "src/attribution/module_graft.h"

#include <numeric>

#include "src/attribution/module_key.h"
#include "src/attribution/module_order.h"

namespace layerscope::attribution {

ModuleGraft::ModuleGraft(trace::Trace& trace, Attribution& attribution)
    : trace_(trace), out_(attribution) {
  const std::vector<Module>& modules = out_.modules.modules;
  for (size_t i = 0; i < modules.size(); ++i) Remember(ModuleId(i));
}

void ModuleGraft::Remember(ModuleId id) {
  const Module& module = out_.modules.modules[id.index()];
  module_of_key_.try_emplace(ModuleKey(module.parent, module.process, module.name, false), id);
  if (!module.path.valid()) return;
  module_of_key_.try_emplace(ModuleKey(module.parent, module.process, module.path, true), id);
}

trace::ArgsId ModuleGraft::InternArgs(const trace::Args& args) {
  for (; n_args_indexed_ < trace_.args.size(); ++n_args_indexed_) {
    id_of_args_.try_emplace(trace_.args[n_args_indexed_], trace::ArgsId(n_args_indexed_));
  }
  const auto [at, is_new] = id_of_args_.try_emplace(args, trace::ArgsId(trace_.args.size()));
  if (is_new) trace_.args.push_back(args);
  return at->second;
}

ModuleId ModuleGraft::FindOrAdd(ModuleId parent, trace::ProcessId process, const Name& name) {
  std::vector<Module>& modules = out_.modules.modules;
  if (parent.valid()) process = modules[parent.index()].process;
  const auto by_path = name.path.valid()
                           ? module_of_key_.find(ModuleKey(parent, process, name.path, true))
                           : module_of_key_.end();
  if (by_path != module_of_key_.end()) return by_path->second;
  const auto by_name = module_of_key_.find(ModuleKey(parent, process, name.name, false));
  if (by_name != module_of_key_.end()) {
    Module& found = modules[by_name->second.index()];
    // Two paths are two modules, though they be called the same.
    if (!name.path.valid() || !found.path.valid()) {
      if (!found.path.valid()) found.path = name.path;
      if (!found.class_name.valid()) found.class_name = name.class_name;
      const ModuleId id = by_name->second;
      Remember(id);
      return id;
    }
  }
  const ModuleId id(modules.size());
  const int depth = parent.valid() ? modules[parent.index()].depth + 1 : 1;
  modules.push_back({parent, depth, process, name.name, name.path, name.class_name, 0, 0, 0});
  Remember(id);
  return id;
}

ModuleId ModuleGraft::FindPath(ModuleId parent, trace::StringId path) const {
  const trace::ProcessId process = out_.modules.modules[parent.index()].process;
  const auto known = module_of_key_.find(ModuleKey(parent, process, path, true));
  return known == module_of_key_.end() ? ModuleId() : known->second;
}

trace::ScopeId ModuleGraft::AddCall(ModuleId module, trace::ScopeId around) {
  ModuleTree& tree = out_.modules;
  const trace::ScopeId id(tree.module_of_scope.size());
  tree.module_of_scope.push_back(module);
  tree.parent_of_scope.push_back(around);
  tree.depth_of_scope.push_back(around.valid() ? tree.depth_of_scope[around.index()] + 1 : 1);
  ++tree.modules[module.index()].calls;
  return id;
}

trace::OpId ModuleGraft::AddOp(trace::StringId name, trace::ArgsId args) {
  const trace::OpId id(trace_.ops.size() + out_.replayed_ops.size());
  out_.replayed_ops.name.push_back(name);
  out_.replayed_ops.args.push_back(args);
  return id;
}

void ModuleGraft::Place(uint32_t row, trace::ScopeId call, trace::OpId op, Evidence evidence) {
  out_.scope[row] = call;
  out_.module[row] = out_.modules.module_of_scope[call.index()];
  out_.module_evidence[row] = evidence;
  out_.module_reason[row] = Reason::kNone;
  if (op.valid()) out_.op[row] = op;
}

void ModuleGraft::PlaceOp(uint32_t row, trace::OpId op) {
  out_.op[row] = op;
}

void ModuleGraft::Finish() {
  module_of_key_.clear();
  std::vector<uint32_t> order(out_.modules.modules.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::vector<ModuleId> new_id = PutInPreOrder(out_.modules, order);
  for (ModuleId& id : out_.module) {
    if (id.valid()) id = new_id[id.index()];
  }
  out_.category_of_name.resize(trace_.strings.size(), kernel_names::CategoryId(0));
}

}  // namespace layerscope::attribution
