#include "src/model/inductor_provenance.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "src/base/parse_number.h"
#include "src/base/string_map.h"
#include "src/io/small_file.h"
#include "src/json/document.h"
#include "src/model/inductor_debug_folder.h"
#include "src/model/inductor_graph_text.h"
#include "src/model/inductor_output_code.h"
#include "src/model/inductor_trace_log.h"

namespace layerscope::model {
namespace {

namespace fs = std::filesystem;
using Graph = InductorProvenance::Graph;
using Site = InductorProvenance::Site;

/// Maps are some MB for a large model; logs of a long run hundreds, and are then left out.
constexpr size_t kMaxFileBytes = size_t{256} << 20;
constexpr std::string_view kHowToRecord =
    "record with TORCH_COMPILE_DEBUG=1 and INDUCTOR_PROVENANCE=1, and give the torch_compile_debug "
    "folder or an inductor_provenance_tracking_node_mappings.json";

base::Result<std::string> ReadText(const std::string& path) {
  return io::ReadSmallFile(path, kMaxFileBytes, "a file of torch.compile", kHowToRecord);
}

/// Adds texts to a list, each once.
class OnceList {
 public:
  explicit OnceList(std::vector<std::string>& texts)
      : texts_(texts), seen_(texts.begin(), texts.end()) {}
  void Add(std::string_view text) {
    if (seen_.find(text) != seen_.end()) return;
    seen_.emplace(text);
    texts_.emplace_back(text);
  }

 private:
  std::vector<std::string>& texts_;
  std::set<std::string, std::less<>> seen_;
};

/// Members of an object by key, with their positions: the maps list nodes in the graph's order.
class Members {
 public:
  explicit Members(const json::Node* object) {
    if (object == nullptr) return;
    for (const json::Node::Member& member : object->members()) {
      index_.emplace(member.first, index_.size());
      values_.push_back(&member.second);
    }
  }
  bool empty() const { return values_.empty(); }
  /// Past the end for keys that are none.
  size_t PositionOf(std::string_view key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? values_.size() : found->second;
  }
  const json::Node* Find(std::string_view key) const {
    const size_t at = PositionOf(key);
    return at == values_.size() ? nullptr : values_[at];
  }
  void Sort(std::vector<std::string>& keys) const {
    std::stable_sort(keys.begin(), keys.end(), [this](const auto& a, const auto& b) {
      return PositionOf(a) < PositionOf(b);
    });
  }

 private:
  base::StringMap<size_t> index_;
  std::vector<const json::Node*> values_;
};

/// The texts of a list, or the one text that stands there alone; each once.
std::vector<std::string> TextsOf(const json::Node& list) {
  std::vector<std::string> texts;
  if (const auto text = list.AsString()) return {std::string(*text)};
  std::set<std::string_view> seen;
  for (const json::Node& item : list.items()) {
    const auto text = item.AsString();
    if (text && seen.insert(*text).second) texts.emplace_back(*text);
  }
  return texts;
}

bool IsKernelsToNodes(std::string_view key) {
  return key.ends_with("CodeToPost") || key.ends_with("KernelToPost") || key == "kernelToPost";
}
bool IsNodesToKernels(std::string_view key) {
  return key.starts_with("postTo") && (key.ends_with("Code") || key.ends_with("Kernel"));
}

/// Kernels with their nodes as (handle, nodes), from whichever direction the map has.
std::vector<std::pair<std::string, std::vector<std::string>>> KernelsOf(const json::Node& map) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kernels;
  for (const json::Node::Member& member : map.members()) {
    if (!IsKernelsToNodes(member.first)) continue;
    for (const json::Node::Member& kernel : member.second.members()) {
      kernels.emplace_back(kernel.first, TextsOf(kernel.second));
    }
  }
  if (!kernels.empty()) return kernels;
  std::map<std::string, size_t> index;
  for (const json::Node::Member& member : map.members()) {
    if (!IsNodesToKernels(member.first)) continue;
    for (const json::Node::Member& node : member.second.members()) {
      for (const std::string& kernel : TextsOf(node.second)) {
        const auto [at, is_new] = index.emplace(kernel, kernels.size());
        if (is_new) kernels.emplace_back(kernel, std::vector<std::string>());
        kernels[at->second].second.push_back(node.first);
      }
    }
  }
  return kernels;
}

void SortSites(std::vector<Site>& sites) {
  std::stable_sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) {
    return static_cast<uint64_t>(a.number) < static_cast<uint64_t>(b.number);  // unknown last
  });
}

bool IsProvenanceMap(const json::Node& map) {
  return std::any_of(map.members().begin(), map.members().end(), [](const auto& member) {
    return IsKernelsToNodes(member.first) || IsNodesToKernels(member.first);
  });
}

