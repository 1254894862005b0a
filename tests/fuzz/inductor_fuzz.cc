// What torch.compile wrote down, of any bytes: a provenance map, generated code, the structured
// log, a printed graph and the names of kernels: refused, or whole.
#include <algorithm>
#include <string>
#include <string_view>

#include "src/base/check.h"
#include "src/model/inductor_graph_text.h"
#include "src/model/inductor_kernel_name.h"
#include "src/model/inductor_output_code.h"
#include "src/model/inductor_provenance.h"
#include "src/model/inductor_trace_log.h"

#include "tests/fuzz/target.h"

namespace model = layerscope::model;

namespace {

/// Longer names are cut by profilers; the check below is quadratic in them.
constexpr size_t kMaxName = 512;

void ReadMap(std::string_view text) {
  const auto graph = model::ParseProvenanceMap(text, "map.json");
  if (!graph.ok()) {
    LS_CHECK(!graph.error().message.empty(), "a refusal says why");
    return;
  }
  uint64_t last = 0;
  for (const model::InductorProvenance::Site& site : graph->sites) {
    LS_CHECK(static_cast<uint64_t>(site.number) >= last, "calls are in order, unknown ones last");
    last = static_cast<uint64_t>(site.number);
  }
}

void ReadCode(std::string_view text) {
  for (const model::OutputCodeCall& call : model::ParseOutputCode(text).calls) {
    LS_CHECK(call.number >= -1, "a call has a number or none");
    LS_CHECK(call.kernel.size() <= text.size(), "a name is a part of the text");
  }
}

void ReadLog(std::string_view text) {
  for (const model::TracedGraph& graph : model::ParseInductorTraceLog(text)) {
    for (const auto& [node, modules] : *graph.nodes) {
      LS_CHECK(!modules.empty(), "nodes that read nothing are left out");
    }
    ReadMap(graph.provenance_map);
  }
}

void ReadGraph(std::string_view text) {
  model::ForEachGraphStatement(text, [](const model::GraphStatement& statement) {
    LS_CHECK(!statement.node.empty(), "a statement names its node");
    (void)model::OperatorOf(statement.value);
    (void)model::OperatorOfNode(statement.node);
    (void)model::ModulesRead(statement.value);
  });
}

void ReadNames(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view name = text.substr(0, std::min(end, kMaxName));
    if (const auto parsed = model::ParseInductorKernelName(name)) {
      size_t length = 0;
      for (const std::string& op : parsed->ops) length += op.size();
      LS_CHECK(length <= name.size(), "operators are parts of the name");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadMap(text);
  ReadCode(text);
  ReadLog(text);
  ReadGraph(text);
  ReadNames(text);
  return 0;
}
