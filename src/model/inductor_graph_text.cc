#include "src/model/inductor_graph_text.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/base/take_line.h"

namespace layerscope::model {
namespace {

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t NameBytes(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsNameChar) - text.begin());
}

void SkipSpaces(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

/// `node: "type" = value;  …` or `node = value`.
bool ParseStatement(std::string_view line, GraphStatement& statement) {
  SkipSpaces(line);
  const size_t name = NameBytes(line);
  if (name == 0) return false;
  statement.node = line.substr(0, name);
  line.remove_prefix(name);
  if (line.starts_with(": \"")) {
    const size_t quote = line.find('"', std::string_view(": \"").size());
    if (quote == std::string_view::npos) return false;
    line.remove_prefix(quote + 1);
  }
  if (!line.starts_with(" = ")) return false;
  line.remove_prefix(std::string_view(" = ").size());
  statement.value = line.substr(0, line.find(";  "));
  return true;
}

constexpr std::string_view kModules = "modules_";
constexpr std::string_view kParameters = "_parameters_";
constexpr std::string_view kBuffers = "_buffers_";

/// "modules_layers_modules_0_modules_mlp" -> "layers.0.mlp".
std::string PathOf(std::string_view modules) {
  constexpr std::string_view kNext = "_modules_";
  std::string path;
  modules.remove_prefix(kModules.size());
  for (size_t at = 0; at != std::string_view::npos;) {
    at = modules.find(kNext);
    if (!path.empty()) path += '.';
    path += modules.substr(0, at);
    if (at != std::string_view::npos) modules.remove_prefix(at + kNext.size());
  }
  return path;
}

/// The module whose parameter or buffer a placeholder of dynamo is; empty: none, or the root.
std::string ModuleOfPlaceholder(std::string_view name) {
  if (!name.starts_with("l_self_") && !name.starts_with("L_self_")) return {};
  name.remove_prefix(std::string_view("l_self_").size());
  if (!name.starts_with(kModules)) return {};
  const size_t end = std::min(name.rfind(kParameters), name.rfind(kBuffers));
  if (end == std::string_view::npos || end <= kModules.size()) return {};
  return PathOf(name.substr(0, end));
}

}  // namespace

void ForEachGraphStatement(std::string_view text,
                           const std::function<void(const GraphStatement&)>& take) {
  while (!text.empty()) {
    GraphStatement statement;
    if (ParseStatement(base::TakeLine(text), statement)) take(statement);
  }
}

std::string_view OperatorOf(std::string_view value) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!value.starts_with(kOps)) return {};
  value.remove_prefix(kOps.size());
  const size_t space = NameBytes(value);  // the namespace: aten, prims, …
  if (space == 0 || space == value.size() || value[space] != '.') return {};
  value.remove_prefix(space + 1);
  return value.substr(0, NameBytes(value));
}

std::string_view OperatorOfNode(std::string_view node) {
  size_t digits = 0;
  while (digits < node.size() && node[node.size() - digits - 1] >= '0' &&
         node[node.size() - digits - 1] <= '9') {
    ++digits;
  }
  if (digits == 0 || digits + 1 >= node.size()) return node;
  if (node[node.size() - digits - 1] != '_') return node;
  return node.substr(0, node.size() - digits - 1);
}

std::vector<std::string> ModulesRead(std::string_view value) {
  std::vector<std::string> modules;
  std::set<std::string> seen;
  while (!value.empty()) {
    const size_t name = NameBytes(value);
    if (name > 0) {
      std::string module = ModuleOfPlaceholder(value.substr(0, name));
      if (!module.empty() && seen.insert(module).second) {
        modules.push_back(std::move(module));
      }
    }
    value.remove_prefix(std::min(value.size(), name + 1));
  }
  return modules;
}

}  // namespace layerscope::model