/// The calls of the generated code complete the sites of the map, or stand in where there is none.
void TakeCalls(std::vector<OutputCodeCall> calls, Graph& graph) {
  std::map<std::pair<std::string_view, int64_t>, Site*> sites;
  for (Site& site : graph.sites)
    sites.emplace(std::pair<std::string_view, int64_t>(site.kernel, site.number), &site);
  const bool has_map = !graph.sites.empty();
  std::vector<Site> others;
  for (OutputCodeCall& call : calls) {
    const auto found = sites.find({call.kernel, call.number});
    if (found == sites.end()) {
      Site site;
      site.kernel = call.kernel;
      site.number = call.number;
      site.ops = std::move(call.ops);
      site.source_nodes = std::move(call.source_nodes);
      if (!has_map) others.push_back(std::move(site));
      continue;
    }
    Site& site = *found->second;
    if (site.ops.empty()) site.ops = std::move(call.ops);
    if (site.source_nodes.empty()) site.source_nodes = std::move(call.source_nodes);
  }
  if (!has_map) graph.sites = std::move(others);
  SortSites(graph.sites);
}

/// Operators of nodes as the printed graphs have them.
using OperatorByNode = std::map<std::string, std::string, std::less<>>;

void FillOperators(const OperatorByNode& operators, Graph& graph) {
  for (Site& site : graph.sites) {
    OnceList graph_ops(site.graph_ops);
    for (const std::string& node : site.graph_nodes) {
      const auto known = operators.find(node);
      graph_ops.Add(known == operators.end() ? OperatorOfNode(node) : known->second);
    }
    if (site.ops.empty()) site.ops = site.graph_ops;
  }
}

/// A map as one text. The log and the folder write the same map with other members beside it.
std::string Fingerprint(const Graph& graph) {
  std::string text;
  for (const Site& site : graph.sites) {
    text += fmt::format("{}:{} {} <- {}\n", site.kernel, site.number,
                        fmt::join(site.graph_nodes, " "), fmt::join(site.source_nodes, " "));
  }
  return text;
}

/// Reads the folder of one graph.
class GraphFolder {
 public:
  GraphFolder(std::string folder, InductorProvenance& into)
      : folder_(std::move(folder)), into_(into) {}

  void Read() {
    Graph graph;
    graph.name = fs::path(folder_).filename().string();
    if (const size_t dot = graph.name.rfind('.'); dot != std::string::npos) {
      graph.id = base::ParseWhole(std::string_view(graph.name).substr(dot + 1));
    }
    if (const std::optional<std::string> map = Text(kProvenanceMapName)) TakeMap(*map, graph);
    std::string fingerprint = Fingerprint(graph);
    if (const std::optional<std::string> code = Text(kOutputCodeName)) {
      OutputCode parsed = ParseOutputCode(*code);
      if (!graph.id) graph.id = parsed.graph;
      TakeCalls(std::move(parsed.calls), graph);
    }
    if (graph.sites.empty()) return;
    OperatorByNode operators;
    for (const std::string_view name : {kTracedGraphName, kLoweredGraphName}) {
      const std::optional<std::string> text = Text(name);
      if (!text) continue;
      ForEachGraphStatement(*text, [&operators](const GraphStatement& statement) {
        const std::string_view op = OperatorOf(statement.value);
        if (!op.empty()) operators.insert_or_assign(std::string(statement.node), std::string(op));
      });
    }
    FillOperators(operators, graph);
    into_.graphs.push_back(std::move(graph));
    maps_.push_back(std::move(fingerprint));
  }

  /// Adds the graphs of all folders, and to `maps` the fingerprint of each.
  static void ReadAll(const std::vector<std::string>& folders, InductorProvenance& into,
                      std::vector<std::string>& maps) {
    for (const std::string& folder : folders) {
      GraphFolder reader(folder, into);
      reader.Read();
      for (std::string& map : reader.maps_) maps.push_back(std::move(map));
    }
  }

 private:
  void TakeMap(const std::string& text, Graph& graph) {
    base::Result<Graph> parsed = ParseProvenanceMap(text, PathOf(kProvenanceMapName));
    if (parsed.ok()) {
      graph.sites = std::move(parsed->sites);
    } else {
      into_.skipped.push_back(parsed.error().message);
    }
  }
  std::string PathOf(std::string_view name) const { return (fs::path(folder_) / name).string(); }
  std::optional<std::string> Text(std::string_view name) const {
    const std::string path = PathOf(name);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return std::nullopt;
    base::Result<std::string> text = ReadText(path);
    if (text.ok()) return *std::move(text);
    into_.skipped.push_back(text.error().message);
    return std::nullopt;
  }

  std::string folder_;
  InductorProvenance& into_;
  std::vector<std::string> maps_;
};

void SetModules(const TracedGraph& traced, Graph& graph) {
  for (Site& site : graph.sites) {
    OnceList modules(site.modules);
    for (const std::string& node : site.source_nodes) {
      const auto found = traced.nodes->find(node);
      if (found == traced.nodes->end()) continue;
      for (const std::string& module : found->second) modules.Add(module);
    }
  }
}

