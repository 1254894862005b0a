#include "src/attribution/path_names.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/attribution/path_parts.h"

namespace layerscope::attribution {
namespace {

/// What stands behind `above` and its dot; `path` itself where `above` is no prefix of it.
std::string_view Below(std::string_view above, std::string_view path) {
  if (above.empty() || !path.starts_with(above)) return path;
  const std::string_view rest = path.substr(above.size());
  return rest.size() > 1 && rest.front() == '.' ? rest.substr(1) : path;
}

}  // namespace

void NamePathModules(trace::Trace& trace, ModuleTree& tree) {
  // By module: the nearest module around it that is known by path.
  std::vector<ModuleId> above(tree.modules.size());
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    Module& module = tree.modules[i];
    if (module.parent.valid()) {
      const size_t parent = module.parent.index();
      above[i] = tree.modules[parent].path.valid() ? module.parent : above[parent];
    }
    if (!module.path.valid() || tree.IsNamedByClass(ModuleId(i), trace)) continue;
    const std::string_view path = trace.strings[module.path];
    if (path.size() > kLongestPath) continue;
    ModuleId at = above[i];
    for (size_t level = 0; at.valid() && level < kMaxModuleLevels; ++level) {
      const std::string_view part = Below(trace.strings[tree.modules[at.index()].path], path);
      if (part.size() < path.size()) {
        module.name = trace.strings.Intern(part);
        break;
      }
      at = above[at.index()];
    }
  }
}

}  // namespace layerscope::attribution
