#include "bench/gen/replay_host.h"

#include <algorithm>

namespace layerscope::gen {
namespace {

constexpr int64_t kProcess = 251;
constexpr size_t kForgotten = static_cast<size_t>(-1);

bool IsCompiledKernel(std::string_view name) {
  return name.front() == '_' || name == "fused_moe_kernel";
}

bool IsGemm(std::string_view name) {
  return name.substr(0, 4) == "Cijk" || name.substr(0, 6) == "nvjet_";
}

std::string_view LaunchName(bool amd, std::string_view kernel) {
  if (IsGemm(kernel)) return amd ? "hipExtModuleLaunchKernel" : "cuLaunchKernelEx";
  if (IsCompiledKernel(kernel)) return amd ? "hipModuleLaunchKernel" : "cuLaunchKernel";
  return amd ? "hipLaunchKernel" : "cudaLaunchKernel";
}

}  // namespace

const std::string& ModuleNumbers::Name(const std::string& module_class, const std::string& path) {
  std::string& name = names_[{module_class, path}];
  if (name.empty()) {
    name = module_class + "_" + std::to_string(next_[module_class]++);
    order_.push_back({module_class, path});
  }
  return name;
}

Host::Host(const ReplayOptions& options, ModuleNumbers* numbers, int64_t rank, int64_t start_ns,
           uint64_t seed)
    : o_(options),
      numbers_(*numbers),
      rank_(rank),
      now_ns_(start_ns),
      tid_(kProcess + rank),
      main_stream_(options.amd() ? 3 : 7),
      random_(seed) {}

TraceHeader Host::header() const {
  return {rank_, o_.ranks, kProcess + rank_, o_.amd()};
}

// ---- scopes

TraceEvent& Host::AddEvent(std::string_view category, const std::string& name) {
  now_ns_ += random_.Range(300, 1800);
  TraceEvent& event = events_.emplace_back();
  event.category = category;
  event.name = name;
  event.tid = tid_;
  event.start_ns = now_ns_;
  return event;
}

void Host::Open(std::string_view category, const std::string& name, const std::string& path) {
  const bool python = category == "python_function";
  const bool module = python && name.substr(0, 11) == "nn.Module: ";
  Scope scope{events_.size(), module, category == "cpu_op", python, name, path, 0, 0};
  TraceEvent& event = AddEvent(category, name);
  ArgsText args;
  if (python) {
    scope.python_id = next_python_id_++;
    int64_t parent = 0;
    for (const Scope& open : open_) {
      if (open.frame) parent = open.python_id;
    }
    args.Raw("Python parent id", parent == 0 ? "null" : std::to_string(parent));
    args.Int("Python id", scope.python_id);
    if (module) {
      scope.name = name.substr(11);
      args.Raw("Python module id", scope.name.substr(scope.name.rfind('_') + 1));
    }
  } else {
    scope.external_id = next_external_id_++;
    args.Int("External id", scope.external_id).Int("Record function id", 0);
  }
  event.args = args.Take();
  open_.push_back(std::move(scope));
}

void Host::OpenModule(const std::string& module_class, const std::string& path) {
  Open("python_function", "nn.Module: " + numbers_.Name(module_class, path), path);
}

void Host::OpenOp(const std::string& name) {
  Open("cpu_op", name, "");
}

void Host::OpenAnnotation(const std::string& name) {
  Open("user_annotation", name, "");
}

void Host::OpenFrame(const std::string& name) {
  Open("python_function", name, "");
}

void Host::Close() {
  now_ns_ += random_.Range(100, 900);
  const size_t event = open_.back().event;
  open_.pop_back();
  if (event != kForgotten) events_[event].duration_ns = now_ns_ - events_[event].start_ns;
}

void Host::ForgetAll() {
  events_.clear();
  truth_.activities.clear();
  for (Scope& scope : open_) scope.event = kForgotten;
}

// ---- calls

int64_t Host::ExternalId() const {
  int64_t id = 0;
  for (const Scope& scope : open_) {
    if (scope.op) id = scope.external_id;
  }
  return id;
}

TraceEvent& Host::AddLaunchCall(std::string_view name, const std::string& kernel) {
  const bool driver = name.substr(0, 2) == "cu" && name.substr(0, 4) != "cuda";
  TraceEvent& event = AddEvent(driver ? "cuda_driver" : "cuda_runtime", std::string(name));
  ArgsText args;
  if (ExternalId() != 0) args.Int("External id", ExternalId());
  if (o_.amd() && !kernel.empty()) args.String("kernel", kernel);
  args.Int(o_.amd() ? "cid" : "cbid", 211).Int("correlation", next_correlation_++);
  if (o_.amd() && !kernel.empty())
    args.Raw("grid", "[64, 1, 1]").Raw("block", "[256, 1, 1]").Int("shared memory", 0);
  event.args = args.Take();
  event.duration_ns = random_.Range(900, 4000);
  now_ns_ += event.duration_ns;
  return event;
}

void Host::Call(std::string_view name) {
  AddLaunchCall(name, "");
}

int64_t Host::Enqueue(int64_t stream, int64_t ready_ns, int64_t work_ns) {
  int64_t& end_ns = stream_end_ns_[stream];
  const int64_t start_ns = std::max(ready_ns + 2400, end_ns + random_.Range(640, 1400));
  end_ns = start_ns + work_ns;
  return start_ns;
}

void Host::ReadyAgain(int64_t rest_ns) {
  for (const auto& [stream, end_ns] : stream_end_ns_) now_ns_ = std::max(now_ns_, end_ns);
  now_ns_ += rest_ns;
}

// ---- activities

void Host::FillPlace(ReplayActivity* activity) const {
  for (const Scope& scope : open_) {
    if (scope.event == kForgotten) continue;
    if (scope.op) activity->op = scope.name;
    if (!scope.module) continue;
    activity->modules.push_back(scope.name);
    activity->path = scope.path;
    activity->has_path = true;
  }
}

void Host::AddActivity(std::string_view kind, const std::string& name, int64_t stream,
                       int64_t start_ns, int64_t duration_ns, std::string args) {
  TraceEvent& event = events_.emplace_back();
  event.category = kind == "kernel" ? "kernel" : "gpu_memcpy";
  event.name = name;
  event.on_gpu = true;
  event.tid = stream;
  event.start_ns = start_ns;
  event.duration_ns = duration_ns;
  event.args = std::move(args);
  if (!o_.truth) return;
  ReplayActivity& activity = truth_.activities.emplace_back();
  activity.kind = kind;
  activity.name = name;
  activity.stream = stream;
  activity.start_ns = start_ns;
  activity.duration_ns = duration_ns;
  activity.pass = pass_;
  FillPlace(&activity);
  activity.around = activity.modules;
}

void Host::Launch(const std::string& kernel, int64_t work_ns, bool side) {
  AddLaunchCall(LaunchName(o_.amd(), kernel), kernel);
  const int64_t duration_ns = work_ns * random_.Range(9700, 10300) / 10000;
  const int64_t stream = Stream(side);
  const int64_t start_ns = Enqueue(stream, now_ns_, duration_ns);
  ArgsText args;
  if (ExternalId() != 0) args.Int("External id", ExternalId());
  args.Int("device", rank_).Int("stream", stream).Int("correlation", next_correlation_ - 1);
  args.Raw("grid", "[64, 1, 1]").Raw("block", "[256, 1, 1]");
  AddActivity("kernel", kernel, stream, start_ns, duration_ns, args.Take());
}

void Host::Copy(std::string_view name, int64_t work_ns) {
  AddLaunchCall(o_.amd() ? "hipMemcpyAsync" : "cudaMemcpyAsync", "");
  const int64_t duration_ns = work_ns * random_.Range(9700, 10300) / 10000;
  const int64_t start_ns = Enqueue(main_stream_, now_ns_, duration_ns);
  ArgsText args;
  if (ExternalId() != 0) args.Int("External id", ExternalId());
  args.Int("device", rank_).Int("stream", main_stream_).Int("correlation", next_correlation_ - 1);
  args.Int("bytes", 4096);
  AddActivity("memcpy", std::string(name), main_stream_, start_ns, duration_ns, args.Take());
}

CapturedNode Host::LaunchIntoCapture(const PlanItem& item) {
  if (item.kind == PlanItem::Kind::kCopy) {
    AddLaunchCall(o_.amd() ? "hipMemcpyAsync" : "cudaMemcpyAsync", "");
  } else {
    Call(o_.amd() ? "hipStreamGetCaptureInfo" : "cudaStreamGetCaptureInfo");
    AddLaunchCall(LaunchName(o_.amd(), item.text), item.text);
  }
  CapturedNode node;
  node.item = item;
  ReplayActivity place;
  FillPlace(&place);
  node.modules = std::move(place.modules);
  node.path = std::move(place.path);
  node.op = std::move(place.op);
  return node;
}

void Host::AddNode(const CapturedNode& node, int64_t graph, int64_t correlation, int64_t ready_ns) {
  const bool copy = node.item.kind == PlanItem::Kind::kCopy;
  const int64_t stream = Stream(node.item.side);
  // A branch begins where the main one stands.
  if (node.item.side) ready_ns = std::max(ready_ns, stream_end_ns_[main_stream_]);
  const int64_t duration_ns = node.item.work_ns * random_.Range(9700, 10300) / 10000;
  const int64_t start_ns = Enqueue(stream, ready_ns, duration_ns);
  if (node.lost || (copy && o_.copies == ReplayOptions::Copies::kLost)) return;
  ArgsText args;
  args.Int("device", rank_).Int("stream", stream).Int("correlation", correlation);
  if (o_.graph_nodes) args.Int("graph id", graph + 1).Int("graph node id", node.id);
  const bool memcpy = copy && o_.copies == ReplayOptions::Copies::kMemcpy;
  const std::string name = !copy    ? node.item.text
                           : memcpy ? "Memcpy DtoD (Device -> Device)"
                                    : "memcpy128";
  AddActivity(memcpy ? "memcpy" : "kernel", name, stream, start_ns, duration_ns, args.Take());
  if (!o_.truth) return;
  ReplayActivity& activity = truth_.activities.back();
  activity.graph = graph;
  activity.launch = correlation;
  activity.uncertain = node.uncertain;
  activity.unplaced = node.op == "extra";
  if (activity.unplaced) return;
  // Scopes around the launch stay, unless the recording has them too.
  std::vector<std::string> modules = activity.modules;
  if (!modules.empty() && modules.front() == node.modules.front()) modules.clear();
  modules.insert(modules.end(), node.modules.begin(), node.modules.end());
  activity.modules = std::move(modules);
  activity.path = node.path;
  activity.has_path = true;
  activity.op = node.op;
}

// ROCm may stamp a whole graph when it is done: nothing tells the order of its kernels.
void Host::MakeBurst(size_t first_event, size_t first_activity) {
  int64_t end_ns = 0;
  for (size_t i = first_event; i < events_.size(); ++i)
    end_ns = std::max(end_ns, events_[i].start_ns + events_[i].duration_ns);
  for (size_t i = first_event; i < events_.size(); ++i) {
    events_[i].start_ns = end_ns;
    events_[i].duration_ns = 40;
  }
  for (size_t i = first_activity; i < truth_.activities.size(); ++i) {
    truth_.activities[i].start_ns = end_ns;
    truth_.activities[i].duration_ns = 40;
  }
  for (size_t i = events_.size(); i > first_event + 1; --i) {
    const size_t span = i - first_event;
    const auto other = static_cast<size_t>(random_.Range(0, static_cast<int64_t>(span) - 1));
    std::swap(events_[i - 1], events_[first_event + other]);
    if (!o_.truth) continue;
    std::swap(truth_.activities[first_activity + span - 1],
              truth_.activities[first_activity + other]);
  }
}

void Host::LaunchGraph(const std::vector<CapturedNode>& nodes, int64_t graph) {
  const int64_t correlation = next_correlation_;
  AddLaunchCall(o_.amd() ? "hipGraphLaunch" : "cudaGraphLaunch", "");
  const size_t first_event = events_.size();
  const size_t first_activity = truth_.activities.size();
  for (const CapturedNode& node : nodes) AddNode(node, graph, correlation, now_ns_);
  if (o_.burst) MakeBurst(first_event, first_activity);
}

}  // namespace layerscope::gen
