#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::model {

/// What TorchInductor wrote down of the graphs that it compiled: which nodes went into which kernel
/// (INDUCTOR_PROVENANCE=1), from a TORCH_COMPILE_DEBUG folder or from one provenance map.
struct InductorProvenance {
  /// One call of a kernel in the generated code. A kernel may be called at several places.
  struct Site {
    std::string kernel;   ///< "triton_poi_fused_add_0"; also "extern_kernels.mm"
    int64_t number = -1;  ///< the place of the call, from 1 in the order of calls; -1 = unknown
    /// Operators: those of the traced graph (`Original ATen`) where the generated code tells, else
    /// those of `graph_nodes`. Each once.
    std::vector<std::string> ops;
    /// Operators of `graph_nodes`, each once: by the printed graph, else by the nodes' names.
    std::vector<std::string> graph_ops;
    std::vector<std::string> graph_nodes;   ///< of the graph that was lowered (post-grad)
    std::vector<std::string> source_nodes;  ///< of the graph that was traced (pre-grad)
    /// Modules whose parameters or buffers the source nodes read, from the compiled module down
    /// ("layers.0.mlp"); empty: nothing tells. Only the log in torch_compile_debug/tlparse does.
    std::vector<std::string> modules;

    /// False: the kernel is called there, and nothing says what it came from.
    bool tells() const { return !source_nodes.empty() || !graph_nodes.empty() || !ops.empty(); }
  };
  /// One compiled graph: a `model__*` folder, or the map that was given.
  struct Graph {
    std::string name;           ///< of the folder or file
    std::optional<int64_t> id;  ///< as in `graph_<id>_cpp_fused_…`
    std::vector<Site> sites;    ///< in the order of calls
  };
  std::vector<Graph> graphs;
  std::vector<std::string> skipped;  ///< files that could not be used, and why: one sentence each
  std::string path{};                ///< what was given to LoadInductorProvenance
};

/// One map: {"cppCodeToPost": {"kernel:N": [node, …]}, "postToPre": {node: [node, …]}, …}. Keys
/// without ":N" are read too. kInvalidInput: no JSON, or no such map.
base::Result<InductorProvenance::Graph> ParseProvenanceMap(std::string_view text,
                                                           const std::string& origin);

/// A provenance map, an output_code.py, or a folder with such: `torch_compile_debug`, a `run_*`,
/// `torchinductor` or `model__*` of it. kInvalidInput when nothing there tells of a kernel, with
/// how to record it.
base::Result<InductorProvenance> LoadInductorProvenance(const std::string& path);

}  // namespace layerscope::model
