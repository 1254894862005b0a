#include "src/analysis/workload_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "src/base/checked_sum.h"

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

/// Siblings of one class that have children.
struct LayerKind {
  int64_t parent = -1;
  std::string_view class_name;
  std::string_view stem;  ///< "model.layers." of a recorded path; empty: its end is no number
  int64_t n = 0;
  int64_t gpu_ns = 0;
};

/// What stands before the number, or the range of numbers, at the end of a path.
std::string_view StemOf(const ModuleNode& node) {
  const std::string_view path = node.has_path ? std::string_view(node.path) : std::string_view();
  const size_t end = path.find_last_not_of("0123456789.");
  if (end == std::string_view::npos || end + 2 >= path.size() || path[end + 1] != '.') return {};
  return path.substr(0, end + 2);
}

/// In order of first call. Rows of one class that are not alike (dense layers and layers with
/// experts) are of one kind.
std::vector<LayerKind> LayerKinds(const std::vector<ModuleNode>& collapsed) {
  const std::vector<size_t> ends = SubtreeEnds(collapsed);
  std::vector<LayerKind> kinds;
  std::map<std::tuple<int64_t, LabelValue, std::string_view>, size_t>
      known;  // parent, process, class
  for (size_t i = 0; i < collapsed.size(); ++i) {
    const ModuleNode& node = collapsed[i];
    if (ends[i] == i + 1) continue;
    const auto [at, is_new] =
        known.try_emplace({node.parent, node.place.pid, node.class_name}, kinds.size());
    if (is_new) kinds.push_back({node.parent, node.class_name, StemOf(node)});
    kinds[at->second].n += node.repeat;
    kinds[at->second].gpu_ns = base::AddClamped(kinds[at->second].gpu_ns, node.gpu_incl_ns);
  }
  return kinds;
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
  const std::vector<LayerKind> kinds = LayerKinds(collapsed);
  const LayerKind* best = nullptr;
  for (const LayerKind& kind : kinds) {
    if (kind.n > 1 && (best == nullptr || kind.gpu_ns > best->gpu_ns)) best = &kind;
  }
  if (best == nullptr) return {};
  std::string text;
  for (const LayerKind& kind : kinds) {
    const bool beside =
        kind.parent == best->parent && !kind.stem.empty() && kind.stem == best->stem;
    if (&kind != best && !beside) continue;
    text += fmt::format("{}{} × {}", text.empty() ? "" : " + ", kind.n, kind.class_name);
  }
  return text;
}

}  // namespace layerscope::analysis
