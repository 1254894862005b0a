#include "src/analysis/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "src/analysis/communication.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/module_path.h"
#include "src/analysis/module_range.h"
#include "src/analysis/not_found.h"
#include "src/analysis/selected_host.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kUnattributed = "[unattributed]";

/// Marks on rows and steps that the conditions clear one after the other.
class Chooser {
 public:
  Chooser(RankView& view, const Selection& selection)
      : view_(view),
        wanted_(selection),
        row_(view.activities().size(), 1),
        process_(view.trace().processes.size(), 1),
        step_(view.attribution().steps.size(), 1) {}

  base::Status Choose() {
    if (wanted_.rank) Add(ByRank());
    if (wanted_.pid) Add(ByPid());
    if (wanted_.device) Add(ByDevice());
    if (wanted_.stream) Add(ByStream());
    if (wanted_.steps) Add(ByStep());
    if (wanted_.phase) Add(ByPhase());
    if (wanted_.module) Add(ByModule());
    if (wanted_.from_ns || wanted_.to_ns) Add(ByTime());
    // After the others: the pass whose layer is meant is one that they hold.
    if (wanted_.passes || wanted_.layer) Add(ByPassAndLayer());
    if (wanted_.without_communication) DropCommunication();
    if (!status_.ok()) return status_;
    Apply();
    return {};
  }

