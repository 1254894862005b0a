#include "bench/gen/document.h"

#include <algorithm>
#include <numeric>

namespace layerscope::gen {
namespace {

constexpr int kGroups = 3;

// Torch writes ops and annotations first, then Python, then what CUPTI reported.
int Group(EventKind kind) {
  switch (kind) {
    case EventKind::kAnnotation:
    case EventKind::kOp:
    case EventKind::kMemory:
      return 0;
    case EventKind::kFrame:
    case EventKind::kModule:
      return 1;
    default:
      return 2;
  }
}

std::string Quoted(const std::string& text) {
  return '"' + text + '"';
}

}  // namespace

Document::Document(const Options& options, int64_t rank, TextSink* sink)
    : o_(options),
      rank_(rank),
      sink_(*sink),
      text_(options, ArgsDepth(options) - 1, rank < 0 ? 0 : rank, &sink->buffer()),
      random_(options.seed ^ 0xc2b2ae35u) {}

void Document::Begin() {
  if (o_.bare_array) {
    sink_.buffer() += "[";
  } else {
    WriteHeader();
  }
  WriteProcessMetadata();
}

void Document::WriteHeader() {
  std::string& out = sink_.buffer();
  JsonText json(&out, o_.layout);
  json.Object().Line(2).Key("schemaVersion").Int(1).Line(2).Key("deviceProperties").Array();
  const bool two = o_.together == Together::kDevices || o_.together == Together::kRanks;
  if (!o_.cpu_only) WriteDeviceProperties(json, rank_ < 0 ? 0 : rank_);
  if (two) WriteDeviceProperties(json, 1);
  json.Line(2).EndArray();
  json.Line(2).Key("cupti_version").Int(26).Line(2).Key("cuda_runtime_version").Int(12080);
  json.Line(2).Key("cuda_driver_version").Int(12080);
  if (rank_ >= 0) {
    json.Line(2).Key("distributedInfo").Object().Key("backend").String("nccl");
    json.Key("rank").Int(rank_).Key("world_size").Int(o_.ranks);
    json.Key("pg_count").Int(1).Key("nccl_version").String("2.27.3").EndObject();
  }
  json.Line(2).Key("record_shapes").Int(o_.shapes).Line(2).Key("with_stack").Int(o_.stacks);
  json.Line(2).Key("with_modules").Int(o_.modules);
  if (o_.steps == StepNaming::kVllm) json.Line(2).Key("vllm_version").String("0.26.0");
  json.Line(2).Key("trace_id").String("0A1B2C3D4E5F60718293A4B5C6D7E8F9");
  json.Line(2).Key("displayTimeUnit").String("ms");
  json.Line(2).Key("baseTimeNanoseconds").Int(1759347582000000000);
  json.Line(2).Key("traceEvents").Array();
}

void Document::WriteDeviceProperties(JsonText& json, int64_t id) const {
  json.Line(4).Object().Key("id").Int(id);
  json.Key("name").String(o_.amd ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3");
  json.Key("totalGlobalMem").Int(85028765696);
  json.Key("computeMajor").Int(9).Key("computeMinor").Int(0);
  json.Key("maxThreadsPerBlock").Int(1024).Key("maxThreadsPerMultiprocessor").Int(2048);
  json.Key("regsPerBlock").Int(65536).Key("warpSize").Int(32);
  json.Key("sharedMemPerBlock").Int(49152).Key("numSms").Int(132);
  json.Key("regsPerMultiprocessor").Int(65536);
  json.Key("sharedMemPerBlockOptin").Int(232448);
  json.Key("sharedMemPerMultiprocessor").Int(233472).EndObject();
}

void Document::WriteProcessMetadata() {
  const int64_t device = rank_ < 0 ? 0 : rank_;
  WriteMetadataOf(device, kProcessId + device, true, !o_.cpu_only);
  if (o_.together == Together::kNone) return;
  const bool devices = o_.together != Together::kProcesses;
  const bool processes = o_.together != Together::kDevices;
  WriteMetadataOf(1, kProcessId + kProcessStride, processes, devices);
}

void Document::WriteMetadataOf(int64_t device, int64_t process_id, bool with_process,
                               bool with_device) {
  const std::string process = std::to_string(process_id);
  const int64_t ts_ns = o_.start_ns + 152000;
  if (with_process) {
    text_.WriteMetadata("process_name", ts_ns, process, 0, "name", Quoted("VLLM::EngineCore"));
    text_.WriteMetadata("process_labels", ts_ns, process, 0, "labels", Quoted("CPU"));
    text_.WriteMetadata("process_sort_index", ts_ns, process, 0, "sort_index", process);
  }
  if (with_device) {
    const std::string gpu = std::to_string(device);
    text_.WriteMetadata("process_name", ts_ns, gpu, 0, "name", Quoted("VLLM::EngineCore"));
    text_.WriteMetadata("process_labels", ts_ns, gpu, 0, "labels", Quoted("GPU " + gpu));
    text_.WriteMetadata("process_sort_index", ts_ns, gpu, 0, "sort_index",
                        std::to_string(5000000 + device));
    text_.WriteMetadata("thread_name", ts_ns, gpu, 7, "name", Quoted("stream 7 "));
  }
  if (with_process) {
    text_.WriteMetadata("thread_name", ts_ns, process, process_id, "name",
                        Quoted("thread " + process + " (VLLM::EngineCore)"));
  }
}

void Document::WriteBatch(const std::vector<Event>& events) {
  if (o_.order == EventOrder::kShuffle) {
    WriteShuffled(events);
    return;
  }
  for (int group = 0; group < kGroups; ++group) WriteGroup(events, group);
}

void Document::WriteGroup(const std::vector<Event>& events, int group) {
  for (const Event& event : events) {
    if (Group(event.kind) != group) continue;
    text_.Write(event);
    sink_.Drain();
  }
}

void Document::WriteShuffled(const std::vector<Event>& events) {
  std::vector<size_t> order(events.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<size_t>(random_.Range(0, static_cast<int64_t>(i) - 1))]);
  for (const size_t i : order) {
    text_.Write(events[i]);
    sink_.Drain();
  }
}

void Document::End(int64_t end_ns) {
  text_.WriteSpan("PyTorch Profiler (0)", o_.start_ns, end_ns - o_.start_ns);
  text_.WriteMetadata("process_sort_index", o_.start_ns, "\"Spans\"", 0, "sort_index", "536870912");
  text_.WriteMark("Iteration Start: PyTorch Profiler", "\"Traces\"", "\"Trace PyTorch Profiler\"",
                  o_.start_ns);
  text_.WriteMark("Record Window End", "\"\"", "\"\"", end_ns + 5000000);
  std::string& out = sink_.buffer();
  if (o_.trailing_comma) {
    out += ",\n";
    return;
  }
  out += o_.layout == Layout::kCompact ? "]" : "\n  ]";
  if (o_.bare_array) {
    out += '\n';
    return;
  }
  out += o_.layout == Layout::kCompact
             ? ",\"traceName\":\"qwen3_8b_h100_vllm.pt.trace.json\"}"
             : ",\n  \"traceName\": \"qwen3_8b_h100_vllm.pt.trace.json\"\n}\n";
}

}  // namespace layerscope::gen
