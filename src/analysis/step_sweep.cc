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
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

/// What steps of one row have in common.
using Point = std::tuple<int64_t, std::optional<int64_t>, std::string_view, LabelValue, LabelValue>;

Point PointOf(const StepSample& sample) {
  return {*sample.batch, sample.past, sample.phase, sample.place.rank, sample.place.device};
}

/// All values of one measure.
struct Values {
  std::vector<int64_t> values;
  int64_t sum = 0;
  void Add(int64_t value) {
    values.push_back(value);
    sum += value;
  }
  int64_t Mean() const { return base::DivideHalfEven(sum, static_cast<int64_t>(values.size())); }
  int64_t Median() const { return LowerMedian(values); }
};

struct StepValues {
  Values host_wall_ns, busy_ns, sum_ns;
  int64_t n_kernels = 0;
};

struct SweepRow {
  StepSample sample;  ///< one of them: batch, past, phase, place, key
  int64_t n_steps = 0;
  int64_t sum_ns = 0, mean_sum_ns = 0, median_sum_ns = 0, n_kernels = 0;
  // Of whole steps, also in the row of a module.
  int64_t mean_host_wall_ns = 0, median_host_wall_ns = 0;
  int64_t mean_busy_ns = 0, median_busy_ns = 0;
  int64_t host_wall_ns = 0, busy_ns = 0;  ///< over all steps

