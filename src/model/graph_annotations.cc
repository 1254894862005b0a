#include "src/model/graph_annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/parse_number.h"
#include "src/io/small_file.h"
#include "src/json/document.h"
#include "src/model/foreign_bytes.h"

namespace layerscope::model {
namespace {

using json::Node;

/// A node takes some hundred bytes and a graph has some thousand nodes.
constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr std::string_view kWhat = "graph annotations";
constexpr std::string_view kInstead =
    "give graph_annotations_rank<r>.json: {graph node id: [{\"name\": module path}]}; of a pickle "
    "that you trust, Python's json.dump(pickle.load(file), output) makes one";

base::Error Refuse(std::string message) {
  return {base::ErrorCode::kInvalidInput, std::move(message), std::string(kInstead)};
}

/// The name of one dict; empty: it has none.
std::string_view NameIn(const Node& dict) {
  const Node* const name = dict.Find("name");
  return name == nullptr ? std::string_view() : name->AsString().value_or("");
}

/// Of a list of dicts the last name: scopes are listed from the outermost in.
std::string_view NameOf(const Node& entry) {
  if (!entry.IsArray()) return NameIn(entry);
  const std::vector<Node>& dicts = entry.items();
  for (size_t i = dicts.size(); i-- > 0;) {
    if (const std::string_view name = NameIn(dicts[i]); !name.empty()) return name;
  }
  return {};
}

/// What a file without integer keys is, where that can be told.
std::string_view OtherKind(std::string_view key) {
  if (key == "traceEvents" || key == "schemaVersion" || key == "deviceProperties") return "a trace";
  if (key == "tree" || key == "call_order") return "a model tree";
  if (key == "architectures" || key == "model_type") return "a model's config.json";
  return {};
}

/// Negative, or past all ids: no node has it.
bool IsWholeNumber(std::string_view key) {
  if (key.starts_with('-')) key.remove_prefix(1);
  return !key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos;
}

base::Result<GraphAnnotations> Read(const Node& root) {
  if (!root.IsObject()) return Refuse("graph annotations are one JSON object");
  GraphAnnotations annotations;
  for (const Node::Member& member : root.members()) {
    const std::optional<int64_t> id = base::ParseWhole(member.first);
    if (!id && IsWholeNumber(member.first)) {
      ++annotations.n_without_node;
      continue;
    }
    if (!id) {
      const std::string_view kind = OtherKind(member.first);
      if (!kind.empty()) return Refuse(fmt::format("this is {}, not {}", kind, kWhat));
      return Refuse(fmt::format("the key '{}' is no graph node id", member.first.substr(0, 64)));
    }
    const std::string_view name = NameOf(member.second);
    if (name.empty()) {
      ++annotations.n_unnamed;
    } else {
      annotations.nodes.push_back({*id, std::string(name)});
    }
  }
  return annotations;
}

/// "7" and "07" are one node; as in JSON the last counts.
void SortOnce(std::vector<GraphAnnotations::Node>& nodes) {
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::reverse(nodes.begin(), nodes.end());
  std::stable_sort(nodes.begin(), nodes.end(), by_id);
  const auto same = [](const auto& a, const auto& b) { return a.id == b.id; };
  nodes.erase(std::unique(nodes.begin(), nodes.end(), same), nodes.end());
}

}  // namespace

const GraphAnnotations::Node* GraphAnnotations::Find(int64_t id) const {
  const auto at =
      std::lower_bound(nodes.begin(), nodes.end(), id,
                       [](const Node& node, int64_t wanted) { return node.id < wanted; });
  return at == nodes.end() || at->id != id ? nullptr : &*at;
}

base::Result<GraphAnnotations> ParseGraphAnnotations(std::string_view text,
                                                     const std::string& origin) {
  if (base::Status safe = RefuseForeignBytes(text, kWhat, kInstead); !safe.ok()) {
    return std::move(safe).error().WithContext(origin);
  }
  base::Result<Node> root = json::ParseDocument(text);
  if (!root.ok()) return std::move(root).error().WithContext(origin);
  base::Result<GraphAnnotations> annotations = Read(*root);
  if (!annotations.ok()) return std::move(annotations).error().WithContext(origin);
  SortOnce(annotations->nodes);
  return annotations;
}

base::Result<GraphAnnotations> LoadGraphAnnotations(const std::string& path) {
  base::Result<std::string> text = io::ReadSmallFile(path, kMaxBytes, kWhat, kInstead);
  if (!text.ok()) return std::move(text).error();
  return ParseGraphAnnotations(*text, path);
}

}  // namespace layerscope::model
