#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::model {

/// A degree of parallelism and who said it. Unknown stays unknown, never a default.
struct ParallelDegree {
  std::optional<int64_t> size;
  std::string source;  ///< "--tp", "--server-args: --tensor-parallel-size", "world_size 1"
};

/// How a model is spread over GPUs: tensor, pipeline, data and expert parallelism.
struct ParallelLayout {
  ParallelDegree tp, pp, dp, ep;
};

/// What the command line of a server says: vLLM (`--tensor-parallel-size 8`, `-tp 8`), SGLang
/// (`--tp-size 8`, `--tp 8`, `--ep-size`), TensorRT-LLM (`--tp_size`, `--ep_size`), also with `=`.
/// The last mention of a flag wins. kUsage for a size that is no number from 1 to 65536.
base::Result<ParallelLayout> ParseServerArguments(std::string_view text);

/// Fills what `layout` does not know: a world of one rank has every degree 1.
void FillFromWorldSize(std::optional<int64_t> world_size, ParallelLayout& layout);

}  // namespace layerscope::model
