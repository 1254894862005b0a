#pragma once

#include <string>
#include <vector>

#include "src/analysis/module_nodes.h"
#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// A guess and what it rests on; both empty when nothing says.
struct Guess {
  std::string value;
  std::string source;  ///< "step annotations", "module classes", …
};

/// GuessModel's source where a module names the model.
inline constexpr const char* kModelClassSource = "module class";
/// And where only a root module stands for it.
inline constexpr const char* kRootModuleSource = "root module";

/// "sglang", "vllm", "tensorrt-llm" or "transformers", from step annotations, metadata, op names
/// and module classes, in this order. SGLang first: it also writes vLLM's execute_… annotations.
Guess GuessEngine(const RankView& view);

/// The class of the model: the outermost module class that ends in ForCausalLM or the like, else of
/// the root with the most time, if it has at least a quarter of `total_ns` (under graph replay only
/// samplers are left).
Guess GuessModel(const std::vector<ModuleNode>& nodes, int64_t total_ns);

/// "36 × Qwen3DecoderLayer": the siblings of one class that have children and the most time, alike
/// or not, with those of other classes that are numbered along with them ("4 × AttentionLayer + 28
/// × MambaLayer"); empty when there are not at least two. `collapsed` is the tree with runs folded.
std::string LayersText(const std::vector<ModuleNode>& collapsed);

}  // namespace layerscope::analysis
