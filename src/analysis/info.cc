#include "src/analysis/info.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "src/analysis/device_rows.h"
#include "src/analysis/device_table.h"
#include "src/analysis/launch_counts.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/recording_facts.h"
#include "src/analysis/row_table.h"
#include "src/analysis/run_ranks.h"
#include "src/attribution/lost_tables.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using base::FormatCount;
using base::FormatCounted;
using base::FormatDuration;
using base::FormatShare;
using table::Object;

struct KindCounts {
  int64_t n_kernels = 0;
  int64_t n_memcpy = 0;
  int64_t n_memset = 0;
  int64_t n_graphs = 0;  ///< recorded as a whole
  int64_t kernel_ns = 0;
  int64_t memcpy_ns = 0;
  int64_t memset_ns = 0;
  int64_t graph_ns = 0;
};

struct ModuleCounts {
  int64_t n_scopes = 0;
  int64_t n_classes = 0;
  int64_t n_instances = 0;
  int64_t max_depth = 0;
};

KindCounts CountKinds(const trace::Activities& activities) {
  KindCounts counts;
  for (size_t i = 0; i < activities.size(); ++i) {
    const int64_t dur_ns = activities.dur_ns[i];
    switch (activities.kind[i]) {
      case trace::ActivityKind::kKernel:
        ++counts.n_kernels, counts.kernel_ns += dur_ns;
        break;
      case trace::ActivityKind::kMemcpy:
        ++counts.n_memcpy, counts.memcpy_ns += dur_ns;
        break;
      case trace::ActivityKind::kMemset:
        ++counts.n_memset, counts.memset_ns += dur_ns;
        break;
      case trace::ActivityKind::kGraph:
        ++counts.n_graphs, counts.graph_ns += dur_ns;
        break;
      case trace::ActivityKind::kCpu:
        break;
    }
  }
  return counts;
}

ModuleCounts CountModules(const RankView& view) {
  ModuleCounts counts;
  const trace::Trace& trace = view.trace();
  const attribution::ModuleTree& tree = view.attribution().modules;
  std::set<std::string_view> classes;
  std::set<trace::StringId> instances;
  std::vector<uint8_t> seen(tree.modules.size(), 0);
  for (size_t scope = 0; scope < trace.scopes.size(); ++scope) {
    instances.insert(trace.scopes.name[scope]);
    const attribution::ModuleId module = tree.module_of_scope[scope];
    if (std::exchange(seen[module.index()], uint8_t{1}) != 0) continue;
    classes.insert(tree.ClassOf(module, trace));
    counts.max_depth = std::max<int64_t>(counts.max_depth, tree.modules[module.index()].depth);
  }
  counts.n_scopes = static_cast<int64_t>(trace.scopes.size());
  counts.n_classes = static_cast<int64_t>(classes.size());
  counts.n_instances = static_cast<int64_t>(instances.size());
  return counts;
}

/// Everything that `info` says of one file.
struct Facts {
  KindCounts kinds;
  ModuleCounts modules;
  LaunchCounts launches;
  std::vector<DeviceRow> devices;
  RunRanks ranks;
  int64_t n_ops = 0;
  int64_t n_steps = 0;
};

Facts Collect(const AnalysisInput& input, const RankView& view) {
  const trace::Trace& trace = view.trace();
  Facts facts;
  facts.kinds = CountKinds(trace.activities);
  facts.modules = CountModules(view);
  facts.launches = CountLaunches(view);
  if (!view.cpu_only()) facts.devices = BuildDeviceRows(view);
  facts.ranks = FindRanks(input);
  facts.n_ops = static_cast<int64_t>(trace.ops.size());
  for (const uint8_t is_op : trace.annotations.is_op) facts.n_ops += is_op;
  facts.n_steps = static_cast<int64_t>(view.attribution().steps.size());
  return facts;
}

table::Value ToValue(const LabelValue& label) {
  if (const auto* number = std::get_if<int64_t>(&label)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&label)) return *text;
  return table::Null();
}