  int64_t mean_gap_ns() const { return base::DivideHalfEven(host_wall_ns - busy_ns, n_steps); }
  std::optional<int64_t> gap_ppm() const {
    if (host_wall_ns <= 0) return std::nullopt;
    return base::PartsPerMillion(host_wall_ns - busy_ns, host_wall_ns);
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
      values.n_kernels += step.n_kernels;
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
    std::map<Key, std::tuple<const StepSample*, Values, int64_t>> groups;
    for (const StepSample& module : modules) {
      if (!module.batch) continue;
      auto& [sample, sums, n_kernels] = groups[{PointOf(module), module.key}];
      if (sample == nullptr) sample = &module;
      sums.Add(module.sum_ns);
      n_kernels += module.n_kernels;
    }
    std::vector<SweepRow> rows;
    for (auto& [key, group] : groups) {
      auto& [sample, sums, n_kernels] = group;
      const auto point = points_.find(key.first);
      // A module of a step that is not among `steps`.
      if (point == points_.end()) continue;
      const StepValues& steps = point->second.second;
      sums.values.resize(std::max(sums.values.size(), steps.sum_ns.values.size()), 0);
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
    row.host_wall_ns = steps.host_wall_ns.sum;
    row.busy_ns = steps.busy_ns.sum;
    return row;
  }
  static void SetSums(const Values& sums, int64_t n_kernels, SweepRow& row) {
    row.sum_ns = sums.sum;
    row.mean_sum_ns = sums.Mean();
    row.median_sum_ns = sums.Median();
    row.n_kernels = n_kernels;
  }

  std::map<Point, std::pair<const StepSample*, StepValues>> points_;
};

int64_t Reduced(int64_t sum, int64_t max, int64_t n, RankReduce how) {
  if (how == RankReduce::kSum) return sum;
  return how == RankReduce::kMax ? max : base::DivideHalfEven(sum, n);
}

/// What a rank is told by.
using Rank = std::tuple<size_t, LabelValue, LabelValue>;
Rank RankOf(const Place& place) {
  return {place.input, place.rank, place.pid};
}

/// Device times of each rank added up: one sample a step, module and rank, in this order.
std::vector<StepSample> OverDevices(const std::vector<StepSample>& samples) {
  std::map<std::tuple<int64_t, std::string_view, Rank>, StepSample> ranks;
  for (const StepSample& sample : samples) {
    const auto [at, is_new] =
        ranks.try_emplace({sample.index, sample.key, RankOf(sample.place)}, sample);
    if (is_new) continue;
    StepSample& sum = at->second;
    sum.host_wall_ns = std::max(sum.host_wall_ns, sample.host_wall_ns);
    sum.busy_ns += sample.busy_ns;
    sum.sum_ns += sample.sum_ns;
    sum.n_kernels += sample.n_kernels;
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
  std::vector<StepSample> most;
  for (const StepSample& sample : OverDevices(samples)) {
    if (sums.empty() || sums.back().index != sample.index || sums.back().key != sample.key) {
      sums.push_back(sample);
      sums.back().place = Place();
      sums.back().n_ranks = 1;
      most.push_back(sample);
      continue;
    }
    ++sums.back().n_ranks;
    for (const auto measure : kMeasures) {
      sums.back().*measure += sample.*measure;
      most.back().*measure = std::max(most.back().*measure, sample.*measure);
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t n_ranks = n_ranks_of(sums[i]);
    for (const auto measure : kMeasures) {
      sums[i].*measure = Reduced(sums[i].*measure, most[i].*measure, n_ranks, how);
    }
  }
  std::map<std::pair<int64_t, std::string_view>, size_t> first;
  for (const StepSample& sample : samples) {
    first.try_emplace({sample.index, sample.key}, first.size());
  }
  std::sort(sums.begin(), sums.end(), [&](const StepSample& a, const StepSample& b) {
    return std::pair(a.index, first.at({a.index, a.key})) <
           std::pair(b.index, first.at({b.index, b.key}));
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
  std::map<int64_t, const StepSample*> step_of;
  for (const StepSample& step : steps) step_of.emplace(step.index, &step);
  std::vector<StepSample> reduced = OverRanks(modules, how, [&](const StepSample& sample) {
    const auto step = step_of.find(sample.index);
    return step == step_of.end() ? sample.n_ranks : std::max(sample.n_ranks, step->second->n_ranks);
  });
  for (StepSample& module : reduced) {
    const auto step = step_of.find(module.index);
    if (step == step_of.end()) continue;
    module.batch = step->second->batch;
    module.past = step->second->past;
    module.phase = step->second->phase;
  }
  return reduced;
}

table::Table ReducedModules(std::vector<StepSample> modules) {
  RowTable<StepSample> table(std::move(modules));
  table.AddInt({.name = "step"}, &StepSample::index);
  AddPoint<StepSample>([](const StepSample& row) -> const StepSample& { return row; }, table);
  table.AddInt(Count("n_ranks", "ranks"), &StepSample::n_ranks)
      .AddText(Key("key", "module"), &StepSample::key)
      .AddInt(Nanoseconds("sum_ns", "sum"), &StepSample::sum_ns)
      .AddInt(Count("n_kernels", "kernels"), &StepSample::n_kernels);
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
  RowTable<SweepRow> table(std::move(rows));
  const auto seen = [](std::string name, bool people) {
    table::ColumnSpec spec;
    spec.name = std::move(name);
    return people ? spec : ForMachines(spec);
  };
  AddPoint<SweepRow>([](const SweepRow& row) -> const StepSample& { return row.sample; }, table);
  table.Add(seen("rank", ranks), [](const SweepRow& row) { return ToCell(row.sample.place.rank); })
      .Add(seen("device", devices),
           [](const SweepRow& row) { return ToCell(row.sample.place.device); });
  if (modules != nullptr) {
    table.Add(Key("key", "module"),
              [](const SweepRow& row) { return std::string_view(row.sample.key); });
  }
  table.AddInt(Count("n_steps", "steps"), &SweepRow::n_steps)
      .AddInt(ForMachines(Nanoseconds("sum_ns", {})), &SweepRow::sum_ns)
      .AddInt(Nanoseconds("mean_sum_ns", "mean sum"), &SweepRow::mean_sum_ns)
      .AddInt(Nanoseconds("median_sum_ns", "median sum"), &SweepRow::median_sum_ns)
      .AddInt(ForMachines(Count("n_kernels", {})), &SweepRow::n_kernels);
  const auto of_step = [&](table::ColumnSpec spec) {
    return modules == nullptr ? spec : ForMachines(std::move(spec));
  };
  table::ColumnSpec share = Nanoseconds("gap_ppm", "gap %");
  share.unit = table::Unit::kPartsPerMillion;
  table.AddInt(of_step(Nanoseconds("mean_host_wall_ns", "mean host")), &SweepRow::mean_host_wall_ns)
      .AddInt(ForMachines(Nanoseconds("median_host_wall_ns", {})), &SweepRow::median_host_wall_ns)
      .AddInt(of_step(Nanoseconds("mean_busy_ns", "mean busy")), &SweepRow::mean_busy_ns)
      .AddInt(ForMachines(Nanoseconds("median_busy_ns", {})), &SweepRow::median_busy_ns)
      .Add(of_step(Nanoseconds("mean_gap_ns", "mean gap")),
           [](const SweepRow& row) { return row.mean_gap_ns(); })
      .Add(of_step(share), [](const SweepRow& row) { return table::CellOrNull(row.gap_ppm()); });
  return table.Take();
}

}  // namespace layerscope::analysis
