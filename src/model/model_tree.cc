#include "src/model/model_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "src/base/string_map.h"
#include "src/io/small_file.h"
#include "src/json/document.h"
#include "src/model/foreign_bytes.h"

namespace layerscope::model {
namespace {

using json::Node;

namespace fs = std::filesystem;

/// A tree with the analysed sources of a model of 100,000 experts is some 100 MB.
constexpr size_t kMaxBytes = size_t{256} << 20;
/// No model nests so deep; a hostile path must not cost its square.
constexpr int kMostLevels = 64;
constexpr const char* kFileName = "model_tree.json";
constexpr std::string_view kWhat = "a model tree";
constexpr std::string_view kHint =
    "give the model_tree.json that the capture wrote, or a list of [path, class] as "
    "named_modules() has them";

base::Error Refuse(std::string message) {
  return {base::ErrorCode::kInvalidInput, std::move(message), std::string(kHint)};
}

std::string_view TextOf(const Node& node, std::string_view key) {
  const Node* const value = node.Find(key);
  return value == nullptr ? std::string_view() : value->AsString().value_or("");
}

/// "vllm.model_executor.models.qwen3.Qwen3Model" and "<class 'a.B'>" are Qwen3Model and B.
std::string_view WithoutImportPath(std::string_view name) {
  if (name.ends_with("'>")) name.remove_suffix(2);
  return name.substr(name.rfind('.') + 1);
}

/// Path and class of one module, as a list has it: [path, class, …], {"path", "class"}, or a path.
struct Entry {
  std::string_view path;
  std::string_view class_name;
};

std::optional<Entry> EntryOf(const Node& node) {
  if (const auto text = node.AsString(); node.kind() == Node::Kind::kString)
    return Entry{*text, {}};
  if (node.IsArray()) {
    const std::vector<Node>& items = node.items();
    if (items.size() < 2 || items[0].kind() != Node::Kind::kString ||
        items[1].kind() != Node::Kind::kString) {
      return std::nullopt;
    }
    return Entry{*items[0].AsString(), WithoutImportPath(*items[1].AsString())};
  }
  const Node* path = node.Find("path");
  if (path == nullptr) path = node.Find("name");
  if (path == nullptr || path->kind() != Node::Kind::kString) return std::nullopt;
  return Entry{*path->AsString(), WithoutImportPath(TextOf(node, "class"))};
}

/// Collects modules, each path once.
class TreeBuilder {
 public:
  /// The index of the module; a known path keeps its first entry.
  int32_t Add(std::string path, std::string_view class_name, int32_t parent) {
    const auto known = index_.find(path);
    if (known != index_.end()) return known->second;
    const auto index = static_cast<int32_t>(tree_.modules.size());
    tree_.modules.push_back({std::move(path), std::string(class_name), parent});
    index_.emplace(paths_.Store(tree_.modules.back().path), index);
    return index;
  }

  int32_t Find(std::string_view path) const {
    const auto at = index_.find(path);
    return at == index_.end() ? -1 : at->second;
  }

  /// The module that a path stands below: that of its longest prefix, else the root.
  int32_t ParentOf(std::string_view path) const {
    if (path.empty()) return -1;
    int levels = 0;
    for (size_t dot = path.rfind('.'); dot != std::string_view::npos && levels < kMostLevels;
         dot = path.rfind('.'), ++levels) {
      path = path.substr(0, dot);
      if (const int32_t at = Find(path); at >= 0) return at;
    }
    return Find("");
  }

  ModelTree& tree() { return tree_; }
  ModelTree Take() && {
    std::vector<uint32_t>& sorted = tree_.by_path;
    sorted.resize(tree_.modules.size());
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::sort(sorted.begin(), sorted.end(), [this](uint32_t a, uint32_t b) {
      return tree_.modules[a].path < tree_.modules[b].path;
    });
    return std::move(tree_);
  }

 private:
  ModelTree tree_;
  base::StringArena paths_;
  base::StringMap<int32_t> index_;
};

base::Status ReadList(const std::vector<Node>& rows, TreeBuilder& builder) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::optional<Entry> entry = EntryOf(rows[i]);
    if (!entry || entry->class_name.empty()) {
      return Refuse(fmt::format("entry {} of the list is no [path, class]", i));
    }
    builder.Add(std::string(entry->path), entry->class_name, builder.ParentOf(entry->path));
  }
  return {};
}

/// Walks the nested form. The reader bounds its depth (json::kMaxDepth).
base::Status ReadNested(const Node& node, int32_t parent, const std::string& above,
                        TreeBuilder& builder) {
  const std::string_view class_name = WithoutImportPath(TextOf(node, "class"));
  const std::string_view name = TextOf(node, "name");
  if (!node.IsObject() || class_name.empty()) {
    return Refuse(fmt::format("the module below '{}' has no class", above));
  }
  std::string path(TextOf(node, "path"));
  if (node.Find("path") == nullptr && parent >= 0) {
    path = above.empty() ? std::string(name) : fmt::format("{}.{}", above, name);
  }
  const int32_t index = builder.Add(path, class_name, parent);
  const Node* const children = node.Find("children");
  if (children == nullptr) return {};
  for (const Node& child : children->items()) {
    if (base::Status read = ReadNested(child, index, path, builder); !read.ok()) return read;
  }
  for (const Node::Member& child : children->members()) {
    if (base::Status read = ReadNested(child.second, index, path, builder); !read.ok()) return read;
  }
  return {};
}

