#pragma once
// One event of the trace before it is text. Times are absolute nanoseconds.

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/gen/catalog.h"

namespace layerscope::gen {

enum class EventKind : uint8_t {
  kAnnotation,
  kOp,
  kFrame,
  kModule,
  kMemory,
  kCall,
  kKernel,
  kMemcpy,
  kMemset,
  kGpuAnnotation,
};

struct Event {
  EventKind kind = EventKind::kFrame;
  std::string_view name;
  std::string_view shapes;  // ops: rendered args; kernels: rendered geometry
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t tid = 0;  // thread, or stream of an activity
  int64_t external_id = 0;
  int64_t correlation = 0;
  int64_t python_id = 0;
  int64_t python_parent = 0;
  int64_t module_number = 0;
  int64_t bytes = 0;
  int64_t graph_node = 0;
  int64_t index = 0;  // "Ev Idx"
  int cbid = 0;
  bool driver = false;
  bool has_activity = false;  // calls: a flow starts here
  int device = 0;             // beyond the document's own
  int process = 0;
};

// Everything recorded since the last write, and the counters that run on.
struct Recording {
  std::vector<Event> events;
  int64_t next_external_id = 1;
  int64_t next_correlation = 1;
  int64_t next_python_id = 1;
  int64_t next_index = 0;

  // For padding towards a mix.
  int64_t frames = 0;
  int64_t ops = 0;
  int64_t calls = 0;
  int64_t kernels = 0;

  Event& Add(EventKind kind) {
    Event& event = events.emplace_back();
    event.kind = kind;
    event.index = next_index++;
    return event;
  }
};

}  // namespace layerscope::gen