Object ToObject(const std::map<std::string, int64_t>& counts) {
  Object object;
  for (const auto& [key, count] : counts) object.emplace_back(key, count);
  return object;
}

table::Array DevicesToArray(const std::vector<DeviceRow>& devices) {
  table::Array array;
  for (const DeviceRow& device : devices) {
    table::Array streams;
    for (const StreamRow& stream : device.streams) {
      streams.push_back(Object{{"stream", ToValue(stream.stream)},
                               {"pid", ToValue(stream.pid)},
                               {"n", stream.n},
                               {"sum_ns", stream.sum_ns},
                               {"busy_ns", stream.busy_ns}});
    }
    array.push_back(Object{{"device", ToValue(device.device)},
                           {"name", device.name},
                           {"n", device.n},
                           {"sum_ns", device.sum_ns},
                           {"busy_ns", device.busy_ns},
                           {"first_ns", device.first_ns},
                           {"last_ns", device.last_ns},
                           {"streams", std::move(streams)}});
  }
  return array;
}

/// By process: the devices that it has work on.
std::vector<std::set<LabelValue>> DevicesOfProcesses(const RankView& view) {
  std::vector<std::set<LabelValue>> devices(view.trace().processes.size());
  if (view.cpu_only()) return devices;
  for (uint32_t row = 0; row < view.activities().size(); ++row) {
    const trace::ProcessId process = view.attribution().host_process[row];
    if (!process.valid()) continue;
    devices[process.index()].insert(view.DeviceLabel(view.DeviceOf(row)));
  }
  return devices;
}

table::Array ProcessesToArray(const RankView& view) {
  const std::vector<std::set<LabelValue>> devices = DevicesOfProcesses(view);
  table::Array array;
  for (const trace::ProcessId host : view.processes().hosts) {
    table::Array list;
    for (const LabelValue& device : devices[host.index()]) list.push_back(ToValue(device));
    array.push_back(
        Object{{"pid", ToValue(view.PidLabel(host))},
               {"rank", ToValue(view.RankLabel(host))},
               {"name", view.trace().strings[view.trace().processes[host.index()].name]},
               {"devices", std::move(list)}});
  }
  return array;
}

bool IsDatabase(const trace::Trace& trace) {
  return trace.format == trace::TraceFormat::kNsys;
}

table::Value OrNull(bool is_known, int64_t count) {
  return is_known ? table::Value(count) : table::Value(table::Null());
}

/// Null where the table that would tell is lost.
Object LaunchesToObject(const LaunchCounts& launches, const attribution::LostTables& lost) {
  const bool calls = lost.calls == 0 && lost.names == 0;
  const bool both = calls && lost.kernels == 0;
  return {{"n", OrNull(calls, launches.n)},
          {"graph", OrNull(calls, launches.graph)},
          {"without_activity", OrNull(both, launches.without_activity)},
          {"captured", OrNull(both, launches.captured)},
          {"max_kernels", OrNull(both, launches.max_kernels)},
          {"graph_kernels", OrNull(both, launches.graph_kernels)},
          {"max_graph_kernels", OrNull(both, launches.max_graph_kernels)},
          {"graph_kernel_sum_ns", OrNull(both, launches.graph_kernel_sum_ns)}};
}

