#include "src/analysis/step_sweep.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/median.h"
#include "src/analysis/row_table.h"
#include "src/analysis/step_gap.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

/// What steps of one row have in common.
using Point = std::tuple<int64_t, std::optional<int64_t>, std::string_view, LaunchMode, LabelValue,
                         LabelValue>;

Point PointOf(const StepSample& sample) {
  return {*sample.batch, sample.past,       sample.phase,
          sample.mode,   sample.place.rank, sample.place.device};
}

/// All values of one measure; nothing of it is known where one is not or their sum does not fit.
struct Values {
  std::vector<int64_t> values;
  RankMeasure measure;
  bool known = true;

  void Add(std::optional<int64_t> value) {
    known = known && value.has_value();
    values.push_back(value.value_or(0));
    measure.Add(values.back());
  }
  /// As many values as `n`, the missing ones 0.
  void FillUpTo(size_t n) {
    if (n <= values.size()) return;
    measure.AddZeros(static_cast<int64_t>(n - values.size()));
    values.resize(n, 0);
  }
  std::optional<int64_t> Sum() const { return Over(RankReduce::kSum); }
  std::optional<int64_t> Mean() const { return Over(RankReduce::kMean); }
  std::optional<int64_t> Median() const {
    return known ? std::optional<int64_t>(LowerMedian(values)) : std::nullopt;
  }

 private:
  std::optional<int64_t> Over(RankReduce how) const {
    return known ? measure.Reduced(how) : std::nullopt;
  }
};

struct StepValues {
  Values host_wall_ns, busy_ns, sum_ns, n_kernels;
};

struct SweepRow {
  using Figure = std::optional<int64_t>;
  StepSample sample;  ///< one of them: batch, past, phase, place, key
  int64_t n_steps = 0;
  Figure sum_ns, mean_sum_ns, median_sum_ns, n_kernels;
  // Of whole steps, also in the row of a module.
  Figure mean_host_wall_ns, median_host_wall_ns;
  Figure mean_busy_ns, median_busy_ns;
  Figure host_wall_ns, busy_ns;  ///< over all steps

  /// Over all steps.
  std::optional<StepGap> gap() const {
    int64_t gap_ns = 0;
    const bool fits =
        host_wall_ns && busy_ns && !__builtin_sub_overflow(*host_wall_ns, *busy_ns, &gap_ns);
    return fits ? std::optional(StepGap{*host_wall_ns, *busy_ns}) : std::nullopt;
  }
  Figure mean_gap_ns() const {
    const std::optional<StepGap> sum = gap();
    return sum ? Figure(base::DivideHalfEven(sum->ns(), n_steps)) : std::nullopt;
  }
  Figure gap_ppm() const {
    const std::optional<StepGap> sum = gap();
    return sum ? sum->ppm() : std::nullopt;
  }
};

class Sweep {
 public:
  explicit Sweep(const std::vector<StepSample>& steps) {
    for (const StepSample& step : steps) {
      if (!step.batch) continue;
      auto& [sample, values] = points_[PointOf(step)];
      if (sample == nullptr) sample = &step;
      values.host_wall_ns.Add(step.host_wall_ns);
      values.busy_ns.Add(step.busy_ns);
      values.sum_ns.Add(step.sum_ns);
      values.n_kernels.Add(step.n_kernels);
    }
  }