/// Gives each graph of the log to the first graph with the same map that has none yet: a graph that
/// was compiled several times is so in both in the same order.
void TakeLogs(const std::vector<std::string>& logs, const std::vector<std::string>& maps,
              InductorProvenance& provenance) {
  std::map<std::string_view, std::vector<size_t>> untaken;  // by map: its graphs, the last first
  for (size_t i = maps.size(); i-- > 0;) {
    if (!maps[i].empty()) untaken[maps[i]].push_back(i);
  }
  for (const std::string& path : logs) {
    const base::Result<std::string> text = ReadText(path);
    if (!text.ok()) {
      provenance.skipped.push_back(text.error().message);
      continue;
    }
    for (const TracedGraph& traced : ParseInductorTraceLog(*text)) {
      const base::Result<Graph> logged = ParseProvenanceMap(traced.provenance_map, path);
      if (!logged.ok()) continue;
      const auto found = untaken.find(Fingerprint(*logged));
      if (found == untaken.end() || found->second.empty()) continue;
      SetModules(traced, provenance.graphs[found->second.back()]);
      found->second.pop_back();
    }
  }
}

base::Result<InductorProvenance> LoadFolder(const std::string& path) {
  base::Result<InductorDebugFolder> found = FindInductorDebugFolder(path);
  if (!found.ok()) return std::move(found).error();
  InductorProvenance provenance;
  std::vector<std::string> maps;
  GraphFolder::ReadAll(found->graphs, provenance, maps);
  if (provenance.graphs.empty()) {
    const std::string why = !provenance.skipped.empty() ? provenance.skipped.front()
                            : found->graphs.empty()
                                ? "the folder holds no debug output of Inductor"
                                : "the generated code names no kernels: it was recorded without "
                                  "INDUCTOR_PROVENANCE=1";
    return base::Error{base::ErrorCode::kInvalidInput, fmt::format("{}: {}", path, why),
                       std::string(kHowToRecord)};
  }
  TakeLogs(found->logs, maps, provenance);
  return provenance;
}

base::Result<InductorProvenance> LoadFile(const std::string& path) {
  base::Result<std::string> text = ReadText(path);
  if (!text.ok()) return std::move(text).error();
  InductorProvenance provenance;
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (*text)[first] == '{') {
    base::Result<Graph> graph = ParseProvenanceMap(*text, path);
    if (!graph.ok()) return std::move(graph).error();
    FillOperators({}, *graph);
    provenance.graphs.push_back(*std::move(graph));
  } else {
    OutputCode code = ParseOutputCode(*text);
    Graph graph{{}, code.graph, {}};
    TakeCalls(std::move(code.calls), graph);
    if (!graph.sites.empty()) provenance.graphs.push_back(std::move(graph));
  }
  if (provenance.graphs.empty() || provenance.graphs.front().sites.empty()) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       fmt::format("{}: names no kernel of Inductor", path),
                       std::string(kHowToRecord)};
  }
  provenance.graphs.front().name = fs::path(path).filename().string();
  return provenance;
}

base::Result<InductorProvenance> LoadAny(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return LoadFolder(path);
  const fs::path file(path);
  if (file.filename() == kProvenanceMapName && file.has_parent_path()) {
    return LoadFolder(file.parent_path().string());
  }
  return LoadFile(path);
}

}  // namespace

base::Result<Graph> ParseProvenanceMap(std::string_view text, const std::string& origin) {
  const base::Result<json::Node> map = json::ParseDocument(text);
  if (!map.ok() || !IsProvenanceMap(*map)) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       fmt::format("{}: {}", origin,
                                   map.ok() ? "no provenance map of Inductor (no cppCodeToPost)"
                                            : map.error().message),
                       std::string(kHowToRecord)};
  }
  const Members post_to_pre(map->Find("postToPre"));
  const Members pre_to_post(map->Find("preToPost"));
  std::map<std::string, std::vector<std::string>> sources;  // where only preToPost is there
  if (post_to_pre.empty()) {
    if (const json::Node* const nodes = map->Find("preToPost")) {
      for (const json::Node::Member& source : nodes->members()) {
        for (const std::string& node : TextsOf(source.second))
          sources[node].push_back(source.first);
      }
    }
  }
  Graph graph;
  for (auto& [handle, nodes] : KernelsOf(*map)) {
    Site site;
    SplitHandle(handle, site.kernel, site.number);
    site.graph_nodes = std::move(nodes);
    post_to_pre.Sort(site.graph_nodes);
    std::set<std::string> seen;
    for (const std::string& node : site.graph_nodes) {
      const json::Node* const of_node = post_to_pre.Find(node);
      const auto& of = of_node != nullptr ? TextsOf(*of_node) : sources[node];
      for (const std::string& source : of) {
        if (seen.insert(source).second) site.source_nodes.push_back(source);
      }
    }
    pre_to_post.Sort(site.source_nodes);
    graph.sites.push_back(std::move(site));
  }
  SortSites(graph.sites);
  return graph;
}

base::Result<InductorProvenance> LoadInductorProvenance(const std::string& path) {
  base::Result<InductorProvenance> loaded = LoadAny(path);
  if (loaded.ok()) loaded->path = path;
  return loaded;
}

}  // namespace layerscope::model
