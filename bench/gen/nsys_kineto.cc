#include "bench/gen/nsys_kineto.h"

#include <algorithm>
#include <filesystem>

#include "bench/gen/json_text.h"

namespace layerscope::gen {
namespace {

// Kineto counts from another begin.
constexpr int64_t kSessionStart = 4909914216000000;

std::string CopyName(const NsysActivity& activity) {
  if (activity.kind == NsysKind::kMemset) return "Memset (Device)";
  if (activity.copy == NsysCopy::kHostToDevice) return "Memcpy HtoD (Pinned -> Device)";
  if (activity.copy == NsysCopy::kDeviceToHost) return "Memcpy DtoH (Device -> Pinned)";
  return "Memcpy DtoD (Device -> Device)";
}

std::string_view CategoryOf(NsysKind kind) {
  if (kind == NsysKind::kMemset) return "gpu_memset";
  return kind == NsysKind::kMemcpy ? "gpu_memcpy" : "kernel";
}

}  // namespace

TraceEvent& NsysKineto::AddEvent(int64_t start_ns, int64_t end_ns, int64_t tid,
                                 std::vector<TraceEvent>* events) const {
  TraceEvent& event = events->emplace_back();
  event.start_ns = kSessionStart + start_ns;
  event.duration_ns = end_ns - start_ns;
  event.tid = tid;
  return event;
}

void NsysKineto::AddRange(const NsysRange& range, std::vector<TraceEvent>* events) const {
  if (range.name == kNsysNone) return;
  TraceEvent& event = AddEvent(range.start_ns, range.end_ns, range.tid, events);
  event.category = range.kind == NsysRange::Kind::kOp ? "cpu_op" : "user_annotation";
  event.name = names_[range.name];
}

void NsysKineto::AddCall(const NsysCall& call, std::vector<TraceEvent>* events) const {
  TraceEvent& event = AddEvent(call.start_ns, call.end_ns, call.tid, events);
  const std::string_view name = names_[call.name];
  const bool runtime = name.substr(0, 4) == "cuda";
  event.category = runtime ? "cuda_runtime" : "cuda_driver";
  event.name = name.substr(0, name.rfind("_v"));
  event.args = ArgsText().Int("cbid", 211).Int("correlation", call.correlation).Take();
}

void NsysKineto::AddActivity(const NsysPlace& place, const NsysActivity& activity,
                             std::vector<TraceEvent>* events) {
  TraceEvent& event = AddEvent(activity.start_ns, activity.end_ns, activity.stream, events);
  event.on_gpu = true;
  event.category = CategoryOf(activity.kind);
  event.name =
      activity.kind == NsysKind::kKernel ? std::string(names_[activity.name]) : CopyName(activity);
  ArgsText args;
  args.Int("device", place.device).Int("stream", activity.stream);
  args.Int("correlation", activity.correlation);
  if (activity.node != 0) {
    args.Int("graph id", activity.graph).Int("graph node id", activity.node);
    if (activity.module != kNsysNone)
      nodes_[static_cast<size_t>(place.rank)][activity.node] = activity.module;
  }
  event.args = args.Take();
}

void NsysKineto::Add(const std::vector<NsysRowsOf>& all) {
  nodes_.resize(traces_.size());
  for (const NsysRowsOf& of : all) {
    std::vector<TraceEvent>& events = traces_[static_cast<size_t>(of.place.rank)];
    for (const NsysRange& range : of.rows->ranges) AddRange(range, &events);
    for (const NsysCall& call : of.rows->calls) AddCall(call, &events);
    for (const NsysActivity& activity : of.rows->activities)
      AddActivity(of.place, activity, &events);
  }
}

bool NsysKineto::Finish(const NsysTruth& truth, std::string* error) {
  std::error_code failure;
  std::filesystem::create_directories(o_.kineto, failure);
  if (!o_.annotations.empty()) std::filesystem::create_directories(o_.annotations, failure);
  for (size_t rank = 0; rank < traces_.size(); ++rank) {
    std::vector<TraceEvent>& events = traces_[rank];
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
      return a.start_ns < b.start_ns;
    });
    const NsysPlace& place = truth.ranks[rank].place;
    const TraceHeader header{place.rank, o_.ranks, place.pid, false};
    const std::string number = std::to_string(rank);
    if (!WriteTraceFile(o_.kineto + "/rank" + number + ".pt.trace.json", header, events)) {
      *error = "cannot write below " + o_.kineto;
      return false;
    }
    if (o_.annotations.empty()) continue;
    std::string text;
    JsonText json(&text, Layout::kTorch);
    json.Object();
    for (const auto& [node, module] : nodes_[rank]) {
      json.Key(std::to_string(node)).Array().Object();
      json.Key("name").String(modules_.path(module)).EndObject().EndArray();
    }
    json.EndObject();
    if (!WriteTextFile(o_.annotations + "/graph_annotations_rank" + number + ".json", text)) {
      *error = "cannot write below " + o_.annotations;
      return false;
    }
  }
  return true;
}

}  // namespace layerscope::gen
