#include "src/document/store_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include "src/document/trace_json.h"
#include "src/document/written_pids.h"
#include "src/trace/module_annotation.h"

namespace layerscope::document {
namespace {

using ingest::kineto::RowKind;
using trace::ActivityKind;

/// No reader of ours takes it for anything.
constexpr const char* kGraphCategory = "cuda_graph";

const char* CategoryOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kMemcpy:
      return "gpu_memcpy";
    case ActivityKind::kMemset:
      return "gpu_memset";
    case ActivityKind::kGraph:
      return kGraphCategory;
    case ActivityKind::kKernel:
    case ActivityKind::kCpu:
      break;
  }
  return "kernel";
}

/// `cuLaunchKernel` is a call of the driver, `cudaLaunchKernel` one of the runtime.
const char* CategoryOfCall(std::string_view name) {
  const bool is_driver = name.size() > 2 && name.starts_with("cu") &&
                         std::isupper(static_cast<unsigned char>(name[2])) != 0;
  return is_driver ? "cuda_driver" : "cuda_runtime";
}

/// Appends `,"key":value` to an open object, without the comma behind its bracket.
void AddMember(std::string_view key, std::string_view value, std::string& event) {
  if (event.back() != '{') event += ',';
  fmt::format_to(std::back_inserter(event), "\"{}\":{}", key, value);
}

void AddMember(std::string_view key, int64_t value, std::string& event) {
  AddMember(key, std::string_view(fmt::format_int(value).c_str()), event);
}

}  // namespace

StoreEvents::StoreEvents(const trace::Trace& trace,
                         const std::function<bool(trace::ProcessId)>& names)
    : trace_(trace) {
  for (const std::string& pid : WrittenPids(trace)) processes_.push_back("\"pid\":" + pid);
  for (const trace::Thread& thread : trace.threads) {
    threads_.push_back(fmt::format("{},\"tid\":{}", processes_[thread.process.index()],
                                   LabelJson(trace, thread.tid)));
  }
  CollectCorrelations();
  AddNames(names);
}

void StoreEvents::CollectCorrelations() {
  const trace::Calls& calls = trace_.calls;
  std::vector<uint8_t> used(trace_.processes.size(), 0);
  for (const trace::ThreadId thread : calls.thread) {
    used[trace_.threads[thread.index()].process.index()] = 1;
  }
  for (const trace::ProcessId process : trace_.activities.process) used[process.index()] = 1;
  many_processes_ = std::count(used.begin(), used.end(), 1) > 1;
  if (!many_processes_) return;
  for (size_t i = 0; i < calls.size(); ++i) {
    calls_.Add(trace_.threads[calls.thread[i].index()].process, calls.correlation[i]);
  }
  calls_.Freeze();
}

bool StoreEvents::HasCall(size_t activity) const {
  return !many_processes_ ||
         calls_.Has(trace_.activities.process[activity], trace_.activities.correlation[activity]);
}

std::string StoreEvents::Members() const {
  std::string text = "\"schemaVersion\": 1";
  std::string devices;
  for (const trace::Metadata::DeviceProperties& device : trace_.metadata.devices) {
    devices += fmt::format("{}\n  {{\"id\": {}, \"name\": {}}}", devices.empty() ? "" : ",",
                           device.id, Quoted(device.name));
  }
  if (!devices.empty()) text += ",\n\"deviceProperties\": [" + devices + "\n]";
  if (trace_.metadata.rank) {
    text += fmt::format(",\n\"distributedInfo\": {{\"rank\": {}", *trace_.metadata.rank);
    if (trace_.metadata.world_size) {
      text += fmt::format(", \"world_size\": {}", *trace_.metadata.world_size);
    }
    text += "}";
  }
  return text;
}

void StoreEvents::AddName(const char* what, const std::string& thread, std::string_view name) {
  names_.push_back(fmt::format(R"({{"ph":"M","name":"{}",{},"args":{{"name":{}}}}})", what, thread,
                               Quoted(name)));
}

void StoreEvents::AddNames(const std::function<bool(trace::ProcessId)>& names) {
  const auto wanted = [&](trace::ProcessId process) { return !names || names(process); };
  const auto text = [this](trace::StringId id) {
    return id.valid() ? trace_.strings[id] : std::string_view();
  };
  for (size_t i = 0; i < trace_.processes.size(); ++i) {
    const std::string_view name = text(trace_.processes[i].name);
    if (!wanted(trace::ProcessId(i))) continue;
    if (!name.empty()) AddName("process_name", processes_[i] + ",\"tid\":0", name);
    const std::string pid = LabelJson(trace_, trace_.processes[i].pid);
    if (processes_[i] == "\"pid\":" + pid) continue;
    names_.push_back(
        fmt::format(R"({{"ph":"M","name":"process_labels",{},"tid":0,"args":{{"labels":{}}}}})",
                    processes_[i], Quoted("pid " + pid + " as well")));
  }
  for (size_t i = 0; i < trace_.threads.size(); ++i) {
    const std::string_view name = text(trace_.threads[i].name);
    if (!name.empty() && wanted(trace_.threads[i].process)) {
      AddName("thread_name", threads_[i], name);
    }
  }
  std::set<std::pair<trace::ProcessId, trace::StreamId>> streams;
  for (size_t i = 0; i < trace_.activities.size(); ++i) {
    streams.emplace(trace_.activities.process[i], trace_.activities.stream[i]);
  }
  for (const auto& [process, stream] : streams) {
    if (!wanted(process)) continue;
    const std::string thread = StreamThread(process, stream);
    AddName("thread_name", thread,
            fmt::format("GPU {}, stream {}", trace_.DeviceText(trace_.DeviceOf(stream)),
                        trace_.StreamText(stream)));
    names_.push_back(
        fmt::format(R"({{"ph":"M","name":"thread_sort_index",{},"args":{{"sort_index":{}}}}})",
                    thread, trace_.streams[stream.index()].id.number));
  }
}

