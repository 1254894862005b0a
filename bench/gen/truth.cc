#include "bench/gen/truth.h"

#include <algorithm>
#include <limits>

namespace layerscope::gen {
namespace {

template <typename Map>
auto& Slot(Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found != map.end() ? found->second : map[std::string(name)];
}

std::string_view Reason(LaunchedBy launched_by) {
  if (launched_by == LaunchedBy::kNothing) return "no_launch";
  return launched_by == LaunchedBy::kGraph ? "graph_launch" : "outside_scopes";
}

}  // namespace

void Count::Add(int64_t duration_ns) {
  min_ns = n == 0 ? duration_ns : std::min(min_ns, duration_ns);
  max_ns = std::max(max_ns, duration_ns);
  sum_ns += duration_ns;
  ++n;
}

void Truth::AddActivity(const Activity& activity) {
  AddToDevice(activity);
  AddToModules(activity);
  AddToStep(activity);
  if (activity.kind != EventKind::kKernel) return;
  Slot(data_.kernel_names, activity.name).Add(activity.duration_ns);
  if (activity.op.empty()) {
    ++data_.kernels_outside_ops;
  } else {
    Slot(data_.kernels_of_op, activity.op).Add(activity.duration_ns);
  }
}

void Truth::AddToDevice(const Activity& activity) {
  const int64_t end_ns = activity.start_ns + activity.duration_ns;
  DeviceTruth& device = data_.devices[activity.device];
  const bool first = device.streams.empty();
  device.first_ns = first ? activity.start_ns : std::min(device.first_ns, activity.start_ns);
  device.last_ns = first ? end_ns : std::max(device.last_ns, end_ns);
  StreamTruth& stream = device.streams[activity.stream];
  ++stream.n;
  stream.sum_ns += activity.duration_ns;
  stream.busy.Add(activity.start_ns, end_ns);
  device.busy.Add(activity.start_ns, end_ns);
  const bool kernel = activity.kind == EventKind::kKernel;
  Count& count = kernel                                ? data_.kernels
                 : activity.kind == EventKind::kMemcpy ? data_.memcpys
                                                       : data_.memsets;
  count.Add(activity.duration_ns);
  if (activity.launched_by == LaunchedBy::kNothing) {
    ++data_.activities_without_call;
    if (kernel) ++data_.kernels_without_launch;
  } else if (activity.launched_by == LaunchedBy::kGraph && kernel) {
    data_.graph_kernels.Add(activity.duration_ns);
  }
}

void Truth::AddToModules(const Activity& activity) {
  const bool kernel = activity.kind == EventKind::kKernel;
  const int64_t duration_ns = activity.duration_ns;
  if (activity.modules == nullptr || activity.modules->empty()) {
    data_.unattributed_gpu.Add(duration_ns);
    if (kernel) data_.unattributed_kernels.Add(duration_ns);
    Slot(data_.unattributed_reasons, Reason(activity.launched_by)) += duration_ns;
    return;
  }
  for (const Module* module : *activity.modules) {
    ModuleTruth& truth = data_.modules[module->id];
    truth.gpu_inclusive.Add(duration_ns);
    if (kernel) truth.kernel_inclusive.Add(duration_ns);
  }
  ModuleTruth& innermost = data_.modules[activity.modules->back()->id];
  innermost.gpu_exclusive.Add(duration_ns);
  if (kernel) innermost.kernel_exclusive.Add(duration_ns);
}

void Truth::AddToStep(const Activity& activity) {
  const bool kernel = activity.kind == EventKind::kKernel;
  if (activity.step < 0) {
    data_.outside_gpu.Add(activity.duration_ns);
    if (kernel) data_.outside_kernels.Add(activity.duration_ns);
    return;
  }
  StepTruth& step = data_.steps[static_cast<size_t>(activity.step)];
  (kernel ? step.kernels : step.copies).Add(activity.duration_ns);
  if (kernel && activity.same_thread) ++step.kernels_same_thread;
  step_parts_.push_back(
      {activity.stream, activity.start_ns, activity.start_ns + activity.duration_ns});
}

void Truth::AddCall(const Call& call) {
  ++Slot(data_.calls, call.name);
  ++(call.driver ? data_.driver_calls : data_.runtime_calls);
  data_.max_kernels = std::max(data_.max_kernels, call.kernels);
  if (call.name.find("Launch") == std::string_view::npos) return;
  ++data_.launches;
  if (call.name.find("GraphLaunch") != std::string_view::npos) ++data_.graph_launches;
  if (call.activities == 0) ++data_.launches_without_activity;
  if (call.kernels == 0) ++data_.launches_without_kernel;
  if (call.step >= 0) ++data_.steps[static_cast<size_t>(call.step)].launches;
}

void Truth::AddScope(const Module& module, int64_t depth) {
  ++data_.scopes;
  ++data_.modules[module.id].calls;
  data_.max_depth = std::max(data_.max_depth, depth);
}

void Truth::AddOpSelf(std::string_view name, std::string_view shapes, int64_t self_ns,
                      const ModuleStack& modules) {
  data_.op_self[{std::string(name), std::string(shapes)}].Add(self_ns);
  if (modules.empty()) {
    data_.op_self_outside_ns += self_ns;
  } else {
    data_.modules[modules.back()->id].op_self_ns += self_ns;
  }
}

int64_t Truth::OpenStep(StepTruth step) {
  step_parts_.clear();
  data_.steps.push_back(std::move(step));
  return static_cast<int64_t>(data_.steps.size()) - 1;
}

void Truth::CloseStep(int64_t index, int64_t end_ns) {
  StepTruth& step = data_.steps[static_cast<size_t>(index)];
  step.cpu_ns = end_ns - step.start_ns;
  if (step_parts_.empty()) return;
  IntervalUnion busy;
  step.first_ns = std::numeric_limits<int64_t>::max();
  for (const StepPart& part : step_parts_) {
    busy.Add(part.start_ns, part.end_ns);
    step.first_ns = std::min(step.first_ns, part.start_ns);
    step.last_ns = std::max(step.last_ns, part.end_ns);
  }
  busy.Settle();
  step.busy_ns = busy.covered_ns();
}

bool Truth::StepSpan(int64_t stream, int64_t* start_ns, int64_t* end_ns) const {
  bool any = false;
  for (const StepPart& part : step_parts_) {
    if (part.stream != stream) continue;
    *start_ns = any ? std::min(*start_ns, part.start_ns) : part.start_ns;
    *end_ns = any ? std::max(*end_ns, part.end_ns) : part.end_ns;
    any = true;
  }
  return any;
}

void Truth::Settle(int64_t mark_ns) {
  for (auto& [device_id, device] : data_.devices) {
    device.busy.Settle(mark_ns);
    for (auto& [id, stream] : device.streams) stream.busy.Settle(mark_ns);
  }
}

const TruthData& Truth::Finish() {
  Settle(std::numeric_limits<int64_t>::max());
  return data_;
}

}  // namespace layerscope::gen
