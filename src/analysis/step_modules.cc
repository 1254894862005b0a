#include "src/analysis/step_modules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/module_labels.h"
#include "src/analysis/module_path.h"
#include "src/analysis/row_table.h"
#include "src/attribution/module_tree.h"
#include "src/base/check.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using attribution::StepFields;
using table::Cell;
using table::ColumnSpec;

constexpr const char* kUnattributed = "[unattributed]";

/// One step's time in one module.
struct StepModuleRow {
  const StepRow* step = nullptr;
  std::string key;
  std::string class_name;  ///< empty for [unattributed]
  Group group;
};

/// Groups by step and module (and device); activities outside of any step are the group without a
/// step, which `outside` stands for.
std::vector<Group> GroupByStepAndModule(const RankView& view) {
  const attribution::Attribution& attr = view.attribution();
  return GroupBy(view, [&](uint32_t row) {
    GroupKey key;
    const attribution::StepId step = attr.step[row];
    const attribution::ModuleId module = attr.module[row];
    if (!step.valid()) return key;
    if (view.many_devices()) key.device = view.DeviceOf(row);
    key.first = static_cast<uint32_t>(step.index());
    if (module.valid()) key.second = static_cast<uint32_t>(module.index());
    return key;
  });
}

/// The row of a step on the device of an activity; rows are sorted by step.
const StepRow& RowOf(const RankView& view, const std::vector<StepRow>& steps, const Group& group) {
  auto at = std::lower_bound(steps.begin(), steps.end(), group.key.first,
                             [](const StepRow& row, uint32_t step) { return row.step < step; });
  const LabelValue device = view.DeviceLabel(view.DeviceOf(group.first_row));
  while (at != steps.end() && at->place.device != device) ++at;
  LS_CHECK(at != steps.end(), "a step has a row on every device that it used");
  return *at;
}

void SortByStepAndTime(std::vector<StepModuleRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const StepModuleRow& a, const StepModuleRow& b) {
    return a.step != b.step ? a.step < b.step : a.group.sum_ns > b.group.sum_ns;
  });
}

std::vector<StepModuleRow> SplitByModule(const RankView& view, const std::vector<StepRow>& steps) {
  const std::vector<std::string> paths = ModulePaths(view);
  std::vector<StepModuleRow> rows;
  for (const Group& group : GroupByStepAndModule(view)) {
    if (group.key.first == GroupKey::kNone) continue;
    StepModuleRow row;
    row.step = &RowOf(view, steps, group);
    row.group = group;
    row.key = kUnattributed;
    if (group.key.second != GroupKey::kNone) {
      row.key = paths[group.key.second];
      const attribution::ModuleId module(group.key.second);
      row.class_name = view.attribution().modules.ClassOf(module, view.trace());
    }
    rows.push_back(std::move(row));
  }
  SortByStepAndTime(rows);
  return rows;
}

/// Modules of one class and step as one row; its key is the class.
std::vector<StepModuleRow> JoinClasses(std::vector<StepModuleRow> modules) {
  std::map<std::pair<const StepRow*, std::string>, size_t> known;
  std::vector<StepModuleRow> rows;
  for (StepModuleRow& module : modules) {
    module.key = ShownPath(module.class_name.empty() ? module.key : module.class_name);
    const auto [at, is_new] = known.try_emplace({module.step, module.key}, rows.size());
    if (is_new) {
      rows.push_back(std::move(module));
      continue;
    }
    Group& sums = rows[at->second].group;
    sums.n += module.group.n;
    sums.n_kernels += module.group.n_kernels;
    sums.sum_ns += module.group.sum_ns;
  }
  SortByStepAndTime(rows);
  return rows;
}

ColumnSpec ShareOfStep() {
  ColumnSpec share = Count("share_ppm", "share");
  share.unit = table::Unit::kPartsPerMillion;
  share.audience = table::Audience::kPeople;
  share.note = "share: of the step's time";
  return share;
}

