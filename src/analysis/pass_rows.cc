#include "src/analysis/pass_rows.h"

#include <fmt/format.h>

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

/// A pass that differs by less is as steady as the steady one.
constexpr int64_t kSteadyPercent = 5;

bool IsSlower(int64_t ns, int64_t steady_ns) {
  return (ns - steady_ns) / kSteadyPercent > steady_ns / 100;
}

/// Whether the layers of both passes run the same kernels, whatever their order.
bool RunSameKernels(const StructureSums& sums, const Pass& a, const Pass& b) {
  if (a.n_layers != b.n_layers) return false;
  for (uint32_t k = 0; k < a.n_layers; ++k) {
    const LayerSums& of_a = sums.layers[a.first_layer + k];
    const LayerSums& of_b = sums.layers[b.first_layer + k];
    if (of_a.n_kernels != of_b.n_kernels || of_a.kernels_hash != of_b.kernels_hash) return false;
  }
  return true;
}

bool IsSlower(const StructureSums& sums, const Pass& pass, size_t index, const Pass& steady,
              size_t steady_index) {
  if (pass.n_layers == 0 || steady.n_layers == 0) return false;
  const LayerSums& first = sums.layers[pass.first_layer];
  const LayerSums& steady_first = sums.layers[steady.first_layer];
  return IsSlower(first.span.wall_ns(), steady_first.span.wall_ns()) &&
         IsSlower(sums.passes[index].span.wall_ns(), sums.passes[steady_index].span.wall_ns());
}

/// "cold" before the steady pass among whole passes of its phase and batch, "steady" from it on,
/// but "slower" where layer 0 and the whole pass both take over 5 % longer; "partial" for a pass
/// whose window cuts layers or leaves some out. Where nothing says the phase, only passes that run
/// the steady one's kernels are of its kind.
std::string StateOf(const LayerStructure& structure, const StructureSums& sums, size_t index) {
  const Pass& pass = structure.passes[index];
  const bool has_layers = pass.kind != PassKind::kCapture && pass.n_layers > 0;
  if (!pass.complete) return has_layers ? "partial" : "";
  if (!structure.steady_pass) return {};
  const size_t steady_index = *structure.steady_pass;
  if (index == steady_index) return "steady";
  const Pass& steady = structure.passes[steady_index];
  if (pass.kind != steady.kind || pass.batch != steady.batch) return {};
  if (pass.kind == PassKind::kUnknown && !RunSameKernels(sums, pass, steady)) return {};
  if (index < steady_index) return "cold";
  return IsSlower(sums, pass, index, steady, steady_index) ? "slower" : "steady";
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
  } else {
    row.start_ns = pass.captured_start_ns;
    row.end_ns = pass.captured_end_ns;
  }
  if (row.start_ns && row.end_ns) {
    row.start_s = base::FormatDecimal(*row.start_ns, kSecondDigits);
    row.end_s = base::FormatDecimal(*row.end_ns, kSecondDigits);
  }
  row.wall_ns = of_pass.span.wall_ns();
  row.busy_ns = of_pass.busy.busy_ns();
  row.sum_ns = of_pass.sum_ns;
  row.n_kernels = of_pass.n_kernels;
  row.copy_ns = of_pass.copy_ns;
  row.n_copies = of_pass.n_copies;
  row.graph_ns = of_pass.graph_ns;
  row.n_graphs = of_pass.n_graphs;
  row.n_captured_launches = pass.n_captured_launches;
  AddLayers(structure, sums, pass, row);
  row.complete = pass.complete;
  row.confidence = pass.confidence;
  row.state = StateOf(structure, sums, index);
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
