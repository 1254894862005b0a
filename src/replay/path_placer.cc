#include "src/replay/path_placer.h"

#include <algorithm>

namespace layerscope::replay {
namespace {

using attribution::kMaxModuleLevels;

bool IsNumber(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view PathAbove(std::string_view path) {
  while (true) {
    const size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return {};
    const bool number = IsNumber(path.substr(dot + 1));
    path = path.substr(0, dot);
    if (!number) return path;
  }
}

void PathPlacer::BeginLaunch(trace::CallId launch, trace::ScopeId around) {
  const trace::Trace& trace = graft_.trace();
  process_ = trace.threads[trace.calls.thread[launch.index()].index()].process;
  around_ = around;
  ++launch_;
}

trace::ScopeId PathPlacer::CallFor(std::string_view path) {
  const bool has_empty_part = path.empty() || path.front() == '.' || path.back() == '.' ||
                              path.find("..") != std::string_view::npos;
  if (has_empty_part) return {};
  const auto levels = static_cast<size_t>(std::count(path.begin(), path.end(), '.'));
  return levels < kMaxModuleLevels ? CallOf(LinkOf(path)) : trace::ScopeId();
}

uint32_t PathPlacer::LinkOf(std::string_view path) {
  std::vector<std::string_view> unknown;  // innermost first
  const uint32_t none = static_cast<uint32_t>(-1);
  uint32_t above = none;
  for (std::string_view at = path; !at.empty() && above == none; at = PathAbove(at)) {
    const trace::StringId text = graft_.trace().strings.Find(at);
    const auto known = text.valid() ? link_of_.find(text.index()) : link_of_.end();
    if (known != link_of_.end()) {
      above = known->second;
    } else {
      unknown.push_back(at);
    }
  }
  for (size_t i = unknown.size(); i-- > 0;) above = AddLink(unknown[i], above);
  return above;
}

uint32_t PathPlacer::AddLink(std::string_view path, uint32_t above) {
  const auto id = static_cast<uint32_t>(links_.size());
  const size_t up = PathAbove(path).size();
  Link link;
  link.name.path = graft_.Intern(path);
  link.name.name = graft_.Intern(path.substr(up == 0 ? 0 : up + 1));
  link.above = above < links_.size() ? above : id;
  link_of_[link.name.path.index()] = id;
  links_.push_back(link);
  return id;
}

trace::ScopeId PathPlacer::CallOf(uint32_t link) {
  std::vector<uint32_t> uncalled;  // innermost first
  trace::ScopeId around = around_;
  for (uint32_t at = link;; at = links_[at].above) {
    if (links_[at].launch == launch_) {
      around = links_[at].call;
      break;
    }
    if (const trace::ScopeId scope = FindAround(links_[at].name.path); scope.valid()) {
      around = scope;
      break;
    }
    uncalled.push_back(at);
    if (links_[at].above == at) break;
  }
  for (size_t i = uncalled.size(); i-- > 0;) {
    Link& to_call = links_[uncalled[i]];
    const attribution::ModuleTree& tree = graft_.attribution().modules;
    const attribution::ModuleId below =
        around.valid() ? tree.module_of_scope[around.index()] : attribution::ModuleId();
    around = graft_.AddCall(graft_.FindOrAdd(below, process_, to_call.name), around);
    to_call.launch = launch_;
    to_call.call = around;
  }
  return around;
}

trace::ScopeId PathPlacer::FindAround(trace::StringId path) const {
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  trace::ScopeId scope = around_;
  for (size_t level = 0; scope.valid() && level < kMaxModuleLevels; ++level) {
    if (tree.modules[tree.module_of_scope[scope.index()].index()].path == path) return scope;
    scope = tree.parent_of_scope[scope.index()];
  }
  return {};
}

}  // namespace layerscope::replay
