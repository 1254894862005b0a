#include "bench/gen/nsys_truth.h"

#include <algorithm>
#include <string_view>

#include "bench/gen/json_text.h"

namespace layerscope::gen {

void NsysSums::Add(const NsysActivity& activity) {
  const int64_t length_ns = activity.end_ns - activity.start_ns;
  const bool kernel = activity.kind == NsysKind::kKernel;
  Add({length_ns, 1, kernel ? length_ns : 0, kernel ? 1 : 0});
}

void NsysSums::Add(const NsysSums& other) {
  gpu_ns += other.gpu_ns;
  activities += other.activities;
  kernel_ns += other.kernel_ns;
  kernels += other.kernels;
}

void NsysRankTruth::Seen(int64_t start_ns, int64_t end_ns) {
  first_ns = std::min(first_ns, start_ns);
  last_ns = std::max(last_ns, end_ns);
}

void NsysRankTruth::Add(const NsysActivity& activity) {
  Seen(activity.start_ns, activity.end_ns);
  kinds[static_cast<size_t>(activity.kind)].Add(activity);
  if (activity.module == kNsysNone) {
    unattributed[static_cast<size_t>(activity.reason)].Add(activity);
  } else {
    modules[activity.module].Add(activity);
  }
  without_launch += activity.reason == NsysReason::kNoLaunch ? 1 : 0;
  if (activity.step == kNsysNone) {
    outside.Add(activity);
    return;
  }
  NsysStep& step = steps[static_cast<size_t>(activity.step)];
  step.sums.Add(activity);
  step.first_ns = std::min(step.first_ns, activity.start_ns);
  step.last_ns = std::max(step.last_ns, activity.end_ns);
  step.graph_kernels += activity.node != 0 && activity.kind == NsysKind::kKernel ? 1 : 0;
  if (!detailed) return;
  step.modules[activity.module].Add(activity);
  step.busy.Add(activity.start_ns, activity.end_ns);
}

namespace {

constexpr std::array<std::string_view, kNsysLines> kLineNames = {
    "compute",   "exposed_comm", "memcpy",        "queued_gap",
    "host_wait", "launch_gap",   "between_steps", "unexplained"};
constexpr std::array<std::string_view, 4> kReasonNames = {"none", "graph_launch", "no_launch",
                                                          "outside_scopes"};
constexpr std::array<std::string_view, 4> kKindNames = {"kernel", "memcpy", "memset", "graph"};

class Writer {
 public:
  Writer(const NsysNames& names, const NsysModules& modules, const NsysTruth& truth,
         std::string* text)
      : names_(names), modules_(modules), truth_(truth), json_(text, Layout::kTorch) {}

  void Write(const NsysOptions& options) {
    for (const NsysRankTruth& rank : truth_.ranks) zero_ns_ = std::min(zero_ns_, rank.first_ns);
    json_.Object().Key("seed").Int(static_cast<int64_t>(options.seed));
    json_.Key("zero_ns").Int(zero_ns_);
    json_.Line(1).Key("kernels").Object();
    for (const auto& [name, kernel] : truth_.kernels) {
      json_.Line(2).Key(names_[name]).Object().Key("n").Int(kernel.n);
      json_.Key("sum_ns").Int(kernel.sum_ns).Key("min_ns").Int(kernel.min_ns);
      json_.Key("max_ns").Int(kernel.max_ns).EndObject();
    }
    json_.EndObject().Line(1).Key("ranks").Array();
    for (const NsysRankTruth& rank : truth_.ranks) WriteRank(rank);
    json_.EndArray().EndObject();
  }

 private:
  void WriteSums(const NsysSums& sums) {
    json_.Key("gpu_ns").Int(sums.gpu_ns).Key("activities").Int(sums.activities);
    json_.Key("kernel_ns").Int(sums.kernel_ns).Key("kernels").Int(sums.kernels);
  }
  void WriteSums(std::string_view key, const NsysSums& sums) {
    json_.Key(key).Object();
    WriteSums(sums);
    json_.EndObject();
  }
  void OrNull(std::string_view key, int64_t value) {
    if (value < 0) {
      json_.Key(key).Raw("null");
    } else {
      json_.Key(key).Int(value);
    }
  }