bool StoreEvents::NextName(std::string& event) {
  if (next_name_ == names_.size()) return false;
  event = names_[next_name_++];
  return true;
}

std::string StoreEvents::StreamThread(trace::ProcessId process, trace::StreamId stream) const {
  return fmt::format("{},\"tid\":{}", processes_[process.index()],
                     kFirstStreamTid + static_cast<int64_t>(stream.index()));
}

void StoreEvents::Begin(const char* cat, std::string_view name, const std::string& thread,
                        const StoreRow& row, std::string& event) const {
  event.clear();
  fmt::format_to(std::back_inserter(event),
                 R"({{"ph":"X","cat":"{}","name":{},{},"ts":{},"dur":{},"args":{{)", cat,
                 Quoted(name), thread, MicrosecondText(AbsoluteNs(trace_, row.start_ns)),
                 MicrosecondText(row.dur_ns));
}

void StoreEvents::Write(const StoreRow& row, std::string& event) const {
  switch (row.kind) {
    case RowKind::kActivity:
      WriteActivity(row, event);
      break;
    case RowKind::kCall:
      WriteCall(row, event);
      break;
    case RowKind::kOp:
      WriteOp(row, event);
      break;
    case RowKind::kScope:
      WriteScope(row, event);
      break;
    case RowKind::kAnnotation:
      WriteAnnotation(row, event);
      break;
    case RowKind::kNone:
      return;
  }
  event += "}}";
}

void StoreEvents::WriteActivity(const StoreRow& row, std::string& event) const {
  const trace::Activities& rows = trace_.activities;
  const trace::StreamId stream = rows.stream[row.row];
  Begin(CategoryOf(rows.kind[row.row]), trace_.strings[rows.name[row.row]],
        StreamThread(rows.process[row.row], stream), row, event);
  AddMember("device", LabelJson(trace_, trace_.devices[trace_.DeviceOf(stream).index()].id), event);
  AddMember("stream", LabelJson(trace_, trace_.streams[stream.index()].id), event);
  if (rows.correlation[row.row] != trace::kNoCorrelation && HasCall(row.row)) {
    AddMember("correlation", rows.correlation[row.row], event);
  }
  const int64_t node = rows.GraphNodeOf(row.row);
  if (node != trace::kNoGraphNode) AddMember("graph node id", node, event);
  if (!rows.args[row.row].valid()) return;
  const trace::Args& args = trace_.args[rows.args[row.row].index()];
  if (args.grid.valid()) AddMember("grid", trace_.strings[args.grid], event);
  if (args.block.valid()) AddMember("block", trace_.strings[args.block], event);
}

void StoreEvents::WriteGraphNode(size_t row, std::string& event) const {
  const trace::GraphNodes& rows = trace_.graph_nodes;
  StoreRow at;
  at.start_ns = rows.start_ns[row];
  const std::string thread = rows.thread[row].valid()
                                 ? threads_[rows.thread[row].index()]
                                 : processes_[rows.process[row].index()] + ",\"tid\":0";
  Begin("cuda_graph_node", "graph node", thread, at, event);
  AddMember("graph node id", rows.node[row], event);
  if (rows.original[row] != trace::kNoGraphNode) {
    AddMember("original graph node id", rows.original[row], event);
  }
  event += "}}";
}

void StoreEvents::WriteCall(const StoreRow& row, std::string& event) const {
  const trace::Calls& rows = trace_.calls;
  const std::string_view name = trace_.strings[rows.name[row.row]];
  Begin(CategoryOfCall(name), name, threads_[rows.thread[row.row].index()], row, event);
  if (rows.correlation[row.row] != trace::kNoCorrelation) {
    AddMember("correlation", rows.correlation[row.row], event);
  }
}

void StoreEvents::WriteOp(const StoreRow& row, std::string& event) const {
  const trace::Ops& rows = trace_.ops;
  Begin("cpu_op", trace_.strings[rows.name[row.row]], threads_[rows.thread[row.row].index()], row,
        event);
  if (rows.external_id[row.row] != trace::kNoExternalId) {
    AddMember("External id", rows.external_id[row.row], event);
  }
  if (!rows.args[row.row].valid()) return;
  const trace::Args& args = trace_.args[rows.args[row.row].index()];
  if (args.input_dims.valid()) AddMember("Input Dims", trace_.strings[args.input_dims], event);
  if (args.input_types.valid()) AddMember("Input type", trace_.strings[args.input_types], event);
}

/// A path is written as the annotation that both engines write; a name that is none, as the frame
/// that PyTorch records for a module.
void StoreEvents::WriteScope(const StoreRow& row, std::string& event) const {
  const trace::Scopes& rows = trace_.scopes;
  const std::string_view name = trace_.strings[rows.name[row.row]];
  const std::string& thread = threads_[rows.thread[row.row].index()];
  const std::string annotation = fmt::format("{{'Module': '{}'}}", name);
  const bool is_path = rows.is_path[row.row] != 0 && trace::ModulePathOf(annotation) == name;
  if (is_path) {
    Begin("user_annotation", annotation, thread, row, event);
  } else {
    Begin("python_function", fmt::format("nn.Module: {}", name), thread, row, event);
  }
}

void StoreEvents::WriteAnnotation(const StoreRow& row, std::string& event) const {
  const trace::Annotations& rows = trace_.annotations;
  Begin(rows.is_gpu[row.row] != 0 ? "gpu_user_annotation" : "user_annotation",
        trace_.strings[rows.name[row.row]], threads_[rows.thread[row.row].index()], row, event);
}

}  // namespace layerscope::document
