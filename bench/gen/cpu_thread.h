#pragma once
// One thread of the traced process: a clock, a stack of open frames, modules and ops, and the calls
// that launch GPU work. Writes events into the Recording and tells Truth what it decided.

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "bench/gen/call_shape.h"
#include "bench/gen/event.h"
#include "bench/gen/gpu.h"
#include "bench/gen/modules.h"
#include "bench/gen/options.h"
#include "bench/gen/random.h"
#include "bench/gen/structure.h"
#include "bench/gen/truth.h"

namespace layerscope::gen {

// What all threads of a process share.
struct Process {
  Process(const Options& chosen, uint64_t seed) : options(chosen), random(seed), gpu(&random) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const Options& options;
  Random random;
  Gpu gpu;
  Recording recording;
  ModuleTable modules;
  Truth truth;
  StructureTruth structure;  // of a family
  Place place;               // of what is launched next
  bool unseen = false;       // the host's side is not recorded
  int64_t step = -1;         // the step whose annotation is open
  int64_t step_tid = -1;     // and the thread that opened it
  // By kernels and streams: launches of one graph carry the same node ids.
  std::map<uint64_t, int64_t> graphs;
};

struct GraphNode {
  const KernelSpec* kernel;
  int64_t stream;
  Place place;
};

// Which device and process of a document with several.
struct Origin {
  int device = 0;
  int process = 0;
};

class CpuThread {
 public:
  CpuThread(Process* process, int64_t tid, Origin origin = {})
      : p_(*process), tid_(tid), origin_(origin) {}

  // Open until it is destroyed.
  class [[nodiscard]] Scope {
   public:
    explicit Scope(CpuThread* thread) : thread_(thread) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { Close(); }
    void Close() {
      if (thread_ != nullptr) thread_->Close();
      thread_ = nullptr;
    }

   private:
    CpuThread* thread_;
  };

  Scope Frame(std::string_view name);
  Scope Module(const std::string& module_class, int64_t instance);
  Scope Op(const OpSpec& op);
  Scope Annotation(std::string_view name);

  // Shorthands for something that contains nothing.
  void Leaf(std::string_view name) { Frame(name).Close(); }
  void View(const OpSpec& op) { Op(op).Close(); }

  void Launch(const KernelSpec& kernel, int64_t stream);
  void Copy(std::string_view name, int64_t bytes, int64_t stream);
  void Set(int64_t bytes, int64_t stream);
  // Inside a capture: a launching call whose kernel does not run.
  void LaunchIntoCapture(const KernelSpec& kernel);
  // One call that owns every kernel of `nodes`.
  void LaunchGraph(const std::vector<GraphNode>& nodes);
  // A call without GPU work.
  void Call(std::string_view name, int cbid);
  // Waits for the GPU inside a call named `name`.
  void Synchronize(std::string_view name, int cbid);
  void MemoryEvent(int64_t bytes);

  // While recording, launches are collected and nothing else happens.
  void StartRecordingGraph() { recording_graph_ = true; }
  std::vector<GraphNode> StopRecordingGraph();
  bool recording_graph() const { return recording_graph_; }

  // Adds small ops and frames until the mix that the options ask for is reached.
  void Pad(const Catalog& catalog);

  int64_t now_ns() const { return now_ns_; }
  int64_t tid() const { return tid_; }
  void WaitUntil(int64_t time_ns) { now_ns_ = now_ns_ > time_ns ? now_ns_ : time_ns; }
  void Advance(int64_t low_ns, int64_t high_ns) { now_ns_ += p_.random.Range(low_ns, high_ns); }

 private:
  struct Open {
    EventKind kind;
    size_t event;
    int64_t child_op_ns;
  };

  Event& Push(EventKind kind, std::string_view name);
  void Close();
  void CloseOp(const Event& event, int64_t child_op_ns);
  Event& AddCall(const CallShape& shape);
  void EndCall(size_t call, int64_t activities, int64_t kernels, bool lost);
  void PadCalls();
  void PadFrames();
  Event* AddActivity(EventKind kind, std::string_view name, int64_t work_ns, int64_t stream,
                     int64_t correlation, LaunchedBy launched_by, bool overlaps);
  void LaunchOne(EventKind kind, const CallShape& shape, std::string_view name,
                 std::string_view geometry, int64_t bytes, int64_t work_ns, int64_t stream,
                 bool overlaps);
  CallShape Shape(CallKind kind) const { return ShapeOf(kind, p_.options.amd); }
  int64_t ReadyAt() const;
  int64_t GpuStream(int64_t stream) const;
  void Settle(const Event& event);
  int64_t PythonParent() const;
  std::string_view InnermostOp() const;

  Process& p_;
  int64_t tid_;
  Origin origin_;
  int64_t now_ns_ = 0;
  std::vector<Open> open_;
  std::vector<int64_t> python_;
  ModuleStack modules_;
  bool recording_graph_ = false;
  std::vector<GraphNode> nodes_;
};

// Work whose launch was made before the window: appears without any call.
void AddOrphan(Process* process, const KernelSpec& kernel, int64_t stream, int64_t ready_ns);

}  // namespace layerscope::gen