Object DataOf(const RankView& view, const Facts& facts) {
  const trace::Trace& trace = view.trace();
  const LaunchCounts& launches = facts.launches;
  const ModuleCounts& modules = facts.modules;
  const attribution::LostTables lost = attribution::FindLostTables(trace);
  Object data = {
      {"format", trace::ToString(trace.format)},
      {"n_events", trace.counts.n_events},
      {"by_ph", ToObject(trace.counts.by_ph)},
      {"by_cat", ToObject(trace.counts.by_cat)},
      {"n_kernels", facts.kinds.n_kernels},
      {"n_memcpy", facts.kinds.n_memcpy},
      {"n_memset", facts.kinds.n_memset},
      {"n_graphs", facts.kinds.n_graphs},
      {"kernel_sum_ns", facts.kinds.kernel_ns},
      {"memcpy_sum_ns", facts.kinds.memcpy_ns},
      {"memset_sum_ns", facts.kinds.memset_ns},
      {"graph_sum_ns", facts.kinds.graph_ns},
      {"devices", DevicesToArray(facts.devices)},
      {"launches", LaunchesToObject(launches, lost)},
      {"kernels_without_launch",
       OrNull(lost.calls + lost.names == 0, launches.kernels_without_launch)},
      {"activities_without_call", OrNull(lost.calls == 0, launches.activities_without_call)},
      {"modules", Object{{"n_scopes", modules.n_scopes},
                         {"n_classes", modules.n_classes},
                         {"n_instances", modules.n_instances},
                         {"max_depth", modules.max_depth}}},
      {"n_ops", facts.n_ops},
      {"n_steps", facts.n_steps},
      {"cpu_only", view.cpu_only()},
      {"processes", ProcessesToArray(view)},
      {"ranks", ToObject(facts.ranks)}};
  if (IsDatabase(trace)) data.emplace_back("recording", RecordingObject(trace));
  return data;
}

