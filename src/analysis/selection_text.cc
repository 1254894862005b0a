#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/selection.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {

std::string SelectionText(const RankView& view, const Selection& selection) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view what, const auto& value) {
    if (value) parts.push_back(fmt::format("{} {}", what, *value));
  };
  add("rank", selection.rank);
  add("pid", selection.pid);
  add("device", selection.device);
  add("stream", selection.stream);
  if (selection.steps) {
    const auto [first, last] = *selection.steps;
    parts.push_back(first == last ? fmt::format("step {}", first)
                                  : fmt::format("steps {}..{}", first, last));
  }
  add("phase", selection.phase);
  add("module", selection.module);
  if (selection.from_ns) {
    parts.push_back(fmt::format("from {}", base::FormatDuration(*selection.from_ns)));
  }
  if (selection.to_ns) {
    parts.push_back(fmt::format("to {}", base::FormatDuration(*selection.to_ns)));
  }
  if (selection.without_communication) {
    parts.push_back(fmt::format("without communication ({} left out)",
                                base::FormatDuration(view.left_out_communication_ns())));
  }
  return fmt::format("selection: {}; {} of {} total ({})", fmt::join(parts, ", "),
                     base::FormatDuration(view.total_ns()),
                     base::FormatDuration(view.file_total_ns()),
                     base::FormatShare(view.total_ns(), view.file_total_ns()));
}

}  // namespace layerscope::analysis
