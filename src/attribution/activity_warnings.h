#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// What the user must know before trusting the columns: work below graph launches, activities
/// without a launch, no module scopes, numbers in step names that overflow, sums that do not fit
/// (kError). One entry a cause, none when all is well.
std::vector<table::HealthEntry> ActivityWarnings(const trace::Trace& trace,
                                                 const Attribution& attribution,
                                                 int64_t n_step_numbers_dropped);

/// An activity under a graph launch whose module below that launch is not known: it has none, or
/// the one around the launch stands for it.
inline bool IsHiddenByGraph(const Attribution& attribution, size_t row) {
  return attribution.under_graph[row] != 0 &&
         (!attribution.module[row].valid() ||
          attribution.module_evidence[row] == Evidence::kLaunchCorrelation);
}

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
