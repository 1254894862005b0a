#include "src/layers/anchor_choice.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "src/kernel_names/short_name.h"
#include "src/layers/anchor_pattern.h"
#include "src/model/profile.h"

namespace layerscope::layers {
namespace {

/// TensorRT-LLM and TokenSpeed by what only they name so: the built-in anchors are checked for
/// SGLang and vLLM alone. Not "trtllm" inside a name: FlashInfer's kernels carry that everywhere.
constexpr std::array<std::string_view, 3> kUncheckedKernels = {"tensorrt_llm::", "12tensorrt_llm",
                                                               "tokenspeed"};
constexpr std::array<std::string_view, 2> kUncheckedOps = {"trtllm::", "tokenspeed::"};

bool ContainsAny(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

void Unite(const std::vector<uint8_t>& more, std::vector<uint8_t>& names) {
  for (size_t i = 0; i < names.size(); ++i) names[i] |= more[i];
}

bool Any(const std::vector<uint8_t>& names) {
  return std::any_of(names.begin(), names.end(), [](uint8_t matches) { return matches != 0; });
}

class AnchorChooser {
 public:
  AnchorChooser(const trace::Trace& trace, const attribution::Attribution& attribution,
                const std::vector<uint8_t>& is_kernel, const LayerOptions& options)
      : trace_(trace),
        attribution_(attribution),
        is_kernel_(is_kernel),
        options_(options),
        names_(trace.strings, is_kernel) {}

  base::Result<AnchorChoice> Choose() {
    // The profile of no config only proposes: nothing says how many blocks its anchor opens.
    const bool proposes = options_.config == nullptr &&
                          options_.profile->name == model::ChooseProfile(nullptr).profile->name;
    AnchorChoice choice;
    choice.source.profile = !proposes;
    choice.is_anchor = MatchAny(proposes ? std::vector<std::string>() : Patterns());
    if (!options_.anchor.empty()) {
      auto matches = MatchAnchor(names_, options_.anchor);
      if (!matches.ok()) return std::move(matches).error();
      choice.source.user = true;
      for (size_t i = 0; i < matches->size(); ++i) {
        if ((*matches)[i] != 0 && choice.is_anchor[i] == 0) choice.source.profile = false;
      }
      choice.is_anchor = *std::move(matches);
    }
    if (!Any(choice.is_anchor)) choice.source = {};
    choice.source.is_candidate =
        choice.source.profile && (options_.profile->anchor.given || IsUncheckedEngine());
    choice.is_helper = FindHelpers();
    return choice;
  }

 private:
  const std::vector<std::string>& Patterns() const { return options_.profile->anchor.patterns; }

  std::vector<uint8_t> MatchAny(const std::vector<std::string>& patterns) {
    std::vector<uint8_t> found(trace_.strings.size(), 0);
    for (const std::string& pattern : patterns) Unite(names_.Match(pattern), found);
    return found;
  }

  std::vector<uint8_t> FindHelpers() {
    std::vector<uint8_t> found = MatchAny(options_.profile->anchor.helpers_before);
    for (const model::Profile& profile : model::BuiltInProfiles()) {
      const model::ProfileAnchor& anchor = profile.anchor;
      if (anchor.helpers_before.empty() || !Any(MatchAny(anchor.patterns))) continue;
      Unite(MatchAny(anchor.helpers_before), found);
    }
    return found;
  }

  bool IsUncheckedEngine() const {
    // SGLang and vLLM run kernels of TensorRT-LLM too; their steps say who they are.
    const auto checked = [](const attribution::Step& step) {
      return step.family == attribution::StepFamily::kSglang ||
             step.family == attribution::StepFamily::kVllm;
    };
    const std::vector<attribution::Step>& steps = attribution_.steps;
    if (std::any_of(steps.begin(), steps.end(), checked)) return false;
    for (size_t i = 0; i < trace_.strings.size(); ++i) {
      const std::string_view name = trace_.strings[trace::StringId(i)];
      const bool of_op =
          std::any_of(kUncheckedOps.begin(), kUncheckedOps.end(),
                      [&](std::string_view prefix) { return name.starts_with(prefix); });
      if (of_op || (is_kernel_[i] != 0 && ContainsAny(name, kUncheckedKernels))) return true;
    }
    return false;
  }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  const std::vector<uint8_t>& is_kernel_;
  const LayerOptions& options_;
  KernelNames names_;
};

}  // namespace

base::Result<AnchorChoice> ChooseAnchor(const trace::Trace& trace,
                                        const attribution::Attribution& attribution,
                                        const std::vector<uint8_t>& is_kernel,
                                        const LayerOptions& options) {
  return AnchorChooser(trace, attribution, is_kernel, options).Choose();
}

std::vector<std::string> AnchorKernels(const trace::Trace& trace,
                                       const std::vector<PassGroup>& groups) {
  std::vector<std::string> kernels;
  std::vector<uint8_t> seen(trace.strings.size(), 0);
  for (const PassGroup& group : groups) {
    for (const Token& token : group.tokens) {
      if (!token.anchor || std::exchange(seen[token.name], uint8_t{1}) != 0) continue;
      std::string name = kernel_names::ShortName(trace.strings[trace::StringId(token.name)]);
      if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) {
        kernels.push_back(std::move(name));
      }
    }
  }
  return kernels;
}

}  // namespace layerscope::layers
