#include "src/analysis/pass_rows.h"

#include <fmt/format.h>

#include "src/analysis/ranges.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using layers::Pass;
using layers::PassKind;

/// A capture has no activities: only conditions on passes and on what ran can rule it out.
bool MayShowCapture(size_t index, const Selection& selection) {
  if (selection.steps || selection.phase || selection.layer || selection.module ||
      selection.stream || selection.from_ns || selection.to_ns) {
    return false;
  }
  if (!selection.passes) return true;
  const auto number = static_cast<int64_t>(index);
  return selection.passes->first <= number && number <= selection.passes->second;
}

/// "cold" before the steady pass among whole passes of its phase and batch, "steady" from it on;
/// "partial" for a pass whose window cuts layers or leaves some out.
std::string StateOf(const LayerStructure& structure, size_t index) {
  const Pass& pass = structure.passes[index];
  const bool has_layers = pass.kind != PassKind::kCapture && pass.n_layers > 0;
  if (!pass.complete) return has_layers ? "partial" : "";
  if (!structure.steady_pass) return {};
  const Pass& steady = structure.passes[*structure.steady_pass];
  if (pass.kind != steady.kind || pass.batch != steady.batch) return {};
  return index < *structure.steady_pass ? "cold" : "steady";
}

void AddLayers(const LayerStructure& structure, const StructureSums& sums, const Pass& pass,
               PassRow& row) {
  int64_t sum_ns = 0;
  int64_t n_timed = 0;
  for (uint32_t k = 0; k < pass.n_layers; ++k) {
    const layers::Layer& layer = structure.layers[pass.first_layer + k];
    if ((layer.flags & layers::kLayerCut) == 0) ++row.n_layers;
    const std::optional<int64_t> wall_ns = WholeWall(layer, sums.layers[pass.first_layer + k]);
    if (!wall_ns) continue;
    sum_ns += *wall_ns;
    ++n_timed;
    if (layer.index == 0) row.first_layer_ns = wall_ns;
  }
  if (n_timed > 0) row.avg_layer_ns = base::DivideHalfEven(sum_ns, n_timed);
}

PassRow RowOf(const RankView& view, const LayerStructure& structure, const StructureSums& sums,
              size_t index) {
  const Pass& pass = structure.passes[index];
  const PassSums& of_pass = sums.passes[index];
  PassRow row;
  row.index = static_cast<int64_t>(index);
  row.kind = layers::ToString(pass.kind);
  if (pass.step.valid()) row.step = view.StepLabel(static_cast<uint32_t>(pass.step.index()));
  row.batch = pass.batch;
  row.ran = of_pass.n() > 0;
  if (row.ran) {
    row.start_ns = of_pass.span.first_ns();
    row.end_ns = of_pass.span.last_ns();
    row.start_s = DecimalSeconds(*row.start_ns);
    row.end_s = DecimalSeconds(*row.end_ns);
  }
  row.wall_ns = of_pass.span.wall_ns();
  row.busy_ns = of_pass.busy.busy_ns();
  row.sum_ns = of_pass.sum_ns;
  row.n_kernels = of_pass.n_kernels;
  row.copy_ns = of_pass.copy_ns;
  row.n_copies = of_pass.n_copies;
  row.n_captured_launches = pass.n_captured_launches;
  AddLayers(structure, sums, pass, row);
  row.complete = pass.complete;
  row.confidence = pass.confidence;
  row.state = StateOf(structure, index);
  row.detail = pass.note;
  const bool has_both = !row.state.empty() && !row.detail.empty();
  row.note = fmt::format("{}{}{}", row.state, has_both ? "; " : "", row.detail);
  row.place = PlaceAt(view, pass.process);
  if (pass.device.valid()) row.place.device = view.DeviceLabel(pass.device);
  return row;
}

}  // namespace

std::optional<int64_t> WholeWall(const layers::Layer& layer, const LayerSums& sums) {
  if ((layer.flags & layers::kLayerCut) != 0 || sums.n() == 0) return std::nullopt;
  return sums.span.wall_ns();
}

std::vector<PassRow> BuildPassRows(const RankView& view, const LayerStructure& structure,
                                   const StructureSums& sums, const Selection& selection) {
  std::vector<PassRow> rows;
  for (size_t i = 0; i < structure.passes.size(); ++i) {
    const bool is_capture = structure.passes[i].kind == PassKind::kCapture;
    if (sums.passes[i].n() == 0 && !(is_capture && MayShowCapture(i, selection))) continue;
    rows.push_back(RowOf(view, structure, sums, i));
  }
  return rows;
}

}  // namespace layerscope::analysis
