#pragma once
// The process that is traced: one thread of it with a clock, its open scopes, and a GPU. Every call
// writes events and, beside them, what is true of the GPU activities.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/gen/random.h"
#include "bench/gen/replay_options.h"
#include "bench/gen/replay_plan.h"
#include "bench/gen/replay_trace.h"
#include "bench/gen/replay_truth.h"

namespace layerscope::gen {

// Numbers module objects as PyTorch does, over the life of a process.
class ModuleNumbers {
 public:
  struct Called {
    std::string module_class, path;
  };
  // "Class_k" of the object at `path`.
  const std::string& Name(const std::string& module_class, const std::string& path);
  const std::vector<Called>& in_order_of_first_call() const { return order_; }

 private:
  std::map<std::pair<std::string, std::string>, std::string> names_;
  std::map<std::string, int64_t> next_;
  std::vector<Called> order_;
};

// A node of a captured graph.
struct CapturedNode {
  PlanItem item;
  std::vector<std::string> modules;
  std::string path;
  std::string op;
  int64_t id = 0;
  bool lost = false;
  bool uncertain = false;
};

class Host {
 public:
  Host(const ReplayOptions& options, ModuleNumbers* numbers, int64_t rank, int64_t start_ns,
       uint64_t seed);

  void OpenModule(const std::string& module_class, const std::string& path);
  void OpenOp(const std::string& name);
  void OpenAnnotation(const std::string& name);
  void OpenFrame(const std::string& name);
  void Close();
  // A call without GPU work.
  void Call(std::string_view name);
  void Launch(const std::string& kernel, int64_t work_ns, bool side = false);
  void Copy(std::string_view name, int64_t work_ns);
  // Inside a capture: the call alone.
  CapturedNode LaunchIntoCapture(const PlanItem& item);
  void LaunchGraph(const std::vector<CapturedNode>& nodes, int64_t graph);

  void ReadyAgain(int64_t rest_ns);  // waits for the GPU and then some
  // Nothing so far was recorded; scopes that are open began before the window.
  void ForgetAll();
  void set_thread(int64_t tid) { tid_ = tid; }
  void set_pass(int64_t pass) { pass_ = pass; }

  int64_t now_ns() const { return now_ns_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  ReplayTruth& truth() { return truth_; }
  TraceHeader header() const;

 private:
  struct Scope {
    size_t event;
    bool module, op, frame;
    std::string name, path;
    int64_t external_id, python_id;
  };
  TraceEvent& AddEvent(std::string_view category, const std::string& name);
  void Open(std::string_view category, const std::string& name, const std::string& path);
  TraceEvent& AddLaunchCall(std::string_view name, const std::string& kernel);
  int64_t ExternalId() const;
  // Where the GPU runs work that is ready at `ready_ns`.
  int64_t Enqueue(int64_t stream, int64_t ready_ns, int64_t work_ns);
  void AddActivity(std::string_view kind, const std::string& name, int64_t stream, int64_t start_ns,
                   int64_t duration_ns, std::string args);
  void AddNode(const CapturedNode& node, int64_t graph, int64_t correlation, int64_t ready_ns);
  void MakeBurst(size_t first_event, size_t first_activity);
  void FillPlace(ReplayActivity* activity) const;
  int64_t Stream(bool side) const { return side ? main_stream_ + 2 : main_stream_; }

  const ReplayOptions& o_;
  ModuleNumbers& numbers_;
  int64_t rank_;
  int64_t now_ns_;
  int64_t tid_;
  int64_t main_stream_;
  Random random_;
  std::vector<TraceEvent> events_;
  ReplayTruth truth_;
  std::vector<Scope> open_;
  std::map<int64_t, int64_t> stream_end_ns_;
  int64_t next_external_id_ = 1;
  int64_t next_correlation_ = 1;
  int64_t next_python_id_ = 1;
  int64_t pass_ = -1;
};

}  // namespace layerscope::gen
