#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/rank_view.h"

namespace layerscope::document {

/// What one request spent in one module. GPU times of a CPU-only trace are self times of its ops.
struct ModuleFigures {
  int64_t calls = 0;
  int64_t gpu_ns = 0;                    ///< it and all below it
  int64_t gpu_self_ns = 0;               ///< in it alone
  int64_t cpu_ns = 0;                    ///< length of its calls
  int64_t kernels = 0;                   ///< it and all below it
  analysis::EvidenceSums evidence_ns{};  ///< splits gpu_self_ns
};

/// One module path over all requests.
struct AlignedModule {
  static constexpr uint32_t kNone = 0xffffffffU;
  uint32_t parent = kNone;
  uint32_t process = 0;  ///< the how-manieth process with modules of its traces
  std::string path;
  std::string class_name;
  std::string instance;  ///< the path's last part, or `Class_k`
  bool has_path = false;
  /// By request, ascending; requests without this module are absent.
  std::vector<std::pair<uint32_t, ModuleFigures>> of_request;

  const ModuleFigures* Of(uint32_t request) const;
};

/// The modules of all requests, aligned by path; of several processes in a trace the first with
/// modules meets the others' first, and so on. Parents come first; siblings stand in the order of
/// the first request that has them, those of later requests behind the sibling that precedes them
/// there.
struct AlignedTree {
  std::vector<AlignedModule> modules;
  size_t n_processes = 0;                   ///< with modules, in the trace that has most
  std::vector<ModuleFigures> unattributed;  ///< by request: what no module explains
  std::vector<int64_t> modules_of;          ///< by request: how many of the modules it has
};

/// `views` by request, each of a whole trace.
AlignedTree AlignModules(const std::vector<analysis::RankView>& views);

}  // namespace layerscope::document
