#include "src/document/map/forwards.h"

#include <algorithm>
#include <string_view>

namespace layerscope::document {
namespace {

using attribution::ModuleId;

/// The root above every module.
std::vector<uint32_t> RootsOf(const std::vector<attribution::Module>& modules) {
  std::vector<uint32_t> root(modules.size());
  for (uint32_t i = 0; i < modules.size(); ++i) {
    const ModuleId up = modules[i].parent;
    root[i] = up.valid() ? root[up.index()] : i;
  }
  return root;
}

}  // namespace

Forwards::Forwards(const ExecutionRank& rank) {
  FindRoot(rank);
  if (!root_.valid()) return;
  FindTopScopes(rank);
  CollectCalls(rank);
  OpenAtSteps(rank);
}

void Forwards::FindRoot(const ExecutionRank& rank) {
  const attribution::ModuleTree& tree = rank.attribution().modules;
  const std::vector<uint32_t> root_of = RootsOf(tree.modules);
  std::vector<int64_t> gpu_ns(tree.modules.size(), 0);
  for (const uint32_t row : rank.rows) {
    const ModuleId module = rank.attribution().module[row];
    if (module.valid()) gpu_ns[root_of[module.index()]] += rank.view->activities().dur_ns[row];
  }
  const auto longer = [&](size_t a, size_t b) {
    if (gpu_ns[a] != gpu_ns[b]) return gpu_ns[a] > gpu_ns[b];
    return tree.modules[a].cpu_ns > tree.modules[b].cpu_ns;
  };
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    const attribution::Module& module = tree.modules[i];
    if (module.parent.valid() || !rank.Holds(module.process)) continue;
    if (!root_.valid() || longer(i, root_.index())) root_ = ModuleId(i);
  }
  if (!root_.valid()) return;
  const std::string_view class_name = tree.ClassOf(root_, rank.trace());
  for (size_t i = 0; i < root_.index(); ++i) {
    const attribution::Module& module = tree.modules[i];
    if (module.parent.valid() || !rank.Holds(module.process)) continue;
    if (tree.ClassOf(ModuleId(i), rank.trace()) == class_name) root_ = ModuleId(i);
  }
}

void Forwards::FindTopScopes(const ExecutionRank& rank) {
  const std::vector<trace::ScopeId>& parents = rank.attribution().modules.parent_of_scope;
  top_of_scope_.assign(parents.size(), kNone);
  std::vector<uint32_t> chain;
  for (uint32_t scope = 0; scope < parents.size(); ++scope) {
    uint32_t at = scope;
    while (top_of_scope_[at] == kNone && parents[at].valid()) {
      chain.push_back(at);
      at = static_cast<uint32_t>(parents[at].index());
    }
    if (top_of_scope_[at] == kNone) top_of_scope_[at] = at;
    for (const uint32_t below : chain) top_of_scope_[below] = top_of_scope_[at];
    chain.clear();
  }
}

void Forwards::CollectCalls(const ExecutionRank& rank) {
  const attribution::Attribution& attr = rank.attribution();
  const trace::Scopes& scopes = rank.trace().scopes;
  const std::vector<ModuleId>& module_of = attr.modules.module_of_scope;
  forward_of_scope_.assign(module_of.size(), kNone);
  std::vector<uint8_t> selected(module_of.size(), 0);
  if (rank.view->SelectsHost(attr.modules.modules[root_.index()].process)) {
    for (uint32_t scope = 0; scope < module_of.size(); ++scope) {
      selected[scope] = attr.modules.IsCapture(trace::ScopeId(scope)) ? 0 : 1;
    }
  }
  std::vector<Forward> call_of(module_of.size());
  for (const uint32_t row : rank.rows) {
    if (!attr.scope[row].valid()) continue;
    const uint32_t top = top_of_scope_[attr.scope[row].index()];
    if (module_of[top] != root_) continue;
    const std::optional<int64_t> launched = rank.LaunchTime(row);
    const int64_t t_ns = launched.value_or(rank.view->activities().start_ns[row]);
    Forward& call = call_of[top];
    if (!call.call.valid() || t_ns < call.start_ns) {
      call.start_ns = call.end_ns = t_ns;
      call.step = attr.step[row];
    }
    call.call = trace::ScopeId(top);
    selected[top] = 1;
  }
  for (uint32_t scope = 0; scope < module_of.size(); ++scope) {
    if (module_of[scope] != root_ || selected[scope] == 0) continue;
    Forward& call = call_of[scope];
    const bool ran = call.call.valid();
    call.call = trace::ScopeId(scope);
    if (scope < scopes.size()) {
      call.start_ns = scopes.start_ns[scope];
      call.end_ns = call.start_ns + scopes.dur_ns[scope];
    } else if (!ran) {
      continue;
    }
    forwards_.push_back(call);
  }
  std::sort(forwards_.begin(), forwards_.end(), [](const Forward& a, const Forward& b) {
    return std::pair(a.start_ns, a.call) < std::pair(b.start_ns, b.call);
  });
  for (uint32_t i = 0; i < forwards_.size(); ++i) {
    forward_of_scope_[forwards_[i].call.index()] = i;
  }
}

void Forwards::OpenAtSteps(const ExecutionRank& rank) {
  const std::vector<attribution::Step>& steps = rank.attribution().steps;
  size_t next_step = 0;
  for (size_t i = 0; i < forwards_.size(); ++i) {
    Forward& forward = forwards_[i];
    forward.opens_ns = i == 0 ? std::numeric_limits<int64_t>::min() : forward.start_ns;
    for (; next_step < steps.size() && steps[next_step].start_ns <= forward.start_ns; ++next_step) {
      if (i > 0 && steps[next_step].start_ns >= forwards_[i - 1].end_ns &&
          rank.HoldsThread(steps[next_step].thread)) {
        forward.opens_ns = steps[next_step].start_ns;
      }
    }
  }
}

Forwards::Place Forwards::At(int64_t t_ns) const {
  const auto after =
      std::upper_bound(forwards_.begin(), forwards_.end(), t_ns,
                       [](int64_t t, const Forward& forward) { return t < forward.opens_ns; });
  if (after == forwards_.begin()) return {};
  const auto index = static_cast<uint32_t>(after - forwards_.begin() - 1);
  return {index, t_ns < forwards_[index].start_ns};
}

uint32_t Forwards::OfRow(const ExecutionRank& rank, uint32_t row) const {
  const trace::ScopeId scope = rank.attribution().scope[row];
  if (scope.valid() && !top_of_scope_.empty()) {
    const uint32_t forward = forward_of_scope_[top_of_scope_[scope.index()]];
    if (forward != kNone) return forward;
  }
  const std::optional<int64_t> launched = rank.LaunchTime(row);
  return launched ? At(*launched).index : kNone;
}

}  // namespace layerscope::document
