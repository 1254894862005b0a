#include "src/replay/path_placer.h"

#include <algorithm>

#include "src/attribution/path_parts.h"

namespace layerscope::replay {

using attribution::kMaxModuleLevels;

std::string_view PathAbove(std::string_view path) {
  path = attribution::WithoutNumbers(path);
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

void PathPlacer::BeginLaunch(trace::CallId launch, trace::ScopeId around) {
  chains_.BeginLaunch(launch, around);
  ++launch_;
}

void PathPlacer::BeginInside(trace::CallId launch, trace::ScopeId around) {
  chains_.BeginInside(launch, around);
  ++launch_;
}

trace::ScopeId PathPlacer::CallFor(std::string_view path) {
  const trace::StringId text = graft_.Intern(path);
  const auto [at, is_new] = module_of_.try_emplace(text.index());
  Module& module = at.value();
  if (is_new) module.chain = ChainOf(path);
  if (module.chain.empty()) return {};
  if (module.launch != launch_) {
    module.call = chains_.CallFor(module.chain);
    module.launch = launch_;
  }
  return module.call;
}

std::vector<PathPlacer::Name> PathPlacer::ChainOf(std::string_view path) {
  const bool has_empty_part = path.empty() || path.front() == '.' || path.back() == '.' ||
                              path.find("..") != std::string_view::npos;
  const auto levels = static_cast<size_t>(std::count(path.begin(), path.end(), '.'));
  if (has_empty_part || levels >= kMaxModuleLevels) return {};
  std::vector<Name> chain;  // innermost first
  for (std::string_view at = path; !at.empty(); at = PathAbove(at)) {
    const size_t up = PathAbove(at).size();
    Name& name = chain.emplace_back();
    name.path = graft_.Intern(at);
    name.name = graft_.Intern(at.substr(up == 0 ? 0 : up + 1));
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace layerscope::replay
