#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/process_ranks.h"
#include "src/table/column.h"

namespace layerscope::analysis {

/// A rank, pid, device or stream as a row shows it: a number, or text that lives as long as the
/// trace; nothing = unknown, or several.
using LabelValue = std::variant<std::monostate, int64_t, std::string_view>;
table::Cell ToCell(const LabelValue& label);

/// Where numbers of unmarked steps begin: behind the largest N of bench_step::N; 0 without one.
int64_t FirstUnmarkedStep(const attribution::Attribution& attribution);

/// What a selection takes of the host beside what encloses the launches of its activities, so that
/// what launched nothing, or lost its launch, is not left out.
struct HostChoice {
  std::vector<uint8_t> process;  ///< by ProcessId: 0 = left out by --pid or --rank
  bool whole_processes = false;  ///< all that these did: nothing else is asked for
  /// By step: 1 = all that begins in it. It was chosen as a step and nothing narrower, or all that
  /// it launched is selected.
  std::vector<uint8_t> whole_step;
  /// From, and to where it ends, excluded: all that touches it. Absent where more is asked for.
  std::optional<std::pair<int64_t, int64_t>> time;
};

/// One file with a selection applied: which activities and steps the analyses look at. A row is an
/// index into `activities()` and into the columns of Attribution.
class RankView {
 public:
  RankView(const RankInput& input, const kernel_names::RuleSet& rules);

  const RankInput& input() const { return *input_; }
  const trace::Trace& trace() const { return *input_->trace; }
  const attribution::Attribution& attribution() const { return *input_->attribution; }
  const kernel_names::RuleSet& rules() const { return *rules_; }
  const trace::Activities& activities() const { return *activities_; }
  bool cpu_only() const { return attribution().cpu_only; }
  const ProcessRanks& processes() const { return processes_; }

  /// The selected rows, in file order, and the selected steps, by index into Attribution::steps.
  const std::vector<uint32_t>& rows() const { return rows_; }
  const std::vector<uint32_t>& steps() const { return steps_; }
  bool selects_all() const { return selects_all_; }
  void SetRows(std::vector<uint32_t> rows, bool all);
  void SetSteps(std::vector<uint32_t> steps) { steps_ = std::move(steps); }
  /// What of the host is selected by itself; SelectedHost answers by it.
  const HostChoice& host() const { return host_; }
  void SetHost(HostChoice host) { host_ = std::move(host); }
  /// All that a process did on the host is selected, also what launched nothing: so without a
  /// selection, or where it chooses processes alone.
  bool SelectsHost(trace::ProcessId process) const {
    return selects_all_ ||
           (host_.whole_processes && process.valid() && host_.process[process.index()] != 0);
  }

  /// 1 for a GPU activity; of the rows of one op in a CPU-only trace, 1 for the first selected.
  int64_t CountOf(uint32_t row) const { return counts_.empty() ? 1 : counts_[row]; }
  bool IsKernel(uint32_t row) const {
    return activities_->kind[row] == trace::ActivityKind::kKernel;
  }
  bool IsCopy(uint32_t row) const {
    return activities_->kind[row] == trace::ActivityKind::kMemcpy ||
           activities_->kind[row] == trace::ActivityKind::kMemset;
  }
  /// Invalid for rows without a stream (CPU-only traces).
  trace::DeviceId DeviceOf(uint32_t row) const;
  /// The selected rows by (device, start, file order): what interval unions want.
  std::vector<uint32_t> RowsByDeviceAndStart() const;

  /// True when the trace (not only the selection) has activities on several devices.
  bool many_devices() const { return many_devices_; }
  /// "cpu" for rows without a device.
  LabelValue DeviceLabel(trace::DeviceId device) const;
  LabelValue PidLabel(trace::ProcessId process) const;
  LabelValue RankLabel(trace::ProcessId process) const;
  /// A pid, tid, device or stream as written.
  LabelValue LabelOf(const trace::Label& label) const;
  /// What --step selects: of bench_step::N the N, of another step its position among those of its
  /// process; where a file of the run has both, unmarked steps count on behind the largest N.
  int64_t StepLabel(uint32_t step) const { return step_labels_[step]; }
  trace::ProcessId ProcessOfStep(uint32_t step) const;

  /// Sum of the selected activities' lengths, and of all in the file.
  int64_t total_ns() const { return total_ns_; }
  int64_t file_total_ns() const { return file_total_ns_; }
  /// What the selection would hold more if communication were not left out (--no-comm).
  int64_t left_out_communication_ns() const { return left_out_communication_ns_; }
  void SetLeftOutCommunication(int64_t ns) { left_out_communication_ns_ = ns; }
  /// False when lengths or ends of this trace do not fit into 64 bits: no sum is then formed.
  bool times_fit() const { return times_fit_; }

 private:
  void LabelSteps();
  void CountOps();

  const RankInput* input_;
  const kernel_names::RuleSet* rules_;
  const trace::Activities* activities_;
  ProcessRanks processes_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> steps_;
  HostChoice host_;
  std::vector<int64_t> step_labels_;
  std::vector<uint8_t> counts_;
  int64_t total_ns_ = 0;
  int64_t file_total_ns_ = 0;
  int64_t left_out_communication_ns_ = 0;
  bool selects_all_ = true;
  bool many_devices_ = false;
  bool times_fit_ = true;
};

}  // namespace layerscope::analysis
