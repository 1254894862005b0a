#include "src/model/inductor_trace_log.h"

#include <map>
#include <utility>

#include "src/base/take_line.h"
#include "src/model/inductor_graph_text.h"

namespace layerscope::model {
namespace {

/// `"frame_id": 1, "frame_compile_id": 0`: what the entries of one compilation share.
std::string_view FrameOf(std::string_view line) {
  const size_t begin = line.find("\"frame_id\": ");
  if (begin == std::string_view::npos) return {};
  const size_t end = line.find(", \"attempt\"", begin);
  return line.substr(begin, end == std::string_view::npos ? end : end - begin);
}

/// The indented lines behind a line of the log: its payload.
std::string_view TakePayload(std::string_view& text) {
  const std::string_view all = text;
  while (text.starts_with('\t')) base::TakeLine(text);
  return all.substr(0, all.size() - text.size());
}

TracedGraph::Nodes NodesOf(std::string_view graph) {
  TracedGraph::Nodes nodes;
  ForEachGraphStatement(graph, [&nodes](const GraphStatement& statement) {
    // The first lines rename the placeholders themselves.
    if (statement.node.starts_with("l_self_")) return;
    std::vector<std::string> modules = ModulesRead(statement.value);
    if (!modules.empty()) {
      nodes.insert_or_assign(std::string(statement.node), std::move(modules));
    }
  });
  return nodes;
}

}  // namespace

std::vector<TracedGraph> ParseInductorTraceLog(std::string_view text) {
  std::vector<TracedGraph> graphs;
  const auto none = std::make_shared<const TracedGraph::Nodes>();
  std::map<std::string_view, std::shared_ptr<const TracedGraph::Nodes>> traced;  // by frame
  while (!text.empty()) {
    const std::string_view line = base::TakeLine(text);
    const std::string_view payload = TakePayload(text);
    if (line.find("{\"dynamo_output_graph\"") != std::string_view::npos) {
      traced[FrameOf(line)] = std::make_shared<const TracedGraph::Nodes>(NodesOf(payload));
    } else if (line.find("\"name\": \"inductor_provenance_tracking_node_mappings\"") !=
               std::string_view::npos) {
      const auto of_frame = traced.find(FrameOf(line));
      graphs.push_back({of_frame == traced.end() ? none : of_frame->second, std::string(payload)});
    }
  }
  return graphs;
}

}  // namespace layerscope::model
