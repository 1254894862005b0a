#include "src/analysis/selected_host.h"

#include <limits>
#include <utility>

namespace layerscope::analysis {

HostChoice ChooseHost(const Selection& selection, const std::vector<uint8_t>& row,
                      std::vector<uint8_t> process, const RankView& view) {
  // A device or a pass can hold a whole step; what is below them holds a part of it.
  const bool below_steps = selection.module || selection.stream || selection.layer;
  const bool beside_steps = below_steps || selection.device || selection.passes;
  const bool by_step = selection.steps || selection.phase;
  const bool by_time = selection.from_ns || selection.to_ns;
  HostChoice choice;
  choice.process = std::move(process);
  choice.whole_processes = selection.ChoosesProcesses();
  const size_t n_steps = view.attribution().steps.size();
  std::vector<uint8_t> has_selected(n_steps, 0);
  std::vector<uint8_t> lacks_some(n_steps, 0);
  for (size_t i = 0; i < row.size(); ++i) {
    const attribution::StepId step = view.attribution().step[i];
    if (step.valid()) (row[i] != 0 ? has_selected : lacks_some)[step.index()] = 1;
  }
  choice.whole_step.assign(n_steps, 0);
  for (const uint32_t step : view.steps()) {
    const bool is_asked_for = by_step && !beside_steps && !by_time;
    const bool has_all = !below_steps && has_selected[step] != 0 && lacks_some[step] == 0;
    choice.whole_step[step] = is_asked_for || has_all ? 1 : 0;
  }
  if (by_time && !beside_steps && !by_step) {
    choice.time = {selection.from_ns.value_or(std::numeric_limits<int64_t>::min()),
                   selection.to_ns.value_or(std::numeric_limits<int64_t>::max())};
  }
  return choice;
}

bool SelectedHost::InTime(trace::ThreadId thread, int64_t start_ns, int64_t end_ns) const {
  const HostChoice& choice = view_.host();
  if (!choice.time || end_ns < choice.time->first || start_ns >= choice.time->second) return false;
  return choice.process[view_.trace().threads[thread.index()].process.index()] != 0;
}

}  // namespace layerscope::analysis
