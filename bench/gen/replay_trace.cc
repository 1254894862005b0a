#include "bench/gen/replay_trace.h"

#include "bench/gen/json_text.h"
#include "bench/gen/text_sink.h"

namespace layerscope::gen {
namespace {

// Microseconds with three decimals, as the profiler writes them.
void AppendMicroseconds(std::string* out, int64_t ns) {
  JsonText::AppendInt(out, ns / 1000);
  *out += '.';
  const std::string rest = std::to_string(1000 + ns % 1000);
  out->append(rest, 1, 3);
}

void AppendHeader(const TraceHeader& header, std::string* out) {
  JsonText json(out, Layout::kTorch);
  json.Object().Line(2).Key("schemaVersion").Int(1).Line(2).Key("deviceProperties").Array();
  json.Line(4).Object().Key("id").Int(header.rank);
  json.Key("name").String(header.amd ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3");
  json.Key("totalGlobalMem").Int(header.amd ? 206141652992 : 85028765696);
  json.Key("warpSize").Int(header.amd ? 64 : 32).Key("numSms").Int(header.amd ? 304 : 132);
  json.EndObject().Line(2).EndArray();
  json.Line(2).Key(header.amd ? "hip_runtime_version" : "cuda_runtime_version").Int(12080);
  json.Line(2).Key("distributedInfo").Object().Key("backend").String("nccl");
  json.Key("rank").Int(header.rank).Key("world_size").Int(header.world_size).EndObject();
  json.Line(2).Key("record_shapes").Int(1).Line(2).Key("with_stack").Int(1);
  json.Line(2).Key("displayTimeUnit").String("ms");
  json.Line(2).Key("baseTimeNanoseconds").Int(1775078550000000000);
  json.Line(2).Key("traceEvents").Array();
}

void AppendName(std::string_view key, std::string_view value, int64_t process_id,
                std::string* out) {
  JsonText json(out, Layout::kTorch, 2);
  *out += "\n  ";
  json.Object().Key("ph").String("M").Key("name").String(key).Key("pid").Int(process_id);
  json.Key("tid").Int(0).Key("ts").Raw("1.000").Key("args").Object();
  json.Key(key == "process_labels" ? "labels" : "name").String(value).EndObject().EndObject();
  *out += ',';
}

void AppendEvent(const TraceEvent& event, const TraceHeader& header, std::string* out) {
  JsonText json(out, Layout::kTorch, 2);
  *out += "\n  ";
  json.Object().Key("ph").String("X").Key("cat").String(event.category);
  json.Key("name").String(event.name);
  json.Key("pid").Int(event.on_gpu ? header.rank : header.process_id);
  json.Key("tid").Int(event.tid).Key("ts").Raw("");
  AppendMicroseconds(out, event.start_ns);
  json.Key("dur").Raw("");
  AppendMicroseconds(out, event.duration_ns);
  json.Key("args").Object().Members(event.args).EndObject().EndObject();
}

}  // namespace

ArgsText& ArgsText::Raw(std::string_view key, std::string_view value) {
  if (!text_.empty()) text_ += ", ";
  JsonText json(&text_, Layout::kTorch, 3);
  json.Key(key).Raw(value);
  return *this;
}

ArgsText& ArgsText::Int(std::string_view key, int64_t value) {
  return Raw(key, std::to_string(value));
}

ArgsText& ArgsText::String(std::string_view key, std::string_view value) {
  std::string quoted;
  JsonText(&quoted, Layout::kTorch, 3).String(value);
  return Raw(key, quoted);
}

bool WriteTraceFile(const std::string& path, const TraceHeader& header,
                    const std::vector<TraceEvent>& events) {
  TextSink sink;
  if (!sink.Open(path)) return false;
  std::string& out = sink.buffer();
  AppendHeader(header, &out);
  AppendName("process_name", "python3", header.process_id, &out);
  AppendName("process_labels", "CPU", header.process_id, &out);
  AppendName("process_name", "python3", header.rank, &out);
  AppendName("process_labels", "GPU " + std::to_string(header.rank), header.rank, &out);
  for (size_t i = 0; i < events.size(); ++i) {
    if (i > 0) out += ',';
    AppendEvent(events[i], header, &out);
    sink.Drain();
  }
  out += "\n  ]\n}\n";
  return sink.Finish();
}

bool WriteTextFile(const std::string& path, const std::string& text) {
  TextSink sink;
  if (!sink.Open(path)) return false;
  sink.buffer() += text;
  return sink.Finish();
}

}  // namespace layerscope::gen
