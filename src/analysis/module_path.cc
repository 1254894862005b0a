#include "src/analysis/module_path.h"

#include <optional>
#include <set>

#include "src/analysis/module_range.h"
#include "src/base/string_map.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kEllipsis = "…";

/// Python itself stops at a depth of 1,000; models nest about 20 deep.
constexpr int kUsualDepth = 100;
constexpr size_t kMaxPathBytes = 1024;
constexpr size_t kMaxDeepPathBytes = 256;

bool EndsAtDot(std::string_view path, std::string_view name) {
  if (!path.ends_with(name)) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '.';
}

/// The last `n` bytes or a little less: no UTF-8 sequence is cut.
std::string_view Tail(std::string_view text, size_t n) {
  size_t at = text.size() - n;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
  return text.substr(at);
}

bool InRange(const RankView& view, const ModuleRange& range, size_t module, std::string_view path) {
  if (range.irregular()) return false;
  if (range.MatchesPath(path)) return true;
  const std::vector<attribution::Module>& modules = view.attribution().modules.modules;
  return range.Matches([&](size_t level) -> std::optional<std::string_view> {
    attribution::ModuleId at(module);
    for (; level > 0 && at.valid(); --level) at = modules[at.index()].parent;
    if (!at.valid()) return std::nullopt;
    return view.trace().strings[modules[at.index()].name];
  });
}

}  // namespace

std::string JoinPath(const std::string& parent, std::string_view name, int depth) {
  std::string path = parent;
  if (!path.empty()) path += '.';
  path += name;
  const size_t limit = depth > kUsualDepth ? kMaxDeepPathBytes : kMaxPathBytes;
  if (path.size() <= limit) return path;
  std::string cut(kEllipsis);
  cut += Tail(path, limit);
  return cut;
}

std::vector<std::string> ModulePaths(const RankView& view) {
  const std::vector<attribution::Module>& modules = view.attribution().modules.modules;
  std::vector<std::string> paths;
  paths.reserve(modules.size());
  static const std::string kRoot;
  for (const attribution::Module& module : modules) {
    const bool known = module.path.valid();
    const bool below = module.parent.valid() && !known;
    paths.push_back(JoinPath(below ? paths[module.parent.index()] : kRoot,
                             view.trace().strings[known ? module.path : module.name],
                             module.depth));
  }
  return paths;
}

std::vector<uint8_t> ModulesBelow(const RankView& view, std::string_view name) {
  const attribution::ModuleTree& tree = view.attribution().modules;
  const std::vector<attribution::Module>& modules = tree.modules;
  const std::vector<std::string> paths = ModulePaths(view);
  const std::optional<ModuleRange> range = ModuleRange::Parse(name);
  std::vector<uint8_t> inside(modules.size(), 0);
  for (size_t i = 0; i < modules.size(); ++i) {
    const attribution::Module& module = modules[i];
    const bool below = module.parent.valid() && inside[module.parent.index()] != 0;
    const std::string_view own = view.trace().strings[module.name];
    const bool named = EndsAtDot(paths[i], name) || own == name ||
                       tree.ClassOf(attribution::ModuleId(i), view.trace()) == name ||
                       (range && InRange(view, *range, i, paths[i]));
    inside[i] = below || named ? 1 : 0;
  }
  return inside;
}

std::vector<std::string> ModuleNames(const RankView& view) {
  std::set<std::string> classes;
  std::set<std::string> instances;
  const attribution::ModuleTree& tree = view.attribution().modules;
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    classes.emplace(tree.ClassOf(attribution::ModuleId(i), view.trace()));
    instances.emplace(view.trace().strings[tree.modules[i].name]);
  }
  std::vector<std::string> names(classes.begin(), classes.end());
  names.insert(names.end(), instances.begin(), instances.end());
  return names;
}

}  // namespace layerscope::analysis