 private:
  void Add(base::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const attribution::Attribution& attr() const { return view_.attribution(); }
  const trace::Trace& trace() const { return view_.trace(); }

  template <typename Test>
  void KeepRows(Test test) {
    for (uint32_t row = 0; row < row_.size(); ++row) {
      if (row_[row] != 0 && !test(row)) row_[row] = 0;
    }
  }
  template <typename Test>
  void KeepSteps(Test test) {
    for (uint32_t step = 0; step < step_.size(); ++step) {
      if (step_[step] != 0 && !test(step)) step_[step] = 0;
    }
  }
  void KeepProcesses(const std::vector<uint8_t>& keep) {
    const auto kept = [&](trace::ProcessId process) {
      return process.valid() && keep[process.index()] != 0;
    };
    for (size_t i = 0; i < process_.size(); ++i) process_[i] &= keep[i];
    KeepRows([&](uint32_t row) { return kept(HostOf(row)); });
    KeepSteps([&](uint32_t step) { return kept(view_.ProcessOfStep(step)); });
  }
  /// The host's process of a row; where nothing says which, the pid written on the event.
  trace::ProcessId HostOf(uint32_t row) const {
    const trace::ProcessId host = attr().host_process[row];
    return host.valid() ? host : view_.activities().process[row];
  }
  base::Status ByRank();
  base::Status ByPid();
  base::Status ByDevice();
  base::Status ByStream();
  base::Status ByStep();
  /// The number that --step means by `step`: its index, or its ProfilerStep#N.
  std::optional<int64_t> NumberOf(uint32_t step, bool by_name) const {
    if (!by_name) return view_.StepLabel(step);
    const attribution::Step& named = attr().steps[step];
    if (named.family != attribution::StepFamily::kProfiler) return std::nullopt;
    return named.fields.number;
  }
  base::Status ByPhase();
  base::Status ByPassAndLayer();
  base::Status ByModule();
  base::Status ByTime();
  void DropCommunication();
  void Apply();
  /// Rows launched in a step that is kept, and no others.
  void KeepRowsOfSteps() {
    KeepRows([&](uint32_t row) {
      const attribution::StepId step = attr().step[row];
      return step.valid() && step_[step.index()] != 0;
    });
  }

  RankView& view_;
  const Selection& wanted_;
  std::vector<uint8_t> row_;
  std::vector<uint8_t> process_;  ///< by ProcessId
  std::vector<uint8_t> step_;
  bool rows_decide_ = false;  ///< a step without a selected activity is left out
  base::Status status_;
};

base::Status Chooser::ByRank() {
  const std::vector<std::optional<int64_t>>& rank_of = view_.processes().rank_of;
  const std::vector<trace::ProcessId>& hosts = view_.processes().hosts;
  const bool is_all = std::all_of(hosts.begin(), hosts.end(), [&](trace::ProcessId host) {
    return rank_of[host.index()] == wanted_.rank;
  });
  if (is_all && view_.input().rank == wanted_.rank) return {};
  std::vector<uint8_t> keep(rank_of.size(), 0);
  std::set<int64_t> existing;
  for (const trace::ProcessId host : hosts) {
    const std::optional<int64_t> rank = rank_of[host.index()];
    keep[host.index()] = rank == wanted_.rank ? 1 : 0;
    if (rank) existing.insert(*rank);
  }
  if (hosts.empty() && view_.input().rank) existing.insert(*view_.input().rank);
  if (existing.count(*wanted_.rank) == 0) {
    std::vector<std::string> names;
    for (const int64_t rank : existing) names.push_back(fmt::format("{}", rank));
    return NotFound("rank", fmt::format("{}", *wanted_.rank), names);
  }
  KeepProcesses(keep);
  return {};
}

base::Status Chooser::ByPid() {
  std::vector<uint8_t> keep(trace().processes.size(), 0);
  std::vector<std::string> names;
  bool found = false;
  std::vector<trace::ProcessId> candidates = view_.processes().hosts;
  if (candidates.empty()) {
    for (size_t i = 0; i < trace().processes.size(); ++i) candidates.emplace_back(i);
  }
  for (const trace::ProcessId process : candidates) {
    names.push_back(trace().LabelText(trace().processes[process.index()].pid));
    if (names.back() != *wanted_.pid) continue;
    keep[process.index()] = 1;
    found = true;
  }
  if (!found) return NotFound("process", *wanted_.pid, names);
  KeepProcesses(keep);
  return {};
}

base::Status Chooser::ByDevice() {
  rows_decide_ = true;
  if (view_.cpu_only()) {
    return *wanted_.device == "cpu" ? base::Status() : NotFound("device", *wanted_.device, {"cpu"});
  }
  std::vector<uint8_t> keep(trace().devices.size(), 0);
  std::vector<std::string> names;
  for (size_t i = 0; i < keep.size(); ++i) {
    names.push_back(trace().DeviceText(trace::DeviceId(i)));
    keep[i] = names.back() == *wanted_.device ? 1 : 0;
  }
  if (std::find(keep.begin(), keep.end(), 1) == keep.end()) {
    return NotFound("device", *wanted_.device, names);
  }
  KeepRows([&](uint32_t row) {
    const trace::DeviceId device = view_.DeviceOf(row);
    return device.valid() && keep[device.index()] != 0;
  });
  return {};
}

base::Status Chooser::ByStream() {
  rows_decide_ = true;
  std::vector<uint8_t> keep(trace().streams.size(), 0);
  std::vector<std::string> names;
  for (size_t i = 0; i < keep.size(); ++i) {
    const std::string name = trace().StreamText(trace::StreamId(i));
    keep[i] = name == *wanted_.stream ? 1 : 0;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (std::find(keep.begin(), keep.end(), 1) == keep.end()) {
    return NotFound("stream", *wanted_.stream, names);
  }
  KeepRows([&](uint32_t row) {
    const trace::StreamId stream = view_.activities().stream[row];
    return stream.valid() && keep[stream.index()] != 0;
  });
  return {};
}

base::Status Chooser::ByStep() {
  const int64_t first = wanted_.steps->first;
  const int64_t last = wanted_.steps->second;
  const auto wanted = [&](uint32_t step, bool by_name) {
    const std::optional<int64_t> number = NumberOf(step, by_name);
    return number && first <= *number && *number <= last;
  };
  bool found[] = {false, false};
  std::set<std::string> known;
  std::vector<std::string> names;
  for (uint32_t step = 0; step < step_.size(); ++step) {
    for (const bool by_name : {false, true}) found[by_name] |= wanted(step, by_name);
    std::string name =
        fmt::format("{} ({})", view_.StepLabel(step), trace().strings[attr().steps[step].name]);
    // Several processes have the same step.
    if (known.insert(name).second) names.push_back(std::move(name));
  }
  if (!found[0] && !found[1]) {
    return NotFound("step",
                    first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last),
                    names);
  }
  KeepSteps([&](uint32_t step) { return wanted(step, !found[0]); });
  KeepRowsOfSteps();
  return {};
}

base::Status Chooser::ByPhase() {
  const auto phase_of = [&](uint32_t step) {
    return attribution::ToString(attr().steps[step].fields.phase);
  };
  std::set<std::string> existing;
  for (uint32_t step = 0; step < step_.size(); ++step) {
    if (!phase_of(step).empty()) existing.insert(std::string(phase_of(step)));
  }
  if (existing.count(*wanted_.phase) == 0) {
    return NotFound("phase", *wanted_.phase, {existing.begin(), existing.end()});
  }
  KeepSteps([&](uint32_t step) { return phase_of(step) == *wanted_.phase; });
  KeepRowsOfSteps();
  return {};
}

base::Status Chooser::ByPassAndLayer() {
  rows_decide_ = true;
  if (!status_.ok()) return {};
  const bool others_narrow = std::find(row_.begin(), row_.end(), 0) != row_.end();
  base::Result<LayerRows> rows = ChooseLayerRows(view_.input(), wanted_.passes, wanted_.layer,
                                                 others_narrow ? row_ : std::vector<uint8_t>());
  if (!rows.ok()) return std::move(rows).error();
  KeepRows([&](uint32_t row) { return rows->Contains(row); });
  return {};
}

base::Status Chooser::ByModule() {
  rows_decide_ = true;
  if (*wanted_.module == kUnattributed) {
    KeepRows([&](uint32_t row) { return !attr().module[row].valid(); });
    return {};
  }
  const std::vector<uint8_t> inside = ModulesBelow(view_, *wanted_.module);
  if (std::find(inside.begin(), inside.end(), 1) == inside.end()) {
    const std::optional<ModuleRange> range = ModuleRange::Parse(*wanted_.module);
    if (range && range->irregular()) {
      return base::Error{base::ErrorCode::kNotFound,
                         fmt::format("'{}' stands for modules without a fixed step between their "
                                     "numbers",
                                     *wanted_.module),
                         "select the class, or one of the modules: `layerscope modules "
                         "--no-collapse` lists them"};
    }
    return NotFound("module", *wanted_.module, ModuleNames(view_));
  }
  KeepRows([&](uint32_t row) {
    const attribution::ModuleId module = attr().module[row];
    return module.valid() && inside[module.index()] != 0;
  });
  return {};
}

base::Status Chooser::ByTime() {
  rows_decide_ = true;
  const std::vector<int64_t>& starts = view_.activities().start_ns;
  const auto inside = [&](uint32_t row) {
    return (!wanted_.from_ns || starts[row] >= *wanted_.from_ns) &&
           (!wanted_.to_ns || starts[row] < *wanted_.to_ns);
  };
  bool any = row_.empty();
  for (uint32_t row = 0; row < row_.size() && !any; ++row) any = inside(row);
  if (!any) {
    const auto [first, last] = std::minmax_element(starts.begin(), starts.end());
    return base::Error{base::ErrorCode::kNotFound, "no activity starts between --from and --to",
                       fmt::format("the activities of {} start from {} to {}", view_.input().path,
                                   base::FormatDuration(*first), base::FormatDuration(*last))};
  }
  KeepRows(inside);
  return {};
}

/// The last condition: what it takes away is what the others left.
void Chooser::DropCommunication() {
  int64_t left_out_ns = 0;
  KeepRows([&](uint32_t row) {
    const bool keep = !IsCommunication(view_, row);
    if (!keep && view_.times_fit()) left_out_ns += view_.activities().dur_ns[row];
    return keep;
  });
  view_.SetLeftOutCommunication(left_out_ns);
}

void Chooser::Apply() {
  std::vector<uint32_t> rows;
  std::vector<uint8_t> step_has_rows(step_.size(), 0);
  for (uint32_t row = 0; row < row_.size(); ++row) {
    if (row_[row] == 0) continue;
    rows.push_back(row);
    const attribution::StepId step = attr().step[row];
    if (step.valid()) step_has_rows[step.index()] = 1;
  }
  std::vector<uint32_t> steps;
  for (uint32_t step = 0; step < step_.size(); ++step) {
    if (step_[step] != 0 && (!rows_decide_ || step_has_rows[step] != 0)) steps.push_back(step);
  }
  view_.SetRows(std::move(rows), false);
  view_.SetSteps(std::move(steps));
  view_.SetHost(ChooseHost(wanted_, row_, std::move(process_), view_));
}

}  // namespace

