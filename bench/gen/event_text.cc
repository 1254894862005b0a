#include "bench/gen/event_text.h"

#include <algorithm>

namespace layerscope::gen {
namespace {

std::string_view NewCategory(const Event& event) {
  switch (event.kind) {
    case EventKind::kAnnotation:
      return "user_annotation";
    case EventKind::kOp:
      return "cpu_op";
    case EventKind::kFrame:
    case EventKind::kModule:
      return "python_function";
    case EventKind::kMemory:
      return "cpu_instant_event";
    case EventKind::kCall:
      return event.driver ? "cuda_driver" : "cuda_runtime";
    case EventKind::kKernel:
      return "kernel";
    case EventKind::kMemcpy:
      return "gpu_memcpy";
    case EventKind::kMemset:
      return "gpu_memset";
    case EventKind::kGpuAnnotation:
      break;
  }
  return "gpu_user_annotation";
}

std::string_view OldCategory(const Event& event) {
  switch (event.kind) {
    case EventKind::kAnnotation:
      return event.name.substr(0, 12) == "ProfilerStep" ? "Operator" : "user_annotation";
    case EventKind::kOp:
      return "Operator";
    case EventKind::kCall:
      return "Runtime";
    case EventKind::kKernel:
      return "Kernel";
    case EventKind::kMemcpy:
      return "Memcpy";
    case EventKind::kMemset:
      return "Memset";
    default:
      return NewCategory(event);
  }
}

bool OnGpu(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset ||
         kind == EventKind::kGpuAnnotation;
}

template <typename Map>
void Increment(Map& map, std::string_view key) {
  const auto found = map.find(key);
  if (found != map.end()) {
    ++found->second;
  } else {
    map.emplace(std::string(key), 1);
  }
}

}  // namespace

EventText::EventText(const Options& options, int depth, int64_t device, std::string* out)
    : o_(options),
      depth_(depth),
      device_(device),
      out_(*out),
      pid_(std::to_string(kProcessId + device)),
      device_text_(std::to_string(device)),
      order_{kPh, kCat, kName, kScope, kId, kPid, kTid, kTs, kDur, kBp, kArgs},
      random_(options.seed ^ 0x5bd1e995u) {
  if (o_.field_order == FieldOrder::kSorted)
    order_ = {kArgs, kBp, kCat, kDur, kId, kName, kPh, kPid, kScope, kTid, kTs};
  if (o_.field_order == FieldOrder::kArgsFirst)
    order_ = {kArgs, kDur, kTs, kTid, kPid, kName, kId, kScope, kBp, kCat, kPh};
}

std::string_view EventText::Category(const Event& event) const {
  return o_.old_format ? OldCategory(event) : NewCategory(event);
}

std::string_view EventText::StreamId(int64_t stream) {
  tid_text_.clear();
  if (o_.string_tids) tid_text_ = "\"stream ";
  JsonText::AppendInt(&tid_text_, stream);
  if (o_.string_tids) tid_text_ += '"';
  return tid_text_;
}

std::string_view EventText::ProcessId(const Event& event) {
  if (event.process == 0) return pid_;
  other_pid_ = std::to_string(kProcessId + device_ + kProcessStride * event.process);
  return other_pid_;
}

std::string_view EventText::DeviceId(const Event& event) {
  if (event.device == 0) return device_text_;
  other_device_ = std::to_string(device_ + event.device);
  return other_device_;
}

void EventText::Write(const Event& event) {
  Parts parts;
  parts.ph = event.kind == EventKind::kMemory ? "i" : "X";
  parts.cat = Category(event);
  parts.name = event.name;
  parts.ts_ns = event.start_ns;
  if (event.kind == EventKind::kMemory) {
    parts.scope = "t";
  } else {
    parts.duration_ns = event.duration_ns;
  }
  parts.has_args = true;
  args_.clear();
  if (OnGpu(event.kind)) {
    WriteGpuEvent(event, parts);
  } else {
    WriteCpuEvent(event, parts);
  }
}

void EventText::WriteGpuEvent(const Event& event, Parts parts) {
  parts.pid_json = DeviceId(event);
  parts.tid_json = StreamId(event.tid);
  JsonText json(&args_, o_.layout, depth_ + 1);
  if (event.kind == EventKind::kGpuAnnotation) {
    json.Key("External id").Int(event.external_id);
    WriteParts(parts);
    return;
  }
  ActivityArgs(json, event);
  WriteParts(parts);
  if (o_.flows) WriteFlow(event, "f", true);
}

void EventText::WriteCpuEvent(const Event& event, Parts parts) {
  parts.pid_json = ProcessId(event);
  tid_text_.clear();
  JsonText::AppendInt(&tid_text_, event.tid + device_ + kProcessStride * event.process);
  parts.tid_json = tid_text_;
  JsonText json(&args_, o_.layout, depth_ + 1);
  if (event.kind == EventKind::kCall) {
    CallArgs(json, event);
    WriteParts(parts);
    if (o_.flows) WriteFlow(event, event.has_activity ? "s" : "f", false);
    return;
  }
  CpuArgs(json, event);
  WriteParts(parts);
}

void EventText::CpuArgs(JsonText& json, const Event& event) {
  switch (event.kind) {
    case EventKind::kAnnotation:
      json.Key("External id").Int(event.external_id).Key("Record function id").Int(0);
      break;
    case EventKind::kOp:
      json.Key(o_.old_format ? "external id" : "External id").Int(event.external_id);
      json.Key("Record function id").Int(0).Members(event.shapes);
      break;
    case EventKind::kMemory:
      json.Key("Total Reserved").Int(70866960384).Key("Total Allocated").Int(67108864000);
      json.Key("Bytes").Int(event.bytes).Key("Addr").Int(140587142381568);
      json.Key("Device Id").Int(device_).Key("Device Type").Int(1);
      break;
    default:
      json.Key("Python parent id").Int(event.python_parent);
      json.Key("Python id").Int(event.python_id);
      if (event.kind == EventKind::kModule) json.Key("Python module id").Int(event.module_number);
  }
  json.Key("Ev Idx").Int(event.index);
}

void EventText::CallArgs(JsonText& json, const Event& event) {
  counts_.sum_correlation += static_cast<uint64_t>(event.correlation);
  if (event.external_id != 0)
    json.Key(o_.old_format ? "external id" : "External id").Int(event.external_id);
  json.Key("cbid").Int(event.cbid).Key("correlation").Int(event.correlation);
}

void EventText::ActivityArgs(JsonText& json, const Event& event) {
  counts_.sum_correlation += static_cast<uint64_t>(event.correlation);
  if (event.external_id != 0)
    json.Key(o_.old_format ? "external id" : "External id").Int(event.external_id);
  if (event.kind == EventKind::kKernel) json.Key("queued").Int(0);
  json.Key("device").Int(device_ + event.device).Key("context").Int(1).Key("stream").Int(event.tid);
  json.Key("correlation").Int(event.correlation);
  if (event.graph_node != 0) json.Key("graph node id").Int(event.graph_node);
  if (event.kind == EventKind::kKernel) {
    json.Members(event.shapes);
  } else {
    json.Key("bytes").Int(event.bytes);
    const int64_t rate = event.bytes * 1000000 / std::max<int64_t>(1, event.duration_ns);
    std::string text = std::to_string(rate / 1000000) + ".";
    text += std::to_string(1000000 + rate % 1000000).substr(1);
    json.Key("memory bandwidth (GB/s)").Raw(text);
  }
}

void EventText::WriteFlow(const Event& event, std::string_view ph, bool on_gpu) {
  Parts parts;
  parts.ph = ph;
  parts.cat = parts.name = "ac2g";
  parts.id = event.correlation;
  parts.pid_json = on_gpu ? DeviceId(event) : ProcessId(event);
  parts.tid_json = tid_text_;
  parts.ts_ns = event.start_ns;
  if (ph == "f") parts.bp = "e";
  WriteParts(parts);
}

void EventText::WriteMetadata(std::string_view name, int64_t ts_ns, std::string_view pid,
                              int64_t tid, std::string_view key, std::string_view value_json) {
  Parts parts;
  parts.ph = "M";
  parts.name = name;
  parts.ts_ns = ts_ns;
  parts.pid_json = pid;
  const std::string thread = std::to_string(tid);
  parts.tid_json = thread;
  parts.has_args = true;
  args_.clear();
  JsonText(&args_, o_.layout, depth_ + 1).Key(key).Raw(value_json);
  WriteParts(parts);
}

void EventText::WriteSpan(std::string_view name, int64_t start_ns, int64_t duration_ns) {
  Parts parts;
  parts.ph = "X";
  parts.cat = "Trace";
  parts.name = name;
  parts.pid_json = "\"Spans\"";
  parts.tid_json = "\"PyTorch Profiler\"";
  parts.ts_ns = start_ns;
  parts.duration_ns = duration_ns;
  parts.has_args = true;
  args_.clear();
  JsonText(&args_, o_.layout, depth_ + 1).Key("Op count").Int(0);
  WriteParts(parts);
}

void EventText::WriteMark(std::string_view name, std::string_view pid, std::string_view tid,
                          int64_t ts_ns) {
  Parts parts;
  parts.ph = "i";
  parts.scope = "g";
  parts.name = name;
  parts.pid_json = pid;
  parts.tid_json = tid;
  parts.ts_ns = ts_ns;
  WriteParts(parts);
}

void EventText::WriteParts(const Parts& parts) {
  if (o_.field_order == FieldOrder::kRandom) {
    for (size_t i = kFields - 1; i > 0; --i)
      std::swap(order_[i], order_[static_cast<size_t>(random_.Range(0, static_cast<int64_t>(i)))]);
  }
  if (!first_) out_ += ',';
  first_ = false;
  if (o_.layout == Layout::kTorch || o_.layout == Layout::kTorchLines) out_ += "\n  ";
  JsonText json(&out_, o_.layout, depth_ - 1);
  json.Object();
  for (const Field field : order_) WriteField(json, field, parts);
  json.Line(2).EndObject();
  ++counts_.events;
  counts_.sum_ts_ns += static_cast<uint64_t>(parts.ts_ns);
  if (parts.duration_ns > 0) counts_.sum_dur_ns += static_cast<uint64_t>(parts.duration_ns);
  Increment(counts_.by_ph, parts.ph);
  std::string key(parts.ph);
  (key += '|') += parts.cat;
  Increment(counts_.by_cat, key);
}

void EventText::WriteField(JsonText& json, Field field, const Parts& parts) {
  // Torch's older layout breaks the line before ph, ts and args; the newer before every member.
  const bool lines = o_.layout == Layout::kTorchLines;
  if (lines || field == kPh || field == kTs || field == kArgs) json.Line(4);
  switch (field) {
    case kPh:
      json.Key("ph").String(parts.ph);
      break;
    case kCat:
      if (!parts.cat.empty()) json.Key("cat").String(parts.cat);
      break;
    case kName:
      json.Key("name").String(parts.name);
      break;
    case kScope:
      if (!parts.scope.empty()) json.Key("s").String(parts.scope);
      break;
    case kId:
      if (parts.id >= 0) json.Key("id").Int(parts.id);
      break;
    case kPid:
      json.Key("pid").Raw(parts.pid_json);
      break;
    case kTid:
      json.Key("tid").Raw(parts.tid_json);
      break;
    case kTs:
      json.Key("ts").Raw("");
      AppendTime(parts.ts_ns);
      break;
    case kDur:
      if (parts.duration_ns < 0) break;
      json.Key("dur").Raw("");
      AppendTime(parts.duration_ns);
      break;
    case kBp:
      if (!parts.bp.empty()) json.Key("bp").String(parts.bp);
      break;
    case kArgs:
      if (parts.has_args)
        json.Key("args").Object().Line(6).Raw(
            std::string_view(args_).substr(std::min(args_.size(), args_.find_first_not_of(" \n"))));
      if (parts.has_args) json.Line(4).EndObject();
  }
}

void EventText::AppendTime(int64_t ns) {
  const bool quoted = o_.times == TimeText::kString;
  if (quoted) out_ += '"';
  JsonText::AppendInt(&out_, ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  if (o_.times != TimeText::kTrimmed || rest != 0) {
    out_ += '.';
    out_ += static_cast<char>('0' + rest / 100);
    out_ += static_cast<char>('0' + rest / 10 % 10);
    out_ += static_cast<char>('0' + rest % 10);
  }
  if (o_.times == TimeText::kTrimmed && rest != 0) {
    while (out_.back() == '0') out_.pop_back();
  }
  if (quoted) out_ += '"';
}

}  // namespace layerscope::gen
