#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/kernel_names/pattern.h"
#include "src/model/profile.h"

namespace layerscope::model {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// No profile names the config's model types.
bool IsStranger(const ModelConfig& config) {
  for (const Profile& profile : BuiltInProfiles()) {
    for (const Identity& identity : profile.identities) {
      if (Contains(identity.model_types, config.model_type) ||
          Contains(identity.model_types, config.outer_type)) {
        return false;
      }
    }
  }
  return true;
}

/// The config's model_type that the identity names, as a sentence; empty when none is.
std::string TypeReason(const Identity& identity, const ModelConfig& config) {
  if (Contains(identity.model_types, config.model_type)) {
    return fmt::format("model_type is {}", config.model_type);
  }
  if (Contains(identity.model_types, config.outer_type)) {
    return fmt::format("the wrapper's model_type is {}", config.outer_type);
  }
  return {};
}

std::string StrangerClause(const Identity& identity, const ModelConfig& config) {
  if (identity.model_types.empty()) return {};
  if (config.model_type.empty()) return "; it has no model_type";
  return fmt::format("; its model_type {} is known to no profile", config.model_type);
}

std::string ArchitectureReason(const Identity& identity, const ModelConfig& config) {
  for (const std::string& architecture : config.architectures) {
    for (const std::string& part : identity.architectures) {
      if (kernel_names::ToLower(architecture).find(kernel_names::ToLower(part)) !=
          std::string::npos) {
        return fmt::format("the architecture is {}{}", architecture,
                           StrangerClause(identity, config));
      }
    }
  }
  return {};
}

/// Why the identity holds; empty when it does not.
std::string Reason(const Identity& identity, const ModelConfig& config, bool stranger) {
  for (const std::string& key : identity.keys) {
    if (!config.HasKey(key)) return {};
  }
  for (const std::string& key : identity.without_keys) {
    if (config.HasKey(key)) return {};
  }
  std::vector<std::string> reasons;
  if (!identity.model_types.empty() || !identity.architectures.empty()) {
    std::string reason = TypeReason(identity, config);
    if (reason.empty() && (stranger || identity.model_types.empty())) {
      reason = ArchitectureReason(identity, config);
    }
    if (reason.empty()) return {};
    reasons.push_back(std::move(reason));
  }
  if (!identity.keys.empty()) {
    reasons.push_back(fmt::format("the config has {}", fmt::join(identity.keys, " and ")));
  }
  if (!identity.note.empty()) reasons.push_back(identity.note);
  if (reasons.empty()) return "every config has it";
  return fmt::format("{}", fmt::join(reasons, ", and "));
}

struct Candidate {
  const Identity* identity;
  const Profile* profile;
};

const std::vector<Candidate>& CandidatesInOrder() {
  static const std::vector<Candidate> kCandidates = [] {
    std::vector<Candidate> candidates;
    for (const Profile& profile : BuiltInProfiles()) {
      for (const Identity& identity : profile.identities) {
        candidates.push_back({&identity, &profile});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.identity->order < b.identity->order;
                     });
    return candidates;
  }();
  return kCandidates;
}

}  // namespace

ProfileChoice ChooseProfile(const ModelConfig* config) {
  const Profile* const generic = FindBuiltInProfile("generic");
  LS_CHECK(generic != nullptr, "profiles/generic.toml is not built in");
  if (config == nullptr) return {.profile = generic, .why = "no config was given"};
  const bool stranger = IsStranger(*config);
  for (const auto& [identity, profile] : CandidatesInOrder()) {
    std::string why = Reason(*identity, *config, stranger);
    if (!why.empty()) return {.profile = profile, .why = std::move(why)};
  }
  return {.profile = generic, .why = "the config says nothing that a family is known by"};
}

}  // namespace layerscope::model
