#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/layer_choice.h"
#include "src/analysis/selection.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

std::string RangeText(std::string_view what, const std::pair<int64_t, int64_t>& range) {
  const auto [first, last] = range;
  return first == last ? fmt::format("{} {}", what, first)
                       : fmt::format("{}s {}..{}", what, first, last);
}

/// "pass 3 (steady), layer 7".
std::string PassText(const RankView& view, const Selection& selection) {
  std::string text;
  if (selection.passes) {
    text = RangeText("pass", *selection.passes);
  } else if (const base::Result<ChosenPass> pass = PassOfView(view); pass.ok()) {
    text = fmt::format("pass {} ({})", pass->index, pass->why);
  }
  if (!selection.layer) return text;
  const bool is_part = *selection.layer == kHeadName || *selection.layer == kTailName;
  return fmt::format("{}, {}{}", text, is_part ? "" : "layer ", *selection.layer);
}

}  // namespace

std::string SelectionText(const RankView& view, const Selection& selection) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view what, const auto& value) {
    if (value) parts.push_back(fmt::format("{} {}", what, *value));
  };
  add("rank", selection.rank);
  add("pid", selection.pid);
  add("device", selection.device);
  add("stream", selection.stream);
  if (selection.steps) parts.push_back(RangeText("step", *selection.steps));
  add("phase", selection.phase);
  if (selection.passes || selection.layer) parts.push_back(PassText(view, selection));
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
