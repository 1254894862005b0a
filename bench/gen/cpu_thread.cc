#include "bench/gen/cpu_thread.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

namespace layerscope::gen {
namespace {

struct SmallCall {
  std::string_view name;
  int cbid;
};

// Calls that surround launches in real traces, with CUPTI's callback ids.
constexpr std::array<SmallCall, 8> kSmallCalls = {{{"cudaStreamIsCapturing", 317},
                                                   {"cudaFuncGetAttributes", 15},
                                                   {"cudaFuncSetAttribute", 273},
                                                   {"cudaEventRecordWithFlags", 370},
                                                   {"cudaEventQuery", 138},
                                                   {"cudaDeviceGetAttribute", 200},
                                                   {"cudaPeekAtLastError", 11},
                                                   {"cudaStreamWaitEvent", 147}}};

// A document's further devices and processes have streams of their own.
constexpr int64_t kStreamsPerDevice = 1000;

constexpr std::array<std::string_view, 8> kSmallFrames = {
    "torch/nn/modules/module.py(1951): __getattr__",
    "<built-in function isinstance>",
    "<built-in function len>",
    "<built-in function getattr>",
    "<built-in function hasattr>",
    "<string>(2): __init__",
    "enum.py(1230): __hash__",
    "vllm/utils/__init__.py(45): cdiv"};

}  // namespace

Event& CpuThread::Push(EventKind kind, std::string_view name) {
  // A few events share their start with their parent, as in real traces. A profiled eager layer of
  // vLLM takes a third of a millisecond and more on the host, a frame or op 1 to 5 us of it.
  if (!p_.random.OneIn(48)) Advance(400, 3600);
  open_.push_back({kind, p_.recording.events.size(), 0});
  Event& event = p_.recording.Add(kind);
  event.name = name;
  event.start_ns = now_ns_;
  event.tid = tid_;
  event.process = origin_.process;
  event.device = origin_.device;
  if (kind == EventKind::kFrame || kind == EventKind::kModule) {
    event.python_id = p_.recording.next_python_id++;
    event.python_parent = PythonParent();
    python_.push_back(event.python_id);
    ++p_.recording.frames;
  }
  return event;
}

int64_t CpuThread::PythonParent() const {
  return python_.empty() ? 0 : python_.back();
}

CpuThread::Scope CpuThread::Frame(std::string_view name) {
  if (recording_graph_ || p_.unseen || !p_.options.stacks) return Scope(nullptr);
  Push(EventKind::kFrame, name);
  return Scope(this);
}

CpuThread::Scope CpuThread::Module(const std::string& module_class, int64_t instance) {
  if (recording_graph_ || p_.unseen || !p_.options.modules) return Scope(nullptr);
  const gen::Module& module = p_.modules.Called(module_class, instance);
  Push(EventKind::kModule, module.event_name).module_number = module.number;
  modules_.push_back(&module);
  p_.truth.AddScope(module, static_cast<int64_t>(modules_.size()));
  return Scope(this);
}

CpuThread::Scope CpuThread::Op(const OpSpec& op) {
  if (recording_graph_ || p_.unseen) return Scope(nullptr);
  Event& event = Push(EventKind::kOp, op.name);
  event.shapes = op.shapes;
  event.external_id = p_.recording.next_external_id++;
  ++p_.recording.ops;
  p_.truth.AddOp();
  return Scope(this);
}

CpuThread::Scope CpuThread::Annotation(std::string_view name) {
  if (recording_graph_ || p_.unseen) return Scope(nullptr);
  Push(EventKind::kAnnotation, name).external_id = p_.recording.next_external_id++;
  p_.truth.AddAnnotation();
  return Scope(this);
}

void CpuThread::Close() {
  const Open closed = open_.back();
  open_.pop_back();
  const bool instant = closed.kind == EventKind::kFrame && p_.random.OneIn(64);
  if (!instant) Advance(1, 1200);
  Event& event = p_.recording.events[closed.event];
  event.duration_ns = now_ns_ - event.start_ns;
  if (closed.kind == EventKind::kFrame || closed.kind == EventKind::kModule) python_.pop_back();
  if (closed.kind == EventKind::kModule) modules_.pop_back();
  if (closed.kind == EventKind::kOp) CloseOp(event, closed.child_op_ns);
}

void CpuThread::CloseOp(const Event& event, int64_t child_op_ns) {
  for (size_t i = open_.size(); i > 0; --i) {
    if (open_[i - 1].kind != EventKind::kOp) continue;
    open_[i - 1].child_op_ns += event.duration_ns;
    break;
  }
  if (p_.options.cpu_only)
    p_.truth.AddOpSelf(event.name, event.shapes, event.duration_ns - child_op_ns, modules_);
}

std::string_view CpuThread::InnermostOp() const {
  for (size_t i = open_.size(); i > 0; --i) {
    if (open_[i - 1].kind == EventKind::kOp) return p_.recording.events[open_[i - 1].event].name;
  }
  return {};
}

Event& CpuThread::AddCall(const CallShape& shape) {
  Advance(150, 1500);
  Event& event = p_.recording.Add(EventKind::kCall);
  event.name = shape.name;
  event.cbid = shape.cbid;
  // Traces of 2021 had one category for both.
  event.driver = shape.driver && !p_.options.old_format;
  event.start_ns = now_ns_;
  event.tid = tid_;
  event.process = origin_.process;
  event.device = origin_.device;
  event.correlation = p_.recording.next_correlation++;
  for (size_t i = open_.size(); i > 0 && event.external_id == 0; --i) {
    if (open_[i - 1].kind == EventKind::kOp)
      event.external_id = p_.recording.events[open_[i - 1].event].external_id;
  }
  ++p_.recording.calls;
  return event;
}

void CpuThread::EndCall(size_t call, int64_t activities, int64_t kernels, bool lost) {
  Event& event = p_.recording.events[call];
  event.duration_ns = now_ns_ - event.start_ns;
  event.has_activity = activities > 0;
  if (!lost) p_.truth.AddCall({event.name, event.driver, activities, kernels, p_.step});
}

void CpuThread::Call(std::string_view name, int cbid) {
  if (recording_graph_ || p_.unseen || p_.options.cpu_only) return;
  const size_t call = p_.recording.events.size();
  AddCall({name, cbid, false});
  Advance(60, 900);
  EndCall(call, 0, 0, false);
}

void CpuThread::Synchronize(std::string_view name, int cbid) {
  if (recording_graph_ || p_.unseen || p_.options.cpu_only) return;
  const size_t call = p_.recording.events.size();
  AddCall({name, cbid, false});
  WaitUntil(p_.gpu.IdleAt());
  Advance(900, 4000);
  EndCall(call, 0, 0, false);
}

void CpuThread::PadCalls() {
  const int64_t goal = p_.options.calls_per_kernel * (p_.recording.kernels + 1);
  while ((p_.recording.calls + 1) * 100 < goal) {
    const SmallCall& small =
        kSmallCalls[static_cast<size_t>(p_.random.Range(0, kSmallCalls.size() - 1))];
    Call(small.name, small.cbid);
  }
}

// Work of a family may wait for another stream, or run long after its launch.
int64_t CpuThread::ReadyAt() const {
  int64_t ready_ns = std::max(now_ns_, p_.place.not_before_ns);
  if (p_.place.after_stream != 0)
    ready_ns = std::max(ready_ns, p_.gpu.EndOf(GpuStream(p_.place.after_stream)));
  return ready_ns;
}

int64_t CpuThread::GpuStream(int64_t stream) const {
  return stream + kStreamsPerDevice * (origin_.device + 100 * origin_.process);
}

void CpuThread::Settle(const Event& event) {
  if (!p_.options.UsesFamily()) return;
  p_.structure.Add({event.kind, event.start_ns, event.start_ns + event.duration_ns,
                    event.device == 0, event.device == 0 && event.process == 0, p_.place});
}

Event* CpuThread::AddActivity(EventKind kind, std::string_view name, int64_t work_ns,
                              int64_t stream, int64_t correlation, LaunchedBy launched_by,
                              bool overlaps) {
  const int64_t noisy_ns = work_ns * p_.random.Range(9700, 10300) / 10000;
  const Gpu::Slot slot = p_.gpu.Enqueue(GpuStream(stream), ReadyAt(), noisy_ns, overlaps);
  if (p_.random.PerTenThousand(p_.options.drop_activities)) return nullptr;
  Event& event = p_.recording.Add(kind);
  event.name = name;
  event.start_ns = slot.start_ns;
  event.duration_ns = slot.duration_ns;
  event.tid = stream;
  event.process = origin_.process;
  event.device = origin_.device;
  event.correlation = correlation;
  Settle(event);
  if (kind == EventKind::kKernel) ++p_.recording.kernels;
  const bool known = launched_by != LaunchedBy::kNothing;
  p_.truth.AddActivity({kind, name, stream, slot.start_ns, slot.duration_ns, launched_by,
                        known ? InnermostOp() : std::string_view(), known ? &modules_ : nullptr,
                        known ? p_.step : -1, p_.step_tid == tid_, origin_.device});
  return &event;
}

void CpuThread::LaunchOne(EventKind kind, const CallShape& shape, std::string_view name,
                          std::string_view geometry, int64_t bytes, int64_t work_ns, int64_t stream,
                          bool overlaps) {
  if (p_.options.cpu_only) {
    Advance(work_ns, work_ns + work_ns / 8);
    return;
  }
  PadCalls();
  const size_t call = p_.recording.events.size();
  const Event made = AddCall(shape);
  const bool lost = p_.unseen || p_.random.PerTenThousand(p_.options.drop_launches);
  Event* activity = AddActivity(kind, name, work_ns, stream, made.correlation,
                                lost ? LaunchedBy::kNothing : LaunchedBy::kCall, overlaps);
  if (activity != nullptr) {
    activity->shapes = geometry;
    activity->bytes = bytes;
    // Work whose launch was not seen carries no External id in real files either.
    if (!lost) activity->external_id = made.external_id;
    if (p_.options.external_id_is_correlation) activity->external_id = made.correlation;
  }
  Advance(2500, 8500);
  EndCall(call, activity != nullptr, activity != nullptr && kind == EventKind::kKernel, lost);
  if (lost) p_.recording.events.erase(p_.recording.events.begin() + static_cast<int64_t>(call));
}

void CpuThread::Launch(const KernelSpec& kernel, int64_t stream) {
  if (recording_graph_) {
    nodes_.push_back({&kernel, stream, p_.place});
    return;
  }
  const bool overlaps = kernel.dependent && p_.options.dependent_launch;
  LaunchOne(EventKind::kKernel, Shape(kernel.call), kernel.name, kernel.geometry, 0, kernel.work_ns,
            stream, overlaps);
}

void CpuThread::LaunchIntoCapture(const KernelSpec& kernel) {
  const size_t call = p_.recording.events.size();
  AddCall(Shape(kernel.call));
  Advance(1500, 5000);
  EndCall(call, 0, 0, false);
}

void CpuThread::Copy(std::string_view name, int64_t bytes, int64_t stream) {
  if (recording_graph_) return;
  constexpr int64_t kPcieBytesPerNs = 50;  // PCIe 5 x16
  LaunchOne(EventKind::kMemcpy, Shape(CallKind::kMemcpyAsync), name, "", bytes,
            1200 + bytes / kPcieBytesPerNs, stream, false);
}

void CpuThread::Set(int64_t bytes, int64_t stream) {
  if (recording_graph_) return;
  LaunchOne(EventKind::kMemset, Shape(CallKind::kMemsetAsync), "Memset (Device)", "", bytes, 800,
            stream, false);
}

namespace {

uint64_t HashOf(const std::vector<GraphNode>& nodes) {
  uint64_t hash = nodes.size();
  for (const GraphNode& node : nodes) {
    const uint64_t of_node = std::hash<std::string_view>()(node.kernel->name);
    hash = (hash ^ of_node ^ static_cast<uint64_t>(node.stream)) * 0x9E3779B97F4A7C15ULL;
  }
  return hash;
}

}  // namespace

void CpuThread::LaunchGraph(const std::vector<GraphNode>& nodes) {
  PadCalls();
  const size_t call = p_.recording.events.size();
  const Event made = AddCall(Shape(CallKind::kGraphLaunch));
  const bool lost = p_.unseen || p_.random.PerTenThousand(p_.options.drop_launches);
  int64_t kernels = 0;
  const auto number = static_cast<int64_t>(p_.graphs.size()) + 1;
  int64_t node_id = p_.graphs.try_emplace(HashOf(nodes), number).first->second << 16;
  for (const GraphNode& node : nodes) {
    const bool overlaps = node.kernel->dependent && p_.options.dependent_launch;
    p_.place = node.place;
    Event* kernel =
        AddActivity(EventKind::kKernel, node.kernel->name, node.kernel->work_ns, node.stream,
                    made.correlation, lost ? LaunchedBy::kNothing : LaunchedBy::kGraph, overlaps);
    ++node_id;
    if (kernel == nullptr) continue;
    kernel->shapes = node.kernel->geometry;
    kernel->graph_node = node_id;
    if (p_.options.external_id_is_correlation) kernel->external_id = made.correlation;
    ++kernels;
  }
  Advance(static_cast<int64_t>(nodes.size()) * 900, static_cast<int64_t>(nodes.size()) * 1100 + 1);
  EndCall(call, kernels, kernels, lost);
  if (lost) p_.recording.events.erase(p_.recording.events.begin() + static_cast<int64_t>(call));
}

std::vector<GraphNode> CpuThread::StopRecordingGraph() {
  recording_graph_ = false;
  return std::exchange(nodes_, {});
}

void CpuThread::MemoryEvent(int64_t bytes) {
  if (recording_graph_ || !p_.options.memory_events) return;
  Advance(40, 200);
  Event& event = p_.recording.Add(EventKind::kMemory);
  event.name = "[memory]";
  event.start_ns = now_ns_;
  event.tid = tid_;
  event.bytes = bytes;
}

void CpuThread::PadFrames() {
  const int64_t goal = p_.options.frames_per_kernel * p_.recording.kernels;
  while (p_.recording.frames * 100 < goal) {
    const auto pick = static_cast<size_t>(p_.random.Range(0, kSmallFrames.size() - 1));
    Scope outer = Frame(kSmallFrames[pick]);
    if (pick > 4) Leaf("<built-in function isinstance>");
  }
}

void CpuThread::Pad(const Catalog& catalog) {
  if (recording_graph_) return;
  const int64_t goal = p_.options.ops_per_kernel * p_.recording.kernels;
  while (p_.recording.ops * 100 < goal) {
    const int64_t pick = p_.random.Range(0, 3);
    Scope frame = Frame("<built-in method view of Tensor object at 0x7fdc681d0910>");
    if (pick == 0) {
      View(catalog.view);
    } else if (pick == 1) {
      View(catalog.empty);
      MemoryEvent(8388608);
    } else {
      Scope op = Op(pick == 2 ? catalog.slice : catalog.select);
      View(catalog.as_strided);
    }
  }
  if (p_.options.stacks) PadFrames();
}

void AddOrphan(Process* process, const KernelSpec& kernel, int64_t stream, int64_t ready_ns) {
  const Gpu::Slot slot = process->gpu.Enqueue(stream, ready_ns, kernel.work_ns, false);
  Event& event = process->recording.Add(EventKind::kKernel);
  event.name = kernel.name;
  event.shapes = kernel.geometry;
  event.start_ns = slot.start_ns;
  event.duration_ns = slot.duration_ns;
  event.tid = stream;
  event.correlation = process->recording.next_correlation++;
  process->truth.AddActivity({EventKind::kKernel,
                              kernel.name,
                              stream,
                              slot.start_ns,
                              slot.duration_ns,
                              LaunchedBy::kNothing,
                              {},
                              nullptr,
                              -1,
                              false});
}

}  // namespace layerscope::gen