  void WriteRank(const NsysRankTruth& rank) {
    json_.Line(2).Object().Key("rank").Int(rank.place.rank).Key("pid").Int(rank.place.pid);
    json_.Key("device").Int(rank.place.device).Key("gpu").Int(rank.place.gpu);
    using Count = std::pair<std::string_view, int64_t>;
    for (const auto& [key, value] :
         {Count("launches", rank.launches), Count("graph_launches", rank.graph_launches),
          Count("without_activity", rank.without_activity),
          Count("without_launch", rank.without_launch), Count("ranges", rank.ranges),
          Count("scopes", rank.scopes), Count("open_ranges", rank.open_ranges),
          Count("outputs", rank.outputs), Count("ops", rank.ops)})
      json_.Key(key).Int(value);
    for (size_t kind = 0; kind < kKindNames.size(); ++kind)
      WriteSums(kKindNames[kind], rank.kinds[kind]);
    json_.Line(3).Key("unattributed").Object();
    for (size_t reason = 1; reason < kReasonNames.size(); ++reason)
      WriteSums(kReasonNames[reason], rank.unattributed[reason]);
    json_.EndObject();
    WriteSums("outside", rank.outside);
    WriteModules(rank);
    json_.Line(3).Key("steps").Array();
    for (const NsysStep& step : rank.steps) WriteStep(step);
    json_.EndArray().EndObject();
  }

  int64_t Of(const std::map<int32_t, int64_t>& counts, int32_t module) const {
    const auto found = counts.find(module);
    return found == counts.end() ? 0 : found->second;
  }

  // Every module that was called, with those below it.
  void WriteModules(const NsysRankTruth& rank) {
    std::vector<NsysSums> own(modules_.size());
    for (const auto& [module, sums] : rank.modules) own[static_cast<size_t>(module)] = sums;
    std::vector<NsysSums> all = own;
    for (size_t i = all.size(); i > 0; --i) {
      const int32_t parent = modules_.parent(static_cast<int32_t>(i - 1));
      if (parent != kNsysNone) all[static_cast<size_t>(parent)].Add(all[i - 1]);
    }
    json_.Line(3).Key("modules").Object();
    for (int32_t module = 0; module < static_cast<int32_t>(modules_.size()); ++module) {
      if (Of(rank.calls, module) == 0) continue;
      json_.Line(4).Key(modules_.path(module)).Object();
      json_.Key("ranges").Int(Of(rank.calls, module));
      json_.Key("replayed").Int(Of(rank.replayed, module));
      WriteSums("excl", own[static_cast<size_t>(module)]);
      WriteSums("incl", all[static_cast<size_t>(module)]);
      json_.EndObject();
    }
    json_.EndObject();
  }

  void WriteStep(const NsysStep& step) {
    IntervalUnion busy = step.busy;
    busy.Settle();
    json_.Line(4).Object().Key("name").String(step.says.name);
    if (step.says.phase.empty()) {
      json_.Key("phase").Raw("null");
    } else {
      json_.Key("phase").String(step.says.phase);
    }
    OrNull("number", step.says.number);
    OrNull("requests", step.says.requests);
    OrNull("past", step.says.past);
    json_.Key("start_ns").Int(step.start_ns - zero_ns_);
    json_.Key("cpu_ns").Int(step.end_ns - step.start_ns);
    json_.Key("wall_ns").Int(step.last_ns - step.first_ns).Key("busy_ns").Int(busy.covered_ns());
    WriteSums(step.sums);
    json_.Key("launches").Int(step.launches).Key("graph_kernels").Int(step.graph_kernels);
    json_.Key("window_ns").Int(step.last_ns - step.from_ns).Key("lines").Object();
    for (size_t line = 0; line < kNsysLines; ++line)
      json_.Key(kLineNames[line]).Int(step.lines[line]);
    json_.EndObject().Key("modules").Object();
    for (const auto& [module, sums] : step.modules)
      WriteSums(module == kNsysNone ? "[unattributed]" : modules_.path(module), sums);
    json_.EndObject().EndObject();
  }

  const NsysNames& names_;
  const NsysModules& modules_;
  const NsysTruth& truth_;
  JsonText json_;
  int64_t zero_ns_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::string RenderNsysTruth(const NsysOptions& options, const NsysNames& names,
                            const NsysModules& modules, const NsysTruth& truth) {
  std::string text;
  Writer(names, modules, truth, &text).Write(options);
  return text + "\n";
}

}  // namespace layerscope::gen