  std::vector<SweepRow> Steps() const {
    std::vector<SweepRow> rows;
    for (const auto& [point, of_point] : points_) {
      SweepRow row = Start(*of_point.first, of_point.second);
      SetSums(of_point.second.sum_ns, of_point.second.n_kernels, row);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  std::vector<SweepRow> Modules(const std::vector<StepSample>& modules) const {
    using Key = std::pair<Point, std::string_view>;
    std::map<Key, std::tuple<const StepSample*, Values, Values>> groups;
    for (const StepSample& module : modules) {
      if (!module.batch) continue;
      auto& [sample, sums, n_kernels] = groups[{PointOf(module), module.key}];
      if (sample == nullptr) sample = &module;
      sums.Add(module.sum_ns);
      n_kernels.Add(module.n_kernels);
    }
    std::vector<SweepRow> rows;
    for (auto& [key, group] : groups) {
      auto& [sample, sums, n_kernels] = group;
      const auto point = points_.find(key.first);
      // A module of a step that is not among `steps`.
      if (point == points_.end()) continue;
      const StepValues& steps = point->second.second;
      sums.FillUpTo(steps.sum_ns.values.size());
      SweepRow row = Start(*sample, steps);
      SetSums(sums, n_kernels, row);
      rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const SweepRow& a, const SweepRow& b) {
      const Point left = PointOf(a.sample);
      const Point right = PointOf(b.sample);
      return left != right ? left < right : a.sum_ns > b.sum_ns;
    });
    return rows;
  }

 private:
  static SweepRow Start(const StepSample& sample, const StepValues& steps) {
    SweepRow row;
    row.sample = sample;
    row.n_steps = static_cast<int64_t>(steps.sum_ns.values.size());
    row.mean_host_wall_ns = steps.host_wall_ns.Mean();
    row.median_host_wall_ns = steps.host_wall_ns.Median();
    row.mean_busy_ns = steps.busy_ns.Mean();
    row.median_busy_ns = steps.busy_ns.Median();
    row.host_wall_ns = steps.host_wall_ns.Sum();
    row.busy_ns = steps.busy_ns.Sum();
    return row;
  }
  static void SetSums(const Values& sums, const Values& n_kernels, SweepRow& row) {
    row.sum_ns = sums.Sum();
    row.mean_sum_ns = sums.Mean();
    row.median_sum_ns = sums.Median();
    row.n_kernels = n_kernels.Sum();
  }

  std::map<Point, std::pair<const StepSample*, StepValues>> points_;
};

/// What a step of the run is told by, over its ranks: recordings may number theirs alike.
using StepKey = std::pair<std::string_view, int64_t>;
StepKey KeyOf(const StepSample& sample) {
  return {sample.place.recording, sample.index};
}

/// What a rank is told by.
using Rank = std::tuple<size_t, LabelValue, LabelValue>;
Rank RankOf(const Place& place) {
  return {place.input, place.rank, place.pid};
}

/// Device times of each rank added up: one sample a step, module and rank, in this order. Those of
/// one file fit (RankView::times_fit).
std::vector<StepSample> OverDevices(const std::vector<StepSample>& samples) {
  std::map<std::tuple<StepKey, std::string_view, Rank>, StepSample> ranks;
  for (const StepSample& sample : samples) {
    const auto [at, is_new] =
        ranks.try_emplace({KeyOf(sample), sample.key, RankOf(sample.place)}, sample);
    if (is_new) continue;
    StepSample& sum = at->second;
    sum.host_wall_ns = std::max(sum.host_wall_ns, sample.host_wall_ns);
    *sum.busy_ns += *sample.busy_ns;
    *sum.sum_ns += *sample.sum_ns;
    *sum.n_kernels += *sample.n_kernels;
  }
  std::vector<StepSample> sums;
  sums.reserve(ranks.size());
  for (auto& [key, sum] : ranks) sums.push_back(std::move(sum));
  return sums;
}

/// One sample a step and module. `n_ranks_of` says over how many ranks a sample's mean goes.
template <typename RanksOf>
std::vector<StepSample> OverRanks(const std::vector<StepSample>& samples, RankReduce how,
                                  RanksOf n_ranks_of) {
  constexpr std::array kMeasures = {&StepSample::host_wall_ns, &StepSample::busy_ns,
                                    &StepSample::sum_ns, &StepSample::n_kernels};
  std::vector<StepSample> sums;
  std::vector<std::array<RankMeasure, kMeasures.size()>> measures;
  for (const StepSample& sample : OverDevices(samples)) {
    if (sums.empty() || KeyOf(sums.back()) != KeyOf(sample) || sums.back().key != sample.key) {
      sums.push_back(sample);
      sums.back().place = Place();
      sums.back().place.recording = sample.place.recording;
      sums.back().n_ranks = 0;
      measures.emplace_back();
    }
    ++sums.back().n_ranks;
    for (size_t i = 0; i < kMeasures.size(); ++i) measures.back()[i].Add(*(sample.*kMeasures[i]));
  }
  for (size_t row = 0; row < sums.size(); ++row) {
    const int64_t n_without = n_ranks_of(sums[row]) - sums[row].n_ranks;
    for (size_t i = 0; i < kMeasures.size(); ++i) {
      measures[row][i].AddZeros(n_without);
      sums[row].*kMeasures[i] = measures[row][i].Reduced(how);
    }
  }
  std::map<std::pair<StepKey, std::string_view>, size_t> first;
  for (const StepSample& sample : samples) {
    first.try_emplace({KeyOf(sample), sample.key}, first.size());
  }
  std::sort(sums.begin(), sums.end(), [&](const StepSample& a, const StepSample& b) {
    return std::pair(KeyOf(a), first.at({KeyOf(a), a.key})) <
           std::pair(KeyOf(b), first.at({KeyOf(b), b.key}));
  });
  return sums;
}

/// A step without activities has no device of its own: it gets that of its rank, where there is
/// one.
void PlaceEmptySteps(std::vector<StepSample>& samples) {
  std::map<Rank, std::set<LabelValue>> devices;
  for (const StepSample& sample : samples) {
    if (sample.place.device == LabelValue()) continue;
    devices[RankOf(sample.place)].insert(sample.place.device);
  }
  for (StepSample& sample : samples) {
    if (sample.place.device != LabelValue()) continue;
    const auto found = devices.find(RankOf(sample.place));
    if (found != devices.end() && found->second.size() == 1) {
      sample.place.device = *found->second.begin();
    }
  }
}

/// Adds the columns that samples share.
template <typename Row, typename SampleOf>
void AddPoint(SampleOf sample_of, RowTable<Row>& table) {
  table
      .Add(Count("batch", "reqs"),
           [sample_of](const Row& row) { return table::CellOrNull(sample_of(row).batch); })
      .Add(Count("past", "past"),
           [sample_of](const Row& row) { return table::CellOrNull(sample_of(row).past); })
      .Add({.name = "phase"},
           [sample_of](const Row& row) { return table::TextCellOrNull(sample_of(row).phase); });
}

/// A cell of a figure that may be unknown.
template <typename Row>
auto CellOf(std::optional<int64_t> Row::*figure) {
  return [figure](const Row& row) { return table::CellOrNull(row.*figure); };
}

/// Two rows that nothing else tells apart.
bool DifferInMode(const std::vector<SweepRow>& rows) {
  std::map<Point, LaunchMode> mode_of;
  return std::any_of(rows.begin(), rows.end(), [&mode_of](const SweepRow& row) {
    Point point = PointOf(row.sample);
    std::get<LaunchMode>(point) = LaunchMode::kNone;
    return mode_of.emplace(point, row.sample.mode).first->second != row.sample.mode;
  });
}

}  // namespace

