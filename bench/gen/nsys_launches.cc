// The part of NsysProcess that brings work to the GPU.

#include <algorithm>

#include "bench/gen/nsys_process.h"

namespace layerscope::gen {
namespace {

constexpr int64_t kMainStream = 7;
constexpr int64_t kCommStream = 23;
constexpr int64_t kHelperStream = 31;
constexpr int64_t kLatency = 2401;  // from a call's end to the first work: odd
constexpr int64_t kOverlap = 600;
constexpr std::string_view kLaunchKernel = "cudaLaunchKernel_v7000";
constexpr std::string_view kLaunchEx = "cuLaunchKernelEx";
constexpr std::string_view kCopyCall = "cudaMemcpyAsync_v3020";
constexpr std::string_view kSetCall = "cudaMemsetAsync_v3020";

bool IsCopy(const NsysItem& item) {
  return item.kind == NsysItem::Kind::kCopy || item.kind == NsysItem::Kind::kSet;
}

NsysLine LineOf(const NsysItem& item) {
  if (item.kind == NsysItem::Kind::kComm) return NsysLine::kExposedComm;
  return IsCopy(item) ? NsysLine::kMemcpy : NsysLine::kCompute;
}

NsysKind KindOf(const NsysItem& item) {
  if (item.kind == NsysItem::Kind::kCopy) return NsysKind::kMemcpy;
  return item.kind == NsysItem::Kind::kSet ? NsysKind::kMemset : NsysKind::kKernel;
}

std::string_view LaunchName(const NsysItem& item, std::string_view kernel) {
  if (item.kind == NsysItem::Kind::kCopy) return kCopyCall;
  if (item.kind == NsysItem::Kind::kSet) return kSetCall;
  return kernel.substr(0, 5) == "nvjet" ? kLaunchEx : kLaunchKernel;
}

bool IsLaunch(std::string_view name) {
  return name.find("Launch") != std::string_view::npos;
}

}  // namespace

// ---- activities

NsysCall& NsysProcess::LaunchCall(const NsysItem& item, int64_t launch_gap_ns) {
  const int64_t length_ns = random_.Range(600, 1500) * 2;
  if (launch_gap_ns > 0) {
    const int64_t early_ns = kLatency + length_ns + 320;
    now_ns_ = std::max(now_ns_, timeline_.frontier_ns() + launch_gap_ns - early_ns);
  }
  return AddCall(LaunchName(item, names_[item.name]), length_ns);
}

NsysActivity NsysProcess::Describe(const NsysItem& item, const Launched& launched) {
  NsysActivity activity;
  activity.kind = KindOf(item);
  activity.name = item.name;
  if (IsCopy(item)) {
    activity.copy = item.kind == NsysItem::Kind::kSet    ? NsysCopy::kNone
                    : names_[item.name] == "Memcpy HtoD" ? NsysCopy::kHostToDevice
                    : names_[item.name] == "Memcpy DtoH" ? NsysCopy::kDeviceToHost
                                                         : NsysCopy::kOnDevice;
    activity.bytes = 4096;
  }
  activity.stream = kMainStream;
  if (item.kind == NsysItem::Kind::kComm && o_.comm_stream) activity.stream = kCommStream;
  activity.correlation = launched.correlation;
  activity.node = launched.node;
  activity.graph = launched.graph;
  activity.module = launched.module;
  activity.reason = launched.reason;
  activity.step = launched.seen ? step_ : kNsysNone;
  if (activity.module == kNsysNone && activity.reason == NsysReason::kNone)
    activity.reason = NsysReason::kOutsideScopes;
  if (!launched.seen && launched.node == 0) {
    activity.module = kNsysNone;
    activity.reason = NsysReason::kNoLaunch;
  }
  return activity;
}

// Decides when the item begins, and on what line the GPU's time before it lies.
int64_t NsysProcess::StartOf(const NsysItem& item, const Launched& launched, int64_t length_ns) {
  const int64_t frontier_ns = timeline_.frontier_ns();
  const int64_t ready_ns = launched.call_end_ns + kLatency;
  if (timeline_.last_line() == NsysLine::kCompute && launched.queued_ns == 0) {
    const int64_t room_ns = frontier_ns - std::max(ready_ns, timeline_.last_start_ns() + 2);
    if (item.kind == NsysItem::Kind::kNorm && o_.dependent_launch && room_ns > kOverlap)
      return frontier_ns - kOverlap;
    if (item.kind == NsysItem::Kind::kComm && o_.comm_stream && room_ns > 0)
      return frontier_ns - std::min(room_ns, length_ns / 4 * 2);
  }
  const int64_t start_ns = std::max(frontier_ns + launched.queued_ns, ready_ns);
  const bool queued = launched.call_end_ns < frontier_ns || launched.follows;
  timeline_.Idle(start_ns, !launched.seen ? NsysLine::kUnexplained
                           : queued       ? NsysLine::kQueuedGap
                                          : NsysLine::kByHost);
  return start_ns;
}

void NsysProcess::Enqueue(const NsysItem& item, const Launched& launched) {
  NsysActivity activity = Describe(item, launched);
  if (item.kind == NsysItem::Kind::kBeside) {
    beside_.push_back(activity);
    return;
  }
  const int64_t length_ns = Varied(item.work_ns);
  activity.start_ns = StartOf(item, launched, length_ns);
  activity.end_ns = activity.start_ns + length_ns;
  timeline_.Work(activity.end_ns, LineOf(item));
  Record(activity);
  PlaceBeside(activity);
}

void NsysProcess::PlaceBeside(const NsysActivity& main) {
  const int64_t length_ns = main.end_ns - main.start_ns;
  for (size_t i = 0; i < beside_.size(); ++i) {
    NsysActivity& activity = beside_[i];
    activity.stream = kMainStream + 1 + static_cast<int64_t>(i);
    activity.start_ns = main.start_ns + random_.Range(1, length_ns / 8) * 2;
    activity.end_ns = activity.start_ns + random_.Range(1, length_ns / 4) * 2;
    Record(activity);
  }
  beside_.clear();
}

void NsysProcess::Record(const NsysActivity& activity) {
  rows_.activities.push_back(activity);
  truth().Add(activity);
  if (activity.kind != NsysKind::kKernel) return;
  NsysKernel& kernel = truth_->kernels[activity.name];
  const int64_t length_ns = activity.end_ns - activity.start_ns;
  ++kernel.n;
  kernel.sum_ns += length_ns;
  kernel.min_ns = std::min(kernel.min_ns, length_ns);
  kernel.max_ns = std::max(kernel.max_ns, length_ns);
}

void NsysProcess::Launch(const NsysItem& item, const NsysGap& gap) {
  if (gap.wait_ns > 0) Synchronize(gap.wait_ns - 1);
  const bool collective = o_.domains && item.kind == NsysItem::Kind::kComm;
  OpenOp(item);
  if (collective) Open(NsysRange::Kind::kDomain, "ncclAllReduce", 1);
  const bool seen = item.kind == NsysItem::Kind::kBeside || !random_.PerTenThousand(o_.drop_calls);
  const NsysCall& call = LaunchCall(item, gap.launch_ns);
  Launched launched;
  launched.call_end_ns = call.end_ns;
  launched.correlation = call.correlation;
  launched.module = InnermostModule();
  launched.seen = seen;
  launched.queued_ns = gap.queued_ns;
  if (!seen) {
    if (IsLaunch(names_[call.name])) {
      --truth().launches;
      if (step_ != kNsysNone) --truth().steps[static_cast<size_t>(step_)].launches;
    }
    rows_.calls.pop_back();
  }
  Enqueue(item, launched);
  if (collective) Close();
  if (o_.ops) Close();
}

void NsysProcess::LaunchUnseen(const NsysItem& item) {
  Launched launched;
  launched.call_end_ns = now_ns_;
  launched.correlation = next_correlation_++;
  launched.seen = false;
  Enqueue(item, launched);
}

void NsysProcess::LaunchBeside(const NsysItem& item) {
  const int64_t start_ns =
      std::max(now_ns_ + 2 * kLatency + 1, timeline_.last_start_ns() + 2) / 2 * 2 + 1;
  const int64_t length_ns = 1200;
  if (timeline_.last_line() != NsysLine::kCompute ||
      start_ns + length_ns > timeline_.frontier_ns() || start_ns < timeline_.last_start_ns())
    return;
  const int64_t main_now_ns = now_ns_;
  std::vector<OpenRange> main_open;
  main_open.swap(open_);
  tid_ = main_tid() + 5;
  OpenModule(modules_.Id("prefetch"));
  Launched launched;
  launched.correlation = AddCall(LaunchName(item, names_[item.name]), 600).correlation;
  launched.module = InnermostModule();
  NsysActivity activity = Describe(item, launched);
  activity.stream = kHelperStream;
  activity.start_ns = start_ns;
  activity.end_ns = start_ns + length_ns;
  Record(activity);
  Close();
  tid_ = main_tid();
  open_.swap(main_open);
  now_ns_ = main_now_ns;
}

// ---- graphs

void NsysProcess::BeginCapture(NsysGraph* graph) {
  Call("cudaStreamBeginCapture_v10000", 2000);
  capturing_ = graph;
}

void NsysProcess::EndCapture() {
  capturing_ = nullptr;
  Call("cudaStreamEndCapture_v10000", 9000);
}

void NsysProcess::AddNode(std::string_view name, int64_t node, int64_t original) {
  NsysNode& row = rows_.nodes.emplace_back();
  now_ns_ += 20;
  row.name = names_.Id(o_.creation_names ? name : "CUDA Graph Node");
  row.start_ns = now_ns_;
  row.end_ns = now_ns_ + 10;
  row.tid = tid_;
  row.node = node;
  row.original = original;
}

void NsysProcess::LaunchInto(const NsysItem& item, bool lost, bool has_row) {
  OpenOp(item);
  NsysGraphNode node;
  node.item = item;
  node.lost = lost;
  node.module = InnermostModule();
  node.captured = capturing_->captured << 32 | static_cast<int64_t>(capturing_->nodes.size());
  if (has_row) AddNode("Graph Node Creation", node.captured, 0);
  if (IsLaunch(names_[LaunchCall(item, 0).name])) ++truth().without_activity;
  for (OpenRange& range : open_) range.has_node |= !lost;
  capturing_->nodes.push_back(node);
  if (o_.ops) Close();
}

void NsysProcess::LaunchGraph(const NsysGraph& graph, const NsysGap& gap) {
  if (gap.launch_ns > 0) Rest(gap.launch_ns);
  const NsysCall& call = AddCall("cudaGraphLaunch_v10000", random_.Range(2000, 6000) * 2);
  Launched launched;
  launched.call_end_ns = call.end_ns;
  launched.correlation = call.correlation;
  launched.graph = graph.executable;
  if (o_.launch == NsysOptions::Launch::kWhole) {
    LaunchWhole(graph, launched);
    return;
  }
  const size_t gap_at = graph.nodes.size() / 2;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NsysGraphNode& node = graph.nodes[i];
    launched.follows = i > 0;
    launched.queued_ns = i == 0 || random_.OneIn(4) ? 0 : random_.Range(200, 700) * 2;
    if (i == gap_at) launched.queued_ns += gap.queued_ns;
    launched.node = graph.executable << 32 | static_cast<int64_t>(i);
    launched.module = node.lost ? kNsysNone : node.module;
    launched.reason = node.lost ? NsysReason::kGraphLaunch : NsysReason::kNone;
    Enqueue(node.item, launched);
  }
  for (const int32_t module : graph.replayed) ++truth().replayed[module];
}

void NsysProcess::LaunchWhole(const NsysGraph& graph, const Launched& launched) {
  NsysItem item;
  item.name = names_.Id("[graph]");
  for (const NsysGraphNode& node : graph.nodes) {
    if (node.item.kind != NsysItem::Kind::kBeside) item.work_ns += node.item.work_ns + 600;
  }
  NsysActivity activity = Describe(item, launched);
  activity.kind = NsysKind::kGraph;
  activity.reason = NsysReason::kGraphLaunch;
  activity.start_ns = StartOf(item, launched, item.work_ns);
  activity.end_ns = activity.start_ns + Varied(item.work_ns);
  timeline_.Work(activity.end_ns, NsysLine::kCompute);
  Record(activity);
}

}  // namespace layerscope::gen