/// A called module that the tree lacks would shift the numbers of its class: it is added.
base::Status ReadCallOrder(const Node& calls, TreeBuilder& builder) {
  std::vector<uint8_t> seen;
  for (const Node& call : calls.items()) {
    const std::optional<Entry> entry = EntryOf(call);
    if (!entry) return Refuse("an entry of call_order has no path");
    int32_t index = builder.Find(entry->path);
    if (index < 0 && entry->class_name.empty()) {
      return Refuse(fmt::format("call_order names '{}', which is no module of the tree",
                                entry->path.substr(0, 128)));
    }
    if (index < 0) {
      index =
          builder.Add(std::string(entry->path), entry->class_name, builder.ParentOf(entry->path));
    }
    const auto at = static_cast<size_t>(index);
    if (seen.size() <= at) seen.resize(at + 1, 0);
    if (std::exchange(seen[at], uint8_t{1}) != 0) continue;
    builder.tree().call_order.push_back(static_cast<uint32_t>(index));
  }
  return {};
}

/// What else people have in JSON; empty: unknown.
std::string_view OtherKind(const Node& root) {
  if (root.Find("traceEvents") != nullptr) return "a trace";
  if (root.Find("module_tree") != nullptr) return "a module map (model_execution.json)";
  if (root.Find("weight_map") != nullptr) return "the index of a model's weights";
  if (root.Find("architectures") != nullptr || root.Find("model_type") != nullptr) {
    return "a model's config.json, which --config takes";
  }
  return {};
}

std::string NameOrText(const Node& root, std::string_view key) {
  const Node* const value = root.Find(key);
  if (value == nullptr) return {};
  return std::string(value->IsObject() ? TextOf(*value, "name") : value->AsString().value_or(""));
}

base::Status ReadObject(const Node& root, TreeBuilder& builder) {
  const Node* const nested = root.Find("tree");
  const bool is_tree = nested != nullptr && (nested->IsObject() || nested->IsArray());
  const bool is_node = root.Find("class") != nullptr && root.Find("children") != nullptr;
  if (!is_tree && !is_node) {
    const std::string_view kind = OtherKind(root);
    return Refuse(kind.empty() ? "there is no `tree` of modules in it"
                               : fmt::format("this is {}, not {}", kind, kWhat));
  }
  const Node& tree = is_tree ? *nested : root;
  base::Status read = tree.IsArray() ? ReadList(tree.items(), builder)
                                     : ReadNested(tree, -1, std::string(), builder);
  if (!read.ok()) return read;
  builder.tree().model = NameOrText(root, "model");
  builder.tree().engine = NameOrText(root, "engine");
  const Node* const calls = root.Find("call_order");
  return calls == nullptr ? base::Status() : ReadCallOrder(*calls, builder);
}

/// A list of modules, or of such lists, one a worker: all workers have the same modules.
const std::vector<Node>& RowsOf(const Node& root) {
  const std::vector<Node>& items = root.items();
  const bool of_workers = !items.empty() && items.front().IsArray() &&
                          !items.front().items().empty() && items.front().items().front().IsArray();
  return of_workers ? items.front().items() : items;
}

}  // namespace

int32_t ModelTree::Find(std::string_view path) const {
  const auto before = [this](uint32_t index, std::string_view wanted) {
    return modules[index].path < wanted;
  };
  const auto at = std::lower_bound(by_path.begin(), by_path.end(), path, before);
  return at == by_path.end() || modules[*at].path != path ? -1 : static_cast<int32_t>(*at);
}

base::Result<ModelTree> ParseModelTree(std::string_view text, const std::string& origin) {
  if (base::Status safe = RefuseForeignBytes(text, kWhat, kHint); !safe.ok()) {
    return std::move(safe).error().WithContext(origin);
  }
  base::Result<Node> root = json::ParseDocument(text);
  if (!root.ok()) return std::move(root).error().WithContext(origin);
  TreeBuilder builder;
  base::Status read = Refuse("a model tree is a JSON object or a list of [path, class]");
  if (root->IsObject()) read = ReadObject(*root, builder);
  if (root->IsArray()) read = ReadList(RowsOf(*root), builder);
  if (read.ok() && builder.tree().modules.empty()) read = Refuse("there are no modules in it");
  if (!read.ok()) return std::move(read).error().WithContext(origin);
  return std::move(builder).Take();
}

base::Result<ModelTree> LoadModelTree(const std::string& path) {
  std::error_code ignored;
  std::string file = path;
  if (fs::is_directory(path, ignored)) {
    file = (fs::path(path) / kFileName).string();
    if (!fs::exists(file, ignored)) {
      return Refuse(fmt::format("{}: the folder holds no {}", path, kFileName));
    }
  }
  base::Result<std::string> text = io::ReadSmallFile(file, kMaxBytes, kWhat, kHint);
  if (!text.ok()) return std::move(text).error();
  return ParseModelTree(*text, file);
}

}  // namespace layerscope::model
