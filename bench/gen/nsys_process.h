#pragma once
// A process that is profiled: its threads with one clock, the ranges that are open, and a GPU.
// Every call writes rows and, beside them, what is true of them.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/gen/nsys_forward.h"
#include "bench/gen/nsys_options.h"
#include "bench/gen/nsys_rows.h"
#include "bench/gen/nsys_timeline.h"
#include "bench/gen/nsys_truth.h"
#include "bench/gen/random.h"

namespace layerscope::gen {

// What an idle GPU waits for before an item. Lengths are even, 0: nothing of the kind.
struct NsysGap {
  int64_t queued_ns = 0;
  int64_t launch_ns = 0;
  int64_t wait_ns = 0;
};

// A node of a graph, and where its launch into the capture stood.
struct NsysGraphNode {
  NsysItem item;
  int32_t module = kNsysNone;
  int64_t captured = 0;  // its id in the graph that the capture made
  bool lost = false;     // nothing tells where it comes from
};

struct NsysGraph {
  int64_t batch = 0;
  int64_t captured = 0;    // handle of the captured graph
  int64_t executable = 0;  // and of the one that is launched
  std::vector<NsysGraphNode> nodes;
  std::vector<int32_t> replayed;  // modules of the captured ranges that hold a node that is known
};

class NsysProcess {
 public:
  NsysProcess(const NsysOptions& options, NsysNames* names, NsysModules* modules, int64_t rank,
              NsysTruth* truth);

  // Ranges of the current thread, closed in turn.
  void OpenModule(int32_t module);
  void Open(NsysRange::Kind kind, std::string_view text, int64_t domain = 0);
  void Close();
  void OpenStep(const NsysStepName& outer, const NsysStepName& inner);
  void CloseStep();

  // An item by itself: its op, its call, its activity.
  void Launch(const NsysItem& item, const NsysGap& gap = {});
  void LaunchUnseen(const NsysItem& item);
  // On a thread of its own, below the work at hand.
  void LaunchBeside(const NsysItem& item);
  // Between Begin and End launches go into the graph: the call alone, and the row of the node.
  void BeginCapture(NsysGraph* graph);
  void LaunchInto(const NsysItem& item, bool lost, bool has_row);
  void EndCapture();
  void LaunchGraph(const NsysGraph& graph, const NsysGap& gap);

  void Call(std::string_view name, int64_t length_ns);
  void AddNode(std::string_view name, int64_t node, int64_t original);
  // Waits until the GPU has nothing to do and `after_ns` longer (an odd number).
  void Synchronize(int64_t after_ns);
  void Rest(int64_t length_ns) { now_ns_ += length_ns / 2 * 2; }
  void set_tid(int64_t tid) { tid_ = tid; }

  // The profiler stops at `end_ns`: what is open stays open.
  void EndRecording(int64_t end_ns);
  // What was recorded since the last call is settled, and may be written and cleared.
  NsysRows& rows() { return rows_; }

  const NsysPlace& place() const { return truth().place; }
  NsysRankTruth& truth() const { return truth_->ranks[rank_]; }
  Random& random() { return random_; }
  int64_t now_ns() const { return now_ns_; }
  int64_t NextGraph() { return next_graph_++; }
  int64_t main_tid() const { return place().pid; }

 private:
  struct OpenRange {
    size_t row;
    int32_t module;
    bool has_node;  // a node was captured in it
  };
  // How an item came to the GPU.
  struct Launched {
    int64_t call_end_ns = 0;
    int64_t correlation = 0;
    int32_t module = kNsysNone;
    NsysReason reason = NsysReason::kNone;
    bool seen = true;      // its call was recorded
    bool follows = false;  // of the same graph launch another one has begun
    int64_t queued_ns = 0;
    int64_t node = 0;
    int64_t graph = 0;
  };

  int64_t Short() { return random_.Range(60, 160) * 2; }
  int64_t Varied(int64_t work_ns) { return work_ns * random_.Range(4800, 5200) / 10000 * 2; }
  size_t AddRange(NsysRange::Kind kind, std::string_view text, int64_t domain);
  std::string ModuleText(int32_t module, bool outputs) const;
  void OpenOp(const NsysItem& item);
  int32_t InnermostModule() const;
  NsysCall& AddCall(std::string_view name, int64_t length_ns);
  NsysCall& LaunchCall(const NsysItem& item, int64_t launch_gap_ns);
  NsysActivity Describe(const NsysItem& item, const Launched& launched);
  void Enqueue(const NsysItem& item, const Launched& launched);
  int64_t StartOf(const NsysItem& item, const Launched& launched, int64_t length_ns);
  void PlaceBeside(const NsysActivity& main);
  void Record(const NsysActivity& activity);
  void LaunchWhole(const NsysGraph& graph, const Launched& launched);
  void CloseWindows(size_t until);

  const NsysOptions& o_;
  NsysNames& names_;
  NsysModules& modules_;
  NsysTruth* truth_;
  size_t rank_;
  Random random_;
  NsysTimeline timeline_;
  NsysRows rows_;
  std::vector<OpenRange> open_;
  std::vector<NsysActivity> beside_;  // wait for the work that they run below
  NsysGraph* capturing_ = nullptr;
  int32_t step_ = kNsysNone;  // that is open
  size_t step_ranges_ = 0;    // of it
  size_t windows_ = 0;        // steps whose lines are known
  int64_t now_ns_ = 0;
  int64_t tid_ = 0;
  int64_t next_correlation_ = 0;
  int64_t next_graph_ = 0;
  int64_t next_op_ = 0;
  int64_t next_range_ = 0;
};

}  // namespace layerscope::gen