std::vector<StepSample> StepSamples(const std::vector<StepRow>& rows) {
  std::vector<StepSample> samples;
  samples.reserve(rows.size());
  for (const StepRow& row : rows) {
    StepSample& sample = samples.emplace_back();
    sample.index = row.index;
    sample.batch = row.fields.requests;
    sample.past = row.fields.past;
    sample.phase = row.phase;
    if (row.phase.empty()) sample.mode = row.launch_mode();
    sample.place = row.place;
    sample.host_wall_ns = row.cpu_ns;
    sample.busy_ns = row.busy_ns;
    sample.sum_ns = row.sum_ns;
    sample.n_kernels = row.n_kernels;
  }
  PlaceEmptySteps(samples);
  return samples;
}

std::vector<StepSample> ReduceStepSamples(const std::vector<StepSample>& steps, RankReduce how) {
  return OverRanks(steps, how, [](const StepSample& sample) { return sample.n_ranks; });
}

std::vector<StepSample> ReduceModuleSamples(const std::vector<StepSample>& modules,
                                            const std::vector<StepSample>& steps, RankReduce how) {
  std::map<StepKey, const StepSample*> step_of;
  for (const StepSample& step : steps) step_of.emplace(KeyOf(step), &step);
  std::vector<StepSample> reduced = OverRanks(modules, how, [&](const StepSample& sample) {
    const auto step = step_of.find(KeyOf(sample));
    return step == step_of.end() ? sample.n_ranks : std::max(sample.n_ranks, step->second->n_ranks);
  });
  for (StepSample& module : reduced) {
    const auto step = step_of.find(KeyOf(module));
    if (step == step_of.end()) continue;
    module.batch = step->second->batch;
    module.past = step->second->past;
    module.phase = step->second->phase;
    module.mode = step->second->mode;
  }
  return reduced;
}

