#include "src/model/inductor_trace_log.h"

#include <algorithm>
#include <map>

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
  size_t at = 0;
  while (at < text.size() && text[at] == '\t') {
    const size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  const std::string_view payload = text.substr(0, at);
  text.remove_prefix(at);
  return payload;
}

std::vector<TracedGraph::Node> NodesOf(std::string_view graph) {
  std::vector<TracedGraph::Node> nodes;
  ForEachGraphStatement(graph, [&nodes](const GraphStatement& statement) {
    // The first lines rename the placeholders themselves.
    if (statement.node.starts_with("l_self_")) return;
    std::vector<std::string> modules = ModulesRead(statement.value);
    if (!modules.empty()) nodes.push_back({std::string(statement.node), std::move(modules)});
  });
  return nodes;
}

}  // namespace

std::vector<TracedGraph> ParseInductorTraceLog(std::string_view text) {
  std::vector<TracedGraph> graphs;
  std::map<std::string_view, std::vector<TracedGraph::Node>> traced;  // by frame
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view payload = TakePayload(text);
    if (line.find("{\"dynamo_output_graph\"") != std::string_view::npos) {
      traced[FrameOf(line)] = NodesOf(payload);
    } else if (line.find("\"name\": \"inductor_provenance_tracking_node_mappings\"") !=
               std::string_view::npos) {
      graphs.push_back({traced[FrameOf(line)], std::string(payload)});
    }
  }
  return graphs;
}

}  // namespace layerscope::model
