#pragma once
// What is true of a run: summed while it is played, from what each activity was launched for.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "bench/gen/interval_union.h"
#include "bench/gen/nsys_forward.h"
#include "bench/gen/nsys_options.h"
#include "bench/gen/nsys_rows.h"
#include "bench/gen/nsys_timeline.h"

namespace layerscope::gen {

struct NsysSums {
  int64_t gpu_ns = 0;
  int64_t activities = 0;
  int64_t kernel_ns = 0;
  int64_t kernels = 0;
  void Add(const NsysActivity& activity);
  void Add(const NsysSums& other);
};

// What a step's annotation says. -1: nothing.
struct NsysStepName {
  std::string name;
  std::string phase;
  int64_t number = -1;
  int64_t requests = -1;
  int64_t past = -1;
};

struct NsysStep {
  NsysStepName says;
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // of the annotation
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = 0;
  IntervalUnion busy;
  NsysSums sums;
  int64_t launches = 0;
  int64_t graph_kernels = 0;
  std::map<int32_t, NsysSums> modules;  // kNsysNone: in none
  int64_t from_ns = 0;                  // of its window: what the user waits for
  NsysLines lines{};
};

struct NsysRankTruth {
  NsysPlace place;
  bool detailed = true;  // a truth file is asked for: steps keep their modules
  std::vector<NsysStep> steps;
  NsysSums outside;
  std::map<int32_t, NsysSums> modules;
  std::array<NsysSums, 4> unattributed;  // by NsysReason
  std::map<int32_t, int64_t> calls;      // of a module: ranges
  std::map<int32_t, int64_t> replayed;   // and captured ranges that a replay runs again
  std::array<NsysSums, 4> kinds;         // by NsysKind
  int64_t launches = 0;
  int64_t graph_launches = 0;
  int64_t without_activity = 0;
  int64_t without_launch = 0;  // activities
  int64_t ranges = 0;
  int64_t scopes = 0;
  int64_t open_ranges = 0;
  int64_t outputs = 0;
  int64_t ops = 0;
  int64_t first_ns = std::numeric_limits<int64_t>::max();  // of all rows
  int64_t last_ns = 0;

  void Add(const NsysActivity& activity);
  void Seen(int64_t start_ns, int64_t end_ns);
};

struct NsysKernel {
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();
  int64_t max_ns = 0;
};

struct NsysTruth {
  std::vector<NsysRankTruth> ranks;
  std::map<int32_t, NsysKernel> kernels;
};

std::string RenderNsysTruth(const NsysOptions& options, const NsysNames& names,
                            const NsysModules& modules, const NsysTruth& truth);

}  // namespace layerscope::gen
