#include "src/attribution/captured_calls.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/attribution/captured_pieces.h"
#include "src/base/checked_sum.h"

namespace layerscope::attribution {
namespace {

/// By thread: when something was recorded into a graph, sorted.
std::vector<std::vector<int64_t>> CaptureTimes(const trace::Trace& trace) {
  std::vector<std::vector<int64_t>> times(trace.threads.size());
  for (const CapturedPiece& piece : FindCapturedPieces(trace, {})) {
    for (const CapturedCall& call : piece.calls) {
      times[piece.thread.index()].push_back(trace.calls.start_ns[call.call]);
    }
  }
  const trace::GraphNodes& nodes = trace.graph_nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool captured = nodes.original[i] == trace::kNoGraphNode && nodes.thread[i].valid();
    if (captured) times[nodes.thread[i].index()].push_back(nodes.start_ns[i]);
  }
  for (std::vector<int64_t>& of_thread : times) std::sort(of_thread.begin(), of_thread.end());
  return times;
}

/// 1: a call that holds an activity, itself or in a call below it.
std::vector<uint8_t> CallsThatRan(const Attribution& attribution) {
  const ModuleTree& tree = attribution.modules;
  std::vector<uint8_t> ran(tree.module_of_scope.size(), 0);
  for (trace::ScopeId at : attribution.scope) {
    for (; at.valid() && ran[at.index()] == 0; at = tree.parent_of_scope[at.index()]) {
      ran[at.index()] = 1;
    }
  }
  return ran;
}

/// The trace's own calls, those around before those inside.
std::vector<uint32_t> OuterFirst(const ModuleTree& tree, size_t n_scopes) {
  std::vector<uint32_t> order(n_scopes);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return tree.depth_of_scope[a] < tree.depth_of_scope[b];
  });
  return order;
}

}  // namespace

void MarkCapturedCalls(const trace::Trace& trace, Attribution& attribution) {
  if (trace.activities.size() == 0 || trace.scopes.size() == 0) return;
  const std::vector<std::vector<int64_t>> times = CaptureTimes(trace);
  if (std::all_of(times.begin(), times.end(), [](const auto& list) { return list.empty(); })) {
    return;
  }
  const std::vector<uint8_t> ran = CallsThatRan(attribution);
  // A trace of captures alone is about them: its calls are those of the model.
  if (std::find(ran.begin(), ran.end(), 1) == ran.end()) return;
  ModuleTree& tree = attribution.modules;
  const trace::Scopes& scopes = trace.scopes;
  tree.is_capture.assign(scopes.size(), 0);
  const auto records = [&](uint32_t scope) {
    const std::vector<int64_t>& list = times[scopes.thread[scope].index()];
    const auto first = std::lower_bound(list.begin(), list.end(), scopes.start_ns[scope]);
    return first != list.end() &&
           *first < base::AddClamped(scopes.start_ns[scope], scopes.dur_ns[scope]);
  };
  for (const uint32_t scope : OuterFirst(tree, scopes.size())) {
    if (ran[scope] != 0) continue;
    const trace::ScopeId around = tree.parent_of_scope[scope];
    const bool inside = around.valid() && tree.is_capture[around.index()] != 0;
    if (!inside && !records(scope)) continue;
    tree.is_capture[scope] = 1;
    Module& module = tree.modules[tree.module_of_scope[scope].index()];
    --module.calls;
    ++module.captured_calls;
  }
}

}  // namespace layerscope::attribution