bool Selection::All() const {
  return !rank && !pid && !device && !stream && !steps && !phase && !passes && !layer && !module &&
         !from_ns && !to_ns && !without_communication;
}

bool Selection::ChoosesProcesses() const {
  return !device && !stream && !steps && !phase && !passes && !layer && !module && !from_ns &&
         !to_ns;
}

base::Result<std::vector<RankView>> Select(const AnalysisInput& input, const Selection& selection) {
  if (selection.from_ns && selection.to_ns && *selection.from_ns >= *selection.to_ns) {
    return base::Error{
        base::ErrorCode::kUsage,
        fmt::format("--from {} is not before --to {}", base::FormatDuration(*selection.from_ns),
                    base::FormatDuration(*selection.to_ns)),
        "--from takes the earlier time"};
  }
  std::vector<RankView> views;
  std::optional<base::Error> failure;
  for (const RankInput& rank : input.ranks) {
    RankView view(rank, *input.rules);
    if (!selection.All()) {
      base::Status status = Chooser(view, selection).Choose();
      if (!status.ok()) {
        if (!failure) failure = std::move(status).error();
        continue;
      }
    }
    views.push_back(std::move(view));
  }
  if (views.empty() && failure) {
    if (input.ranks.size() > 1 && selection.rank) {
      std::vector<std::string> names;
      for (const RankInput& rank : input.ranks) {
        if (rank.rank) names.push_back(fmt::format("{}", *rank.rank));
      }
      if (std::find(names.begin(), names.end(), fmt::format("{}", *selection.rank)) ==
          names.end()) {
        return NotFound("rank", fmt::format("{}", *selection.rank), names);
      }
    }
    return *std::move(failure);
  }
  return views;
}

}  // namespace layerscope::analysis