std::string CountsText(const std::map<std::string, int64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [key, count] : counts)
    parts.push_back(fmt::format("{} {}", key, FormatCount(count)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ProcessesText(const RankView& view) {
  std::vector<std::string> parts;
  for (const trace::ProcessId host : view.processes().hosts) {
    std::string text = view.trace().LabelText(view.trace().processes[host.index()].pid);
    const std::optional<int64_t> rank = view.processes().rank_of[host.index()];
    if (rank && view.processes().many()) text += fmt::format(" = rank {}", *rank);
    parts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Why nothing can be said of launches; null: it can.
const char* UnknownLaunches(const attribution::LostTables& lost) {
  if (lost.calls > 0) return "not known: the file holds no call";
  return lost.names > 0 ? "not known: no call of the file has a name" : nullptr;
}

table::Block FactsBlock(const RankView& view, const Facts& facts) {
  const trace::Trace& trace = view.trace();
  const KindCounts& kinds = facts.kinds;
  const ModuleCounts& modules = facts.modules;
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.title = "File";
  const auto add = [&block](std::string label, std::string text) {
    block.facts.emplace_back(std::move(label), std::move(text));
  };
  add("format", FormatText(trace));
  if (IsDatabase(trace)) {
    add("rows", FormatCount(trace.counts.n_events));
    for (auto& [label, text] : RecordingFacts(trace)) add(label, std::move(text));
  } else {
    add("events",
        fmt::format("{}: {}", FormatCount(trace.counts.n_events), CountsText(trace.counts.by_ph)));
  }
  add("clock span", FormatDuration(trace.end_ns));
  add("ranks", ToText(facts.ranks));
  add("processes", ProcessesText(view));
  if (!trace.metadata.vllm_version.empty()) add("vLLM", trace.metadata.vllm_version);
  add("ops", FormatCount(facts.n_ops));
  const attribution::LostTables lost = attribution::FindLostTables(trace);
  const char* const unknown = UnknownLaunches(lost);
  add("launches", unknown != nullptr ? std::string(unknown)
                                     : LaunchText(facts.launches, kinds.n_graphs, kinds.graph_ns));
  add("module scopes",
      modules.n_scopes == 0
          ? std::string(IsDatabase(trace)
                            ? "none: no NVTX range names a module (`modules` says how to record)"
                            : "none: record with with_stack=True to see modules")
          : fmt::format("{} of {} in {}, {} deep", FormatCounted(modules.n_scopes, "call"),
                        FormatCounted(modules.n_instances, "module"),
                        FormatCounted(modules.n_classes, "class", "classes"), modules.max_depth));
  add("steps", FormatCount(facts.n_steps));
  if (view.cpu_only()) {
    add("GPU", "no activity: a CPU-only trace");
    return block;
  }
  add("GPU",
      fmt::format("{} {}, {} {}, {} {}", FormatCounted(kinds.n_kernels, "kernel"),
                  FormatDuration(kinds.kernel_ns), FormatCounted(kinds.n_memcpy, "copy", "copies"),
                  FormatDuration(kinds.memcpy_ns), FormatCounted(kinds.n_memset, "set"),
                  FormatDuration(kinds.memset_ns)));
  if (kinds.n_graphs > 0) {
    add("whole graphs", fmt::format("{} {}, recorded without kernels",
                                    FormatCounted(kinds.n_graphs, "launch", "launches"),
                                    FormatDuration(kinds.graph_ns)));
  }
  if (unknown != nullptr) return block;
  add("no launch",
      fmt::format("{} ({} of all), {} without any call",
                  FormatCounted(facts.launches.kernels_without_launch, "kernel"),
                  FormatShare(facts.launches.kernels_without_launch, kinds.n_kernels),
                  FormatCounted(facts.launches.activities_without_call, "activity", "activities")));
  return block;
}

struct CategoryRow {
  std::string ph;
  std::string category;
  int64_t n = 0;
};

table::Block CategoriesBlock(const trace::Trace& trace) {
  std::vector<CategoryRow> rows;
  for (const auto& [key, n] : trace.counts.by_cat) {
    const size_t bar = key.find('|');
    rows.push_back({key.substr(0, bar), bar == std::string::npos ? "" : key.substr(bar + 1), n});
  }
  RowTable<CategoryRow> table(std::move(rows));
  table.AddText({.name = "ph"}, &CategoryRow::ph)
      .AddText({.name = "category"}, &CategoryRow::category)
      .AddInt(Count("n", "events"), &CategoryRow::n);
  table::Table result = table.Take();
  result.title = "Events";
  return table::TableBlock(std::move(result));
}

/// The tables of a database that rows were read from.
table::Block TablesBlock(const trace::Trace& trace) {
  std::vector<CategoryRow> rows;
  for (const auto& [name, n] : trace.counts.by_cat) rows.push_back({{}, name, n});
  RowTable<CategoryRow> table(std::move(rows));
  table.AddText(Key("table"), &CategoryRow::category).AddInt(Count("n", "rows"), &CategoryRow::n);
  table::Table result = table.Take();
  result.title = "Tables";
  return table::TableBlock(std::move(result));
}

table::RankResult ComputeRank(const AnalysisInput& input, const RankView& view,
                              const InfoOptions& options) {
  const Facts facts = Collect(input, view);
  table::RankResult result = StartResult(view);
  result.data = DataOf(view, facts);
  result.main_table = "devices";
  if (!options.presentation.for_people) return result;
  result.blocks.push_back(FactsBlock(view, facts));
  if (!facts.devices.empty()) result.blocks.push_back(DevicesBlock(view, facts.devices));
  const trace::Trace& trace = view.trace();
  result.blocks.push_back(IsDatabase(trace) ? TablesBlock(trace) : CategoriesBlock(trace));
  return result;
}

}  // namespace

base::Result<Output> ComputeInfo(const AnalysisInput& input, const InfoOptions& options) {
  Selection files;
  files.rank = options.selection.rank;
  const auto compute = [&](const RankView& view) {
    // --rank chooses files; the figures are of the whole file also when it holds several ranks.
    const RankView whole(view.input(), *input.rules);
    return base::Result<table::RankResult>(ComputeRank(input, whole, options));
  };
  base::Result<Output> output = ForEachRank(input, files, compute, true);
  if (output.ok() && input.ranks.size() > 1) {
    output->reduced = Object{{"ranks", ToObject(FindRanks(input))}};
  }
  return output;
}

}  // namespace layerscope::analysis
