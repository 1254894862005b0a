#include "src/replay/graph_identity.h"

#include <tsl/robin_map.h>

#include "src/base/hash.h"

namespace layerscope::replay {
namespace {

struct NodeKey {
  int64_t node = 0;
  trace::ProcessId process;
  friend bool operator==(const NodeKey&, const NodeKey&) = default;
};
struct NodeHash {
  size_t operator()(const NodeKey& key) const noexcept {
    return base::Mix(static_cast<uint64_t>(key.node) ^ base::Mix(key.process.index()));
  }
};

/// A source placed it by one recording of several.
bool HasRecording(const LaunchOutcome& outcome) {
  return outcome.placed() && outcome.recording >= 0;
}

}  // namespace

trace::ProcessId ProcessOf(const Resolution& resolution, uint32_t launch) {
  const trace::Trace& trace = resolution.trace;
  const size_t call = resolution.graphs.launches[launch].call.index();
  return trace.threads[trace.calls.thread[call].index()].process;
}

GraphIdentity::GraphIdentity(const Resolution& resolution) : resolution_(resolution) {
  FindNodes();
  JoinForwards();
  for (uint32_t& graph : graph_of_launch_) {
    if (graph != kNone) graph = Root(graph);
  }
}

void GraphIdentity::FindNodes() {
  const std::vector<GraphLaunch>& launches = resolution_.graphs.launches;
  const trace::Activities& activities = resolution_.trace.activities;
  graph_of_launch_.assign(launches.size(), kNone);
  tsl::robin_map<NodeKey, uint32_t, NodeHash> graph_of_node;
  for (uint32_t i = 0; i < launches.size(); ++i) {
    uint32_t& graph = graph_of_launch_[i];
    for (const uint32_t row : launches[i].rows) {
      const int64_t node = activities.GraphNodeOf(row);
      if (node == trace::kNoGraphNode) continue;
      const auto next = static_cast<uint32_t>(parent_.size());
      const NodeKey key{node, ProcessOf(resolution_, i)};
      const auto [at, is_new] = graph_of_node.try_emplace(key, graph == kNone ? next : graph);
      if (is_new && graph == kNone) parent_.push_back(next);
      if (graph == kNone) graph = at->second;
      Join(graph, at->second);
    }
  }
}

/// The pieces of one forward that one recording explains are shown as one.
void GraphIdentity::JoinForwards() {
  for (const GraphLaunches::Group& group : resolution_.graphs.groups) {
    tsl::robin_map<int64_t, uint32_t> first_of_recording;
    for (uint32_t i = group.begin; i < group.end; ++i) {
      const LaunchOutcome& outcome = resolution_.outcomes[i];
      if (graph_of_launch_[i] == kNone || !HasRecording(outcome)) continue;
      const auto at = first_of_recording.try_emplace(outcome.recording, graph_of_launch_[i]).first;
      Join(at->second, graph_of_launch_[i]);
    }
  }
}

uint32_t GraphIdentity::Root(uint32_t graph) {
  while (parent_[graph] != graph) graph = parent_[graph] = parent_[parent_[graph]];
  return graph;
}

void GraphIdentity::Join(uint32_t a, uint32_t b) {
  parent_[Root(b)] = Root(a);
}

GraphIdentity::Key GraphIdentity::Of(uint32_t launch) const {
  const LaunchOutcome& outcome = resolution_.outcomes[launch];
  const GraphLaunch& replayed = resolution_.graphs.launches[launch];
  const bool burst = replayed.burst && !outcome.placed();
  const bool has_nodes = graph_of_launch_[launch] != kNone;
  const auto process = static_cast<uint32_t>(ProcessOf(resolution_, launch).index());
  const uint32_t graph = has_nodes ? graph_of_launch_[launch] : process;
  const int64_t recording = HasRecording(outcome) ? outcome.recording : -1;
  int64_t sequence = 0;
  // The order of a burst, and so its sequence, means nothing.
  if (!has_nodes && recording < 0) {
    sequence = burst ? static_cast<int64_t>(replayed.rows.size()) : int64_t{replayed.sequence};
  }
  return {outcome.evidence, burst, recording, has_nodes, graph, sequence};
}

}  // namespace layerscope::replay
