#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/columns.h"
#include "src/trace/ids.h"
#include "src/trace/ledger.h"
#include "src/trace/string_pool.h"

namespace layerscope::trace {

/// A pid, tid, device or stream as written: a number, or text ("stream 7", "[TP-0] 12"). Text that
/// is a number is a number.
struct Label {
  int64_t number = 0;
  StringId text;  ///< valid: the label is text and `number` is 0
  friend bool operator==(const Label&, const Label&) = default;
};

struct Process {
  Label pid;
  StringId name;                  ///< process_name metadata, may be invalid
  std::optional<int64_t> rank{};  ///< where the file tells each process's own (nsys, MPI_RANKS)
};
struct Thread {
  ProcessId process;
  Label tid;
  StringId name;  ///< thread_name metadata, may be invalid
};
struct Device {
  Label id;
};
struct Stream {
  DeviceId device;
  Label id;
};

/// Arguments that many rows share, interned: hundreds of distinct tuples in a trace of thousands of
/// ops. JSON texts are the file's own, without white space.
struct Args {
  StringId input_dims;            ///< ops: `[[2,8],[8]]`
  StringId input_types;           ///< ops: `["float","float"]`
  StringId grid;                  ///< kernels: `[132,1,1]`
  StringId block;                 ///< kernels: `[128,1,1]`
  StringId collective;            ///< kernels: "Collective name"
  StringId dtype;                 ///< kernels: dtype of the collective
  int64_t message_elements = -1;  ///< kernels: "In msg nelems"; -1 = absent
  int64_t group_size = -1;        ///< kernels: "Group size"; -1 = absent
  friend bool operator==(const Args&, const Args&) = default;
};

/// Which profiler wrote a trace. Some rules of attribution differ: see Attribute.
enum class TraceFormat : uint8_t { kKineto, kNsys };
/// "kineto", "nsys": what outputs call it.
std::string_view ToString(TraceFormat format);

/// What the keys beside `traceEvents` say; of a database its tables about the machine.
struct Metadata {
  struct DeviceProperties {
    int64_t id = -1;
    std::string name;
  };
  std::vector<DeviceProperties> devices;
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string backend;
  std::string vllm_version;
  bool with_stack = false;
  bool record_shapes = false;
  /// The profiler and its format, where the file says it: "nsys 2026.2.1 (schema 3.25.0)".
  std::string profiler_version;
  /// How the profiler recorded CUDA graphs, in lower case: "graph", "node"; empty = not said.
  std::string graph_trace_mode;
  /// When the recording began, ns since 1970 (nsys).
  std::optional<int64_t> session_start_ns;
};

struct EventCounts {
  int64_t n_events = 0;
  std::map<std::string, int64_t> by_ph;
  std::map<std::string, int64_t> by_cat;  ///< "ph|cat"; an absent cat is empty
};

/// One trace file, frozen: contiguous columns, interned strings. Attribution and analyses read it;
/// nobody writes to it after the reader and Rebase.
struct Trace {
  StringPool strings;
  std::vector<Args> args;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<Stream> streams;

  Activities activities;
  Calls calls;
  Ops ops;
  Scopes scopes;
  /// The scopes as the file has them, row by row, where `scopes` are fewer (JoinModuleRanges); else
  /// empty: read them through RecordedScopes.
  Scopes unjoined_scopes;
  Annotations annotations;
  GraphNodes graph_nodes;

  TraceFormat format = TraceFormat::kKineto;
  Metadata metadata;
  EventCounts counts;
  Ledger ledger;

  /// Absolute time of relative 0 (DESIGN.md section 7), in ns.
  int64_t zero_ns = 0;
  /// Last end over X events, relative to zero.
  int64_t end_ns = 0;

  const Scopes& RecordedScopes() const {
    return unjoined_scopes.size() > 0 ? unjoined_scopes : scopes;
  }
  /// Makes all times relative to `zero_ns` instead of the zero they are relative to now.
  void Rebase(int64_t new_zero_ns);
  /// The text of a label: digits or the text itself.
  std::string LabelText(const Label& label) const;
  std::string DeviceText(DeviceId id) const { return LabelText(devices[id.index()].id); }
  std::string StreamText(StreamId id) const { return LabelText(streams[id.index()].id); }
  DeviceId DeviceOf(StreamId id) const { return streams[id.index()].device; }
  /// Bytes held by each group of columns, for --stats.
  std::vector<std::pair<std::string, int64_t>> MemoryUse() const;
};

}  // namespace layerscope::trace
