#pragma once
// What is true of the generated trace, summed while it is generated. Nothing here is derived from
// the events' text or from containment in time: callers say which module, op and step they meant.
// All sums are integer nanoseconds.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/gen/event.h"
#include "bench/gen/interval_union.h"
#include "bench/gen/modules.h"

namespace layerscope::gen {

// Fields of a step's name, -1 where the name does not say.
struct StepFields {
  std::string_view phase;  // empty: none
  int64_t requests = -1;
  int64_t query_tokens = -1;
  int64_t context_tokens = -1;
  int64_t generation_tokens = -1;
};

enum class LaunchedBy : uint8_t { kCall, kGraph, kNothing };

using ModuleStack = std::vector<const Module*>;  // outermost first

struct Activity {
  EventKind kind = EventKind::kKernel;
  std::string_view name;
  int64_t stream = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  LaunchedBy launched_by = LaunchedBy::kCall;
  std::string_view op;                   // innermost, empty outside of ops
  const ModuleStack* modules = nullptr;  // open around the launch
  int64_t step = -1;
  bool same_thread = true;  // launched on the thread of the step's annotation
  int device = 0;           // beyond the document's own
};

struct Call {
  std::string_view name;
  bool driver = false;
  int64_t activities = 0;  // recorded ones that it launched
  int64_t kernels = 0;
  int64_t step = -1;
};

struct Count {
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  void Add(int64_t duration_ns);
};

struct ModuleTruth {
  int64_t calls = 0;
  Count kernel_inclusive, kernel_exclusive;
  Count gpu_inclusive, gpu_exclusive;  // kernels, copies and sets
  int64_t op_self_ns = 0;              // exclusive, CPU-only traces
};

struct StepTruth {
  std::string name;
  int64_t tid = 0;
  int64_t start_ns = 0;
  int64_t cpu_ns = 0;
  StepFields fields;
  Count kernels, copies;
  int64_t kernels_same_thread = 0;
  int64_t launches = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t busy_ns = 0;
};

struct StreamTruth {
  int64_t n = 0;
  int64_t sum_ns = 0;
  IntervalUnion busy;
};

struct DeviceTruth {
  std::map<int64_t, StreamTruth> streams;
  IntervalUnion busy;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
};

struct TruthData {
  Count kernels, memcpys, memsets;
  std::map<std::string, Count, std::less<>> kernel_names;
  std::map<int, DeviceTruth> devices;

  std::map<std::string, int64_t, std::less<>> calls;
  int64_t runtime_calls = 0;
  int64_t driver_calls = 0;
  int64_t launches = 0;
  int64_t graph_launches = 0;
  int64_t launches_without_activity = 0;
  int64_t launches_without_kernel = 0;
  int64_t max_kernels = 0;
  Count graph_kernels;
  int64_t kernels_without_launch = 0;
  int64_t activities_without_call = 0;

  std::map<int, ModuleTruth> modules;
  int64_t scopes = 0;
  int64_t max_depth = 0;
  Count unattributed_gpu, unattributed_kernels;
  std::map<std::string, int64_t, std::less<>> unattributed_reasons;  // gpu ns

  int64_t ops = 0;
  int64_t annotations = 0;
  std::map<std::string, Count, std::less<>> kernels_of_op;
  int64_t kernels_outside_ops = 0;
  std::map<std::pair<std::string, std::string>, Count> op_self;  // CPU-only: name, rendered args
  int64_t op_self_outside_ns = 0;

  std::vector<StepTruth> steps;
  Count outside_gpu, outside_kernels;
};

class Truth {
 public:
  void AddActivity(const Activity& activity);
  void AddCall(const Call& call);
  void AddScope(const Module& module, int64_t depth);
  void AddOp() { ++data_.ops; }
  void AddOpSelf(std::string_view name, std::string_view shapes, int64_t self_ns,
                 const ModuleStack& modules);
  void AddAnnotation() { ++data_.annotations; }

  // Returns the step's index, for activities and calls.
  int64_t OpenStep(StepTruth step);
  void CloseStep(int64_t step, int64_t end_ns);
  // First start and last end of the open step's activities on `stream`; false if it has none.
  bool StepSpan(int64_t stream, int64_t* start_ns, int64_t* end_ns) const;

  // No later activity starts before `mark_ns`.
  void Settle(int64_t mark_ns);
  // Settles everything.
  const TruthData& Finish();

 private:
  struct StepPart {
    int64_t stream, start_ns, end_ns;
  };
  void AddToDevice(const Activity& activity);
  void AddToModules(const Activity& activity);
  void AddToStep(const Activity& activity);

  TruthData data_;
  std::vector<StepPart> step_parts_;
};

}  // namespace layerscope::gen
