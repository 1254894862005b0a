#pragma once
// One rank of a run: its process captures graphs, then serves step after step.

#include <cstdint>
#include <vector>

#include "bench/gen/nsys_process.h"

namespace layerscope::gen {

// A step of the sweep. All ranks play the same ones.
struct NsysCell {
  int64_t number = 0;
  int64_t batch = 0;
  int64_t past = 0;
  bool prefill = false;
  bool last = false;
};

class NsysRank {
 public:
  NsysRank(const NsysOptions& options, NsysNames* names, NsysModules* modules, int64_t rank,
           NsysTruth* truth)
      : o_(options),
        names_(*names),
        modules_(*modules),
        process_(options, names, modules, rank, truth) {}

  // What happens before the first step.
  void Prepare();
  void Step(const NsysCell& cell);

  NsysProcess& process() { return process_; }

 private:
  NsysItem Item(NsysItem::Kind kind, std::string_view name, std::string_view op, int64_t work_ns);
  void Capture(int64_t batch);
  void Instantiate(NsysGraph* graph);
  void Destroy(const NsysGraph& graph);
  bool UsesGraph(const NsysCell& cell) const;
  void OpenStep(const NsysCell& cell);
  void PlayEagerly(const NsysCell& cell);
  void Replay(const NsysCell& cell);
  void Sample(bool in_module);
  int64_t GapLength(int64_t asked_ns);

  const NsysOptions& o_;
  NsysNames& names_;
  NsysModules& modules_;
  NsysProcess process_;
  std::vector<NsysGraph> graphs_;
};

}  // namespace layerscope::gen
