#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// What filling the columns met, beside the columns themselves. Activities unless said otherwise.
struct AttributionCounts {
  int64_t step_numbers_dropped = 0;  ///< numbers of step names
  // Nsight Systems:
  int64_t whole_graphs = 0;        ///< graphs recorded without their kernels
  int64_t unknown_nodes = 0;       ///< of a graph node whose capture is not in the file
  int64_t conflicting_nodes = 0;   ///< of a graph node with two originals, or captured twice
  int64_t differing_launches = 0;  ///< graph launches with other nodes than their graph's others
};

/// What the user must know before trusting the columns: work below graph launches, activities
/// without a launch, no module scopes, numbers in step names that overflow, sums that do not fit
/// (kError). One entry a cause, none when all is well.
std::vector<table::HealthEntry> ActivityWarnings(const trace::Trace& trace,
                                                 const Attribution& attribution,
                                                 const AttributionCounts& counts);

/// An activity under a graph launch whose module below that launch is not known: it has none, or
/// the one around the launch stands for it. (One that was captured outside every module has none.)
inline bool IsHiddenByGraph(const Attribution& attribution, size_t row) {
  return attribution.under_graph[row] != 0 &&
         (attribution.module_reason[row] == Reason::kGraphLaunch ||
          attribution.module_evidence[row] == Evidence::kLaunchCorrelation);
}

/// True of a warning about what modules are known: nothing to who looks at steps and times alone.
bool IsAboutModules(const table::HealthEntry& entry);

/// What a run had that shows modules below graph launches; advice does not name it again.
struct GivenSources {
  bool captures = false;
  bool eager = false;
  bool config = false;
};

/// Says anew what is hidden, after replays were resolved: of `attribution.warnings` the entry
/// `graph_launch` keeps its place, or goes when nothing is hidden; `no_module_scopes` goes when a
/// recording brought modules.
void UpdateModuleWarnings(const trace::Trace& trace, Attribution& attribution,
                          const GivenSources& given = {});

}  // namespace layerscope::attribution
