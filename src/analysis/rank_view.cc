#include "src/analysis/rank_view.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "src/base/check.h"

namespace layerscope::analysis {
namespace {

/// Adds the magnitudes of lengths; false once they no longer fit.
bool AddLengths(const std::vector<int64_t>& dur_ns, int64_t& magnitude) {
  for (const int64_t dur : dur_ns) {
    if (__builtin_add_overflow(magnitude, dur < 0 ? -dur : dur, &magnitude)) return false;
  }
  return true;
}

/// Every partial sum of lengths is bounded by the sum of their magnitudes, and every sum of walls
/// and spans by the whole span, once a device and once a step: one check covers all sums of all
/// analyses.
bool TimesFit(const RankInput& input, const trace::Activities& activities) {
  int64_t lengths = 0;
  int64_t scopes = 0;
  if (!AddLengths(activities.dur_ns, lengths)) return false;
  if (!AddLengths(input.trace->scopes.dur_ns, scopes)) return false;
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < activities.size(); ++i) {
    int64_t end = 0;
    if (__builtin_add_overflow(activities.start_ns[i], activities.dur_ns[i], &end)) return false;
    first = std::min({first, activities.start_ns[i], end});
    last = std::max({last, activities.start_ns[i], end});
  }
  for (const attribution::Step& step : input.attribution->steps) {
    first = std::min(first, step.start_ns);
    last = std::max(last, step.start_ns + std::max<int64_t>(step.dur_ns, 0));
  }
  if (first > last) return true;
  const auto n_windows =
      static_cast<int64_t>(input.trace->devices.size() + input.attribution->steps.size() + 1);
  int64_t span = 0;
  return !__builtin_sub_overflow(last, first, &span) &&
         !__builtin_mul_overflow(span, n_windows, &span);
}

}  // namespace

int64_t FirstUnmarkedStep(const attribution::Attribution& attribution) {
  int64_t first = 0;
  for (const attribution::Step& step : attribution.steps) {
    first = std::max(first, step.fields.bench_number.value_or(-1) + 1);
  }
  return first;
}

RankView::RankView(const RankInput& input, const kernel_names::RuleSet& rules)
    : input_(&input),
      rules_(&rules),
      activities_(&input.attribution->rows(*input.trace)),
      processes_(RanksOfProcesses(input)),
      times_fit_(TimesFit(input, *activities_)) {
  trace::DeviceId first;
  for (const trace::StreamId stream : activities_->stream) {
    if (!stream.valid()) continue;
    const trace::DeviceId device = trace().DeviceOf(stream);
    if (!first.valid()) first = device;
    many_devices_ |= device != first;
  }
  LabelSteps();
  std::vector<uint32_t> rows(activities_->size());
  std::iota(rows.begin(), rows.end(), 0U);
  SetRows(std::move(rows), true);
  file_total_ns_ = total_ns_;
  steps_.resize(attribution().steps.size());
  std::iota(steps_.begin(), steps_.end(), 0U);
}

void RankView::LabelSteps() {
  const std::vector<attribution::Step>& steps = attribution().steps;
  const int64_t first = std::max(input_->first_unmarked_step, FirstUnmarkedStep(attribution()));
  std::vector<int64_t> next(trace().processes.size() + 1, first);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const trace::ProcessId process = ProcessOfStep(i);
    const size_t slot = process.valid() ? process.index() : trace().processes.size();
    const std::optional<int64_t> marked = steps[i].fields.bench_number;
    step_labels_.push_back(marked ? *marked : next[slot]++);
  }
}

void RankView::SetRows(std::vector<uint32_t> rows, bool all) {
  rows_ = std::move(rows);
  selects_all_ = all;
  total_ns_ = 0;
  if (times_fit_) {
    for (const uint32_t row : rows_) total_ns_ += activities_->dur_ns[row];
  }
  if (cpu_only()) CountOps();
}

void RankView::CountOps() {
  counts_.assign(activities_->size(), 0);
  std::vector<uint8_t> seen(trace().ops.size() + attribution().replayed_ops.size(), 0);
  for (const uint32_t row : rows_) {
    const trace::OpId op = attribution().op[row];
    if (op.valid() && seen[op.index()] != 0) continue;
    if (op.valid()) seen[op.index()] = 1;
    counts_[row] = 1;
  }
}

table::Cell ToCell(const LabelValue& label) {
  return std::visit([](const auto& value) { return table::Cell(value); }, label);
}

trace::DeviceId RankView::DeviceOf(uint32_t row) const {
  const trace::StreamId stream = activities_->stream[row];
  return stream.valid() ? trace().DeviceOf(stream) : trace::DeviceId();
}

std::vector<uint32_t> RankView::RowsByDeviceAndStart() const {
  struct Key {
    int64_t start_ns;
    uint32_t row;
    uint32_t device;
  };
  std::vector<Key> keys;
  keys.reserve(rows_.size());
  for (const uint32_t row : rows_) {
    const trace::DeviceId device = DeviceOf(row);
    keys.push_back({activities_->start_ns[row], row, static_cast<uint32_t>(device.index())});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return std::tuple(a.device, a.start_ns, a.row) < std::tuple(b.device, b.start_ns, b.row);
  });
  std::vector<uint32_t> rows;
  rows.reserve(keys.size());
  for (const Key& key : keys) rows.push_back(key.row);
  return rows;
}

LabelValue RankView::LabelOf(const trace::Label& label) const {
  if (label.text.valid()) return trace().strings[label.text];
  return label.number;
}

LabelValue RankView::DeviceLabel(trace::DeviceId device) const {
  if (!device.valid()) return std::string_view("cpu");
  return LabelOf(trace().devices[device.index()].id);
}

LabelValue RankView::PidLabel(trace::ProcessId process) const {
  if (!process.valid()) return std::monostate();
  return LabelOf(trace().processes[process.index()].pid);
}

LabelValue RankView::RankLabel(trace::ProcessId process) const {
  const std::optional<int64_t> rank =
      process.valid() ? processes_.rank_of[process.index()] : input_->rank;
  if (!rank) return std::monostate();
  return *rank;
}

trace::ProcessId RankView::ProcessOfStep(uint32_t step) const {
  const trace::ThreadId thread = attribution().steps[step].thread;
  return thread.valid() ? trace().threads[thread.index()].process : trace::ProcessId();
}

}  // namespace layerscope::analysis
