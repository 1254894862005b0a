#include "src/analysis/rank_view.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "src/base/check.h"

namespace layerscope::analysis {
namespace {

/// Every partial sum of lengths is bounded by the sum of their magnitudes, so one check covers all.
bool TimesFit(const trace::Activities& activities) {
  int64_t magnitude = 0;
  for (size_t i = 0; i < activities.size(); ++i) {
    int64_t end = 0;
    const int64_t dur = activities.dur_ns[i];
    if (__builtin_add_overflow(activities.start_ns[i], dur, &end)) return false;
    if (__builtin_add_overflow(magnitude, dur < 0 ? -dur : dur, &magnitude)) return false;
  }
  return true;
}

}  // namespace

RankView::RankView(const RankInput& input, const kernel_names::RuleSet& rules)
    : input_(&input),
      rules_(&rules),
      activities_(&input.attribution->rows(*input.trace)),
      processes_(RanksOfProcesses(input)),
      times_fit_(TimesFit(*activities_)) {
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
  std::vector<int64_t> next(trace().processes.size() + 1, 0);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const trace::ProcessId process = ProcessOfStep(i);
    const size_t slot = process.valid() ? process.index() : trace().processes.size();
    const int64_t position = next[slot]++;
    const bool is_bench = steps[i].family == attribution::StepFamily::kBench;
    step_labels_.push_back(is_bench ? steps[i].fields.number.value_or(position) : position);
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
  std::vector<uint8_t> seen(trace().ops.size(), 0);
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
