#pragma once
// Writes a run as Kineto traces, one a rank: what torch.profiler would have recorded of it.

#include <string>
#include <vector>

#include "bench/gen/nsys_forward.h"
#include "bench/gen/nsys_options.h"
#include "bench/gen/nsys_rows.h"
#include "bench/gen/nsys_truth.h"
#include "bench/gen/replay_trace.h"

namespace layerscope::gen {

class NsysKineto {
 public:
  NsysKineto(const NsysOptions& options, const NsysNames& names, const NsysModules& modules)
      : o_(options),
        names_(names),
        modules_(modules),
        traces_(static_cast<size_t>(options.ranks)) {}

  void Add(const std::vector<NsysRowsOf>& all);
  bool Finish(const NsysTruth& truth, std::string* error);

 private:
  void AddRange(const NsysRange& range, std::vector<TraceEvent>* events) const;
  void AddCall(const NsysCall& call, std::vector<TraceEvent>* events) const;
  void AddActivity(const NsysPlace& place, const NsysActivity& activity,
                   std::vector<TraceEvent>* events);
  TraceEvent& AddEvent(int64_t start_ns, int64_t end_ns, int64_t tid,
                       std::vector<TraceEvent>* events) const;

  const NsysOptions& o_;
  const NsysNames& names_;
  const NsysModules& modules_;
  std::vector<std::vector<TraceEvent>> traces_;    // by rank
  std::vector<std::map<int64_t, int32_t>> nodes_;  // by rank: the modules of graph nodes
};

}  // namespace layerscope::gen