table::Table TableOf(const RankView& view, std::shared_ptr<const std::vector<StepRow>> kept,
                     std::vector<StepModuleRow> modules, const std::string& key_title) {
  RowTable<StepModuleRow> rows(std::move(modules));
  const auto plain = [](std::string name, bool people) {
    ColumnSpec spec;
    spec.name = std::move(name);
    return people ? spec : ForMachines(spec);
  };
  const auto count = [](std::string name, std::string title, bool people) {
    const ColumnSpec spec = Count(std::move(name), std::move(title));
    return people ? spec : ForMachines(spec);
  };
  const auto field = [](std::optional<int64_t> StepFields::*member) {
    return
        [member](const StepModuleRow& row) { return table::CellOrNull(row.step->fields.*member); };
  };
  const PlaceColumns places = PlacesToShow(view);
  rows.Add(plain("step", true), [](const StepModuleRow& row) { return row.step->index; })
      .Add(plain("phase", true),
           [](const StepModuleRow& row) { return table::TextCellOrNull(row.step->phase); })
      .Add(Count("batch", "reqs"), field(&StepFields::requests))
      .Add(Count("past", "past"), field(&StepFields::past))
      .Add(plain("rank", places.rank),
           [](const StepModuleRow& row) { return ToCell(row.step->place.rank); })
      .AddText(Key("key", key_title), &StepModuleRow::key)
      .Add(plain("class", false),
           [](const StepModuleRow& row) { return table::TextCellOrNull(row.class_name); })
      .Add(Nanoseconds("sum_ns", view.cpu_only() ? "CPU time" : "GPU time"),
           [](const StepModuleRow& row) { return row.group.sum_ns; })
      .Add(ShareOfStep(),
           [](const StepModuleRow& row) -> Cell {
             if (row.step->sum_ns <= 0) return table::Null();
             return base::PartsPerMillion(row.group.sum_ns, row.step->sum_ns);
           })
      .Add(count("n_kernels", "kernels", !view.cpu_only()),
           [](const StepModuleRow& row) { return row.group.n_kernels; })
      .Add(count("n_activities", "ops", view.cpu_only()),
           [](const StepModuleRow& row) { return row.group.n; })
      .Add(plain("device", places.device),
           [](const StepModuleRow& row) { return ToCell(row.step->place.device); })
      .Add(plain("evidence", false),
           [](const StepModuleRow& row) { return Cell(ToCellMap(row.group.evidence_ns)); });
  table::Table table = rows.Take();
  table.owned.push_back(std::move(kept));
  return table;
}

}  // namespace

table::Table StepModuleTable(const RankView& view, const std::vector<StepRow>& steps) {
  auto kept = std::make_shared<const std::vector<StepRow>>(steps);
  std::vector<StepModuleRow> rows = SplitByModule(view, *kept);
  return TableOf(view, std::move(kept), std::move(rows), "module");
}

table::Table StepClassTable(const RankView& view, const std::vector<StepRow>& steps) {
  auto kept = std::make_shared<const std::vector<StepRow>>(steps);
  std::vector<StepModuleRow> rows = JoinClasses(SplitByModule(view, *kept));
  return TableOf(view, std::move(kept), std::move(rows), "module");
}

namespace {

std::vector<StepSample> SamplesOf(std::vector<StepModuleRow> modules,
                                  const std::vector<StepRow>& steps) {
  const std::vector<StepSample> whole = StepSamples(steps);
  std::map<std::pair<const StepRow*, std::string>, size_t> known;
  std::vector<StepSample> samples;
  for (StepModuleRow& module : modules) {
    const auto [at, is_new] = known.try_emplace({module.step, module.key}, samples.size());
    if (is_new) {
      samples.push_back(whole[static_cast<size_t>(module.step - steps.data())]);
      samples.back().key = std::move(module.key);
      samples.back().sum_ns = samples.back().n_kernels = 0;
    }
    *samples[at->second].sum_ns += module.group.sum_ns;
    *samples[at->second].n_kernels += module.group.n_kernels;
  }
  return samples;
}

}  // namespace

std::vector<StepSample> StepModuleSamples(const RankView& view, const std::vector<StepRow>& steps) {
  return SamplesOf(SplitByModule(view, steps), steps);
}

std::vector<StepSample> StepClassSamples(const RankView& view, const std::vector<StepRow>& steps) {
  return SamplesOf(JoinClasses(SplitByModule(view, steps)), steps);
}

}  // namespace layerscope::analysis
