#include "src/session/profiles_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "src/analysis/profiles.h"
#include "src/base/nearest.h"
#include "src/model/model_config.h"
#include "src/model/profile.h"
#include "src/session/registry.h"
#include "src/session/shared_options.h"

namespace layerscope::session {
namespace {

constexpr const char* kUsageText = "list | show NAME|FILE | infer --config FILE|DIR | check FILE";

base::Error WrongWords(std::string message) {
  return base::UsageError(std::move(message), fmt::format("layerscope profiles {}", kUsageText));
}

std::vector<OptionSpec> OutputOptionsOnly() {
  const std::set<std::string> wanted = {"format",  "table", "output", "color",
                                        "verbose", "quiet", "width"};
  std::vector<OptionSpec> options;
  for (const OptionSpec& spec : CommonOptions()) {
    if (wanted.count(spec.name) != 0) options.push_back(spec);
  }
  return options;
}

ProfilesSpec Spec() {
  ProfilesSpec spec;
  spec.summary = "model profiles: which there are, what one says, which one a config gets";
  spec.usage = kUsageText;
  spec.options = {
      TextOption("config", "FILE|DIR", "infer: the model's Hugging Face config.json"),
      TextOption("profile", "NAME|FILE", "infer: take this profile, whatever the config says")};
  spec.common_options = OutputOptionsOnly();
  spec.examples = {"layerscope profiles list", "layerscope profiles show dsv4_csa_hca"};
  return spec;
}

base::Status WantWords(const std::vector<std::string>& words, size_t n, const char* what) {
  if (words.size() == n) return {};
  if (words.size() < n) return WrongWords(fmt::format("profiles {} wants {}", words[0], what));
  return WrongWords(fmt::format("profiles {}: '{}' is one word too many", words.front(), words[n]));
}

base::Result<table::RankResult> Show(const std::string& name) {
  base::Result<model::Profile> profile = model::LoadProfile(name);
  if (!profile.ok()) return std::move(profile).error();
  return analysis::ComputeProfilesShow(*profile);
}

/// Only a file: a built-in profile needs no checking, and a file may bear its name.
base::Result<table::RankResult> Check(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       fmt::format("reading {}: no such file", path),
                       "profiles check reads a profile of your own (TOML); profiles show prints "
                       "a built-in one"};
  }
  base::Result<model::Profile> profile = model::LoadProfileFile(path);
  if (!profile.ok()) {
    // Here the file is the input, not the value of an option.
    base::Error error = std::move(profile).error();
    error.code = base::ErrorCode::kInvalidInput;
    return error;
  }
  return analysis::ComputeProfilesCheck(*profile, path);
}

base::Result<table::RankResult> Infer(const OptionValues& options) {
  const std::optional<std::string> path = options.Text("config");
  if (!path) return WrongWords("profiles infer wants --config FILE");
  base::Result<model::ModelConfig> config = model::LoadModelConfig(*path);
  if (!config.ok()) return std::move(config).error();
  const std::optional<std::string> named = options.Text("profile");
  if (!named) return analysis::ComputeProfilesInfer(*config, model::ChooseProfile(&*config));
  base::Result<model::Profile> profile = model::LoadProfile(*named);
  if (!profile.ok()) return std::move(profile).error();
  return analysis::ComputeProfilesInfer(*config, {&*profile, fmt::format("--profile {}", *named)});
}

base::Result<table::RankResult> Compute(const std::vector<std::string>& words,
                                        const OptionValues& options) {
  const std::vector<std::string> known = {"list", "show", "infer", "check"};
  if (words.empty()) return WrongWords("profiles: say what to do");
  const std::string& what = words.front();
  if (std::find(known.begin(), known.end(), what) == known.end()) {
    return WrongWords(fmt::format("profiles has no '{}'{}", what, base::DidYouMean(what, known)));
  }
  const bool takes_word = what == "show" || what == "check";
  if (base::Status words_fit =
          WantWords(words, takes_word ? 2 : 1, what == "show" ? "NAME or FILE" : "FILE");
      !words_fit.ok()) {
    return std::move(words_fit).error();
  }
  for (const char* option : {"config", "profile"}) {
    if (what != "infer" && options.Has(option)) {
      return WrongWords(fmt::format("--{} goes with profiles infer", option));
    }
  }
  if (what == "list") return analysis::ComputeProfilesList();
  if (what == "show") return Show(words[1]);
  return what == "infer" ? Infer(options) : Check(words[1]);
}

}  // namespace

const ProfilesSpec& Profiles() {
  static const ProfilesSpec kSpec = Spec();
  return kSpec;
}

std::vector<OptionSpec> AllOptions(const ProfilesSpec& spec) {
  return JoinOptions({spec.options, spec.common_options});
}

base::Result<Outcome> RunProfiles(const std::vector<std::string>& words,
                                  const OptionValues& options) {
  if (options.Has("table") && options.TextOr("format", {}) != "csv") {
    return base::UsageError("--table goes with --format csv",
                            "JSON holds every table; the other formats show what people read");
  }
  base::Result<table::RankResult> result = Compute(words, options);
  if (!result.ok()) return std::move(result).error();
  Outcome outcome;
  outcome.run = std::make_shared<const LoadedRun>();
  outcome.result.command = Profiles().name;
  outcome.result.options = EnvelopeOptions(AllOptions(Profiles()), options);
  outcome.result.options.insert(outcome.result.options.begin(), {"what", words.front()});
  outcome.result.ranks.push_back(*std::move(result));
  return outcome;
}

}  // namespace layerscope::session
