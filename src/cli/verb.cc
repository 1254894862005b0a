#include "src/cli/verb.h"

#include <algorithm>
#include <array>
#include <utility>

namespace layerscope::cli {
namespace {

/// CLI.md's order of groups; what is in none of them comes last.
constexpr std::array<std::string_view, 5> kGroups = {"look", "compare", "convert", "show", "help"};

size_t Place(const Verb& verb) {
  return static_cast<size_t>(std::find(kGroups.begin(), kGroups.end(), verb.group) -
                             kGroups.begin());
}

template <typename Spec>
Verb VerbOf(const Spec& spec, std::string usage, std::vector<session::OptionSpec> common) {
  return {spec.name,    spec.group,        spec.summary,  std::move(usage),
          spec.options, std::move(common), spec.examples, &spec};
}

std::vector<Verb> AllVerbs() {
  std::vector<Verb> verbs;
  for (const session::AnalysisSpec& spec : session::Analyses()) {
    verbs.push_back(VerbOf(spec, "INPUT…", session::CommonOptionsOf(spec)));
  }
  for (const session::DocumentSpec& spec : session::Documents()) {
    verbs.push_back(VerbOf(spec, spec.usage, session::CommonOptions()));
  }
  const session::ProfilesSpec& profiles = session::Profiles();
  verbs.push_back(VerbOf(profiles, profiles.usage, profiles.common_options));
  const session::ViewSpec& view = session::View();
  verbs.push_back(VerbOf(view, view.usage, view.common_options));
  std::stable_sort(verbs.begin(), verbs.end(),
                   [](const Verb& a, const Verb& b) { return Place(a) < Place(b); });
  return verbs;
}

}  // namespace

std::vector<session::OptionSpec> Verb::AllOptions() const {
  return session::JoinOptions({options, common_options});
}

const std::vector<Verb>& Verbs() {
  static const std::vector<Verb> kVerbs = AllVerbs();
  return kVerbs;
}

const Verb* FindVerb(std::string_view name) {
  for (const Verb& verb : Verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::vector<std::string> VerbNames() {
  std::vector<std::string> names;
  for (const Verb& verb : Verbs()) names.push_back(verb.name);
  return names;
}

}  // namespace layerscope::cli
