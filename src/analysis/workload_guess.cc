#include "src/analysis/workload_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace layerscope::analysis {
namespace {

struct Mark {
  std::string_view text;
  std::string_view engine;
};

/// Namespaces of the engines' own operators.
constexpr std::array<Mark, 6> kOpPrefixes = {{{"sgl_kernel::", "sglang"},
                                              {"sglang::", "sglang"},
                                              {"vllm::", "vllm"},
                                              {"_vllm_fa3_C::", "vllm"},
                                              {"_C_cache_ops::", "vllm"},
                                              {"trtllm::", "tensorrt-llm"}}};

/// Classes that only one engine has.
constexpr std::array<Mark, 4> kClasses = {{{"RadixAttention", "sglang"},
                                           {"VocabParallelEmbedding", "vllm"},
                                           {"QKVParallelLinear", "vllm"},
                                           {"RowParallelLinear", "vllm"}}};

/// A root with less than this part of the time is not the model.
constexpr int64_t kRootShare = 4;

/// The layer classes of transformers end so; with plain torch Linear below, nobody else's do.
constexpr std::string_view kLayerSuffix = "DecoderLayer";

constexpr std::array<std::string_view, 4> kModelSuffixes = {
    "ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "ForCausalLMWrapper"};

bool IsModelClass(std::string_view name) {
  return std::any_of(kModelSuffixes.begin(), kModelSuffixes.end(),
                     [name](std::string_view suffix) { return name.ends_with(suffix); });
}

std::string_view EngineOfFamily(attribution::StepFamily family) {
  switch (family) {
    case attribution::StepFamily::kSglang:
      return "sglang";
    case attribution::StepFamily::kVllm:
      return "vllm";
    case attribution::StepFamily::kTensorRt:
      return "tensorrt-llm";
    default:
      return {};
  }
}

Guess FromSteps(const RankView& view) {
  std::string_view engine;
  for (const attribution::Step& step : view.attribution().steps) {
    const std::string_view found = EngineOfFamily(step.family);
    if (engine.empty() || found == "sglang") engine = found;
  }
  if (engine.empty()) return {};
  return {std::string(engine), "step annotations"};
}

Guess FromOps(const RankView& view) {
  const trace::Trace& trace = view.trace();
  std::vector<uint8_t> seen(trace.strings.size(), 0);
  for (const trace::StringId name : trace.ops.name) {
    if (seen[name.index()] != 0) continue;
    seen[name.index()] = 1;
    for (const Mark& mark : kOpPrefixes) {
      if (!trace.strings[name].starts_with(mark.text)) continue;
      return {std::string(mark.engine), fmt::format("op {}", trace.strings[name])};
    }
  }
  return {};
}

Guess FromClasses(const RankView& view) {
  const attribution::ModuleTree& tree = view.attribution().modules;
  std::vector<std::string_view> classes;
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    classes.push_back(tree.ClassOf(attribution::ModuleId(i), view.trace()));
  }
  for (const Mark& mark : kClasses) {
    for (const std::string_view name : classes) {
      if (name != mark.text) continue;
      return {std::string(mark.engine), fmt::format("module class {}", mark.text)};
    }
  }
  std::string_view layer;
  bool has_linear = false;
  for (const std::string_view name : classes) {
    if (IsModelClass(name) || (layer.empty() && name.ends_with(kLayerSuffix))) layer = name;
    has_linear = has_linear || name == "Linear";
  }
  if (layer.empty() || !has_linear) return {};
  return {"transformers", fmt::format("module classes {}, Linear", layer)};
}

/// Words of the names that the engines give to their processes (`VLLM::EngineCore`,
/// `sglang::scheduler_TP0`), in lower case.
constexpr std::array<Mark, 4> kProcessWords = {{{"vllm", "vllm"},
                                                {"sglang", "sglang"},
                                                {"trtllm", "tensorrt-llm"},
                                                {"tensorrt_llm", "tensorrt-llm"}}};

/// Of processes that launched something: a database lists all that ran on the machine.
Guess FromProcesses(const RankView& view) {
  const trace::Trace& trace = view.trace();
  for (const trace::ProcessId host : view.processes().hosts) {
    const trace::StringId name = trace.processes[host.index()].name;
    if (!name.valid()) continue;
    std::string lower(trace.strings[name]);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const Mark& mark : kProcessWords) {
      if (lower.find(mark.text) == std::string::npos) continue;
      return {std::string(mark.engine), fmt::format("process {}", trace.strings[name])};
    }
  }
  return {};
}

}  // namespace

Guess GuessEngine(const RankView& view) {
  if (Guess guess = FromSteps(view); !guess.value.empty()) return guess;
  const std::string& version = view.trace().metadata.vllm_version;
  if (!version.empty()) return {"vllm", fmt::format("vllm_version {}", version)};
  if (Guess guess = FromOps(view); !guess.value.empty()) return guess;
  if (Guess guess = FromClasses(view); !guess.value.empty()) return guess;
  return FromProcesses(view);
}

Guess GuessModel(const std::vector<ModuleNode>& nodes, int64_t total_ns) {
  for (const ModuleNode& node : nodes) {
    if (IsModelClass(node.class_name)) return {node.class_name, kModelClassSource};
  }
  const ModuleNode* best = nullptr;
  for (const ModuleNode& node : nodes) {
    if (node.parent >= 0 || node.gpu_incl_ns <= 0) continue;
    if (best == nullptr || node.gpu_incl_ns > best->gpu_incl_ns) best = &node;
  }
  if (best == nullptr || best->gpu_incl_ns < total_ns / kRootShare) return {};
  return {best->class_name, kRootModuleSource};
}

std::string LayersText(const std::vector<ModuleNode>& collapsed) {
  const std::vector<size_t> ends = SubtreeEnds(collapsed);
  const ModuleNode* best = nullptr;
  for (size_t i = 0; i < collapsed.size(); ++i) {
    const ModuleNode& node = collapsed[i];
    const bool is_run = node.repeat > 1 && ends[i] > i + 1;
    if (is_run && (best == nullptr || node.gpu_incl_ns > best->gpu_incl_ns)) best = &node;
  }
  if (best == nullptr) return {};
  return fmt::format("{} × {}", best->repeat, best->class_name);
}

}  // namespace layerscope::analysis