table::Table ReducedModules(std::vector<StepSample> modules) {
  const bool recordings = std::any_of(modules.begin(), modules.end(), [](const StepSample& row) {
    return !row.place.recording.empty();
  });
  RowTable<StepSample> table(std::move(modules));
  if (recordings) AddRecording(&StepSample::place, table);
  table.AddInt({.name = "step"}, &StepSample::index);
  AddPoint<StepSample>([](const StepSample& row) -> const StepSample& { return row; }, table);
  table.AddInt(Count("n_ranks", "ranks"), &StepSample::n_ranks)
      .AddText(Key("key", "module"), &StepSample::key)
      .Add(Nanoseconds("sum_ns", "sum"), CellOf(&StepSample::sum_ns))
      .Add(Count("n_kernels", "kernels"), CellOf(&StepSample::n_kernels));
  return table.Take();
}

table::Table SweepTable(const std::vector<StepSample>& steps,
                        const std::vector<StepSample>* modules) {
  const Sweep sweep(steps);
  std::vector<SweepRow> rows = modules == nullptr ? sweep.Steps() : sweep.Modules(*modules);
  const auto any = [&](auto test) { return std::any_of(rows.begin(), rows.end(), test); };
  const bool ranks = any(
      [&](const SweepRow& row) { return row.sample.place.rank != rows.front().sample.place.rank; });
  const bool devices = any([&](const SweepRow& row) {
    return row.sample.place.device != rows.front().sample.place.device;
  });
  const bool modes = DifferInMode(rows);
  RowTable<SweepRow> table(std::move(rows));
  const auto seen = [](std::string name, bool people) {
    table::ColumnSpec spec;
    spec.name = std::move(name);
    return people ? spec : ForMachines(spec);
  };
  AddPoint<SweepRow>([](const SweepRow& row) -> const StepSample& { return row.sample; }, table);
  table::ColumnSpec mode = seen("launch_mode", modes);
  mode.title = "mode";
  table
      .Add(std::move(mode),
           [](const SweepRow& row) -> table::Cell {
             const std::string_view text = ToString(row.sample.mode);
             if (text.empty()) return table::Null();
             return text;
           })
      .Add(seen("rank", ranks), [](const SweepRow& row) { return ToCell(row.sample.place.rank); })
      .Add(seen("device", devices),
           [](const SweepRow& row) { return ToCell(row.sample.place.device); });
  if (modules != nullptr) {
    table.Add(Key("key", "module"),
              [](const SweepRow& row) { return std::string_view(row.sample.key); });
  }
  table.AddInt(Count("n_steps", "steps"), &SweepRow::n_steps)
      .Add(ForMachines(Nanoseconds("sum_ns", {})), CellOf(&SweepRow::sum_ns))
      .Add(Nanoseconds("mean_sum_ns", "mean sum"), CellOf(&SweepRow::mean_sum_ns))
      .Add(Nanoseconds("median_sum_ns", "median sum"), CellOf(&SweepRow::median_sum_ns))
      .Add(ForMachines(Count("n_kernels", {})), CellOf(&SweepRow::n_kernels));
  const auto of_step = [&](table::ColumnSpec spec) {
    return modules == nullptr ? spec : ForMachines(std::move(spec));
  };
  table::ColumnSpec share = Nanoseconds("gap_ppm", "gap %");
  share.unit = table::Unit::kPartsPerMillion;
  table
      .Add(of_step(Nanoseconds("mean_host_wall_ns", "mean host")),
           CellOf(&SweepRow::mean_host_wall_ns))
      .Add(ForMachines(Nanoseconds("median_host_wall_ns", {})),
           CellOf(&SweepRow::median_host_wall_ns))
      .Add(of_step(Nanoseconds("mean_busy_ns", "mean busy")), CellOf(&SweepRow::mean_busy_ns))
      .Add(ForMachines(Nanoseconds("median_busy_ns", {})), CellOf(&SweepRow::median_busy_ns))
      .Add(of_step(Nanoseconds("mean_gap_ns", "mean gap")),
           [](const SweepRow& row) { return table::CellOrNull(row.mean_gap_ns()); })
      .Add(of_step(share), [](const SweepRow& row) { return table::CellOrNull(row.gap_ppm()); });
  return table.Take();
}

}  // namespace layerscope::analysis
