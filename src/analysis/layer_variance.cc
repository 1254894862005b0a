#include "src/analysis/layer_variance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "src/analysis/coverage.h"
#include "src/analysis/median.h"
#include "src/analysis/pass_rows.h"
#include "src/analysis/row_table.h"
#include "src/analysis/structure_text.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using table::Object;

constexpr size_t kLeastLayers = 4;
constexpr int64_t kLeastPercent = 5;
constexpr double kLargestScore = 3.5;
/// 0.6745 scales the median deviation of a normal distribution to its standard deviation.
constexpr double kMadScale = 0.6745;
/// As many passes as have a column of their own for people.
constexpr size_t kPassColumns = 8;

constexpr const char* kRule =
    "outlier: a layer whose median is over 5 % and over 3.5 scaled median deviations away from the "
    "median of its type";

void Summarize(LayerVariance& row) {
  int64_t sum_ns = 0;
  std::vector<int64_t> walls_ns;
  for (const std::optional<int64_t>& wall_ns : row.by_pass) {
    if (!wall_ns) continue;
    walls_ns.push_back(*wall_ns);
    row.min_ns = row.n == 0 ? *wall_ns : std::min(row.min_ns, *wall_ns);
    row.max_ns = row.n == 0 ? *wall_ns : std::max(row.max_ns, *wall_ns);
    sum_ns += *wall_ns;
    ++row.n;
  }
  if (row.n == 0) return;
  row.median_ns = LowerMedian(std::move(walls_ns));
  row.mean_ns = base::DivideHalfEven(sum_ns, row.n);
  const double mean = static_cast<double>(sum_ns) / static_cast<double>(row.n);
  double squares = 0;
  for (const std::optional<int64_t>& wall_ns : row.by_pass) {
    if (wall_ns) squares += std::pow(static_cast<double>(*wall_ns) - mean, 2);
  }
  row.stddev_ns =
      static_cast<int64_t>(std::nearbyint(std::sqrt(squares / static_cast<double>(row.n))));
}

void MarkOutliers(const std::vector<LayerVariance*>& of_type) {
  if (of_type.size() < kLeastLayers) return;
  std::vector<int64_t> values;
  for (const LayerVariance* row : of_type) values.push_back(row->median_ns);
  const int64_t median_ns = LowerMedian(values);
  for (int64_t& value : values) value = std::abs(value - median_ns);
  const auto deviation = static_cast<double>(LowerMedian(values));
  for (LayerVariance* row : of_type) {
    const int64_t away_ns = std::abs(row->median_ns - median_ns);
    const double score = kMadScale * static_cast<double>(away_ns);
    row->outlier = away_ns / kLeastPercent > median_ns / 100 && score > kLargestScore * deviation;
  }
}

std::vector<size_t> PassesToCompare(const LayerStructure& structure, layers::PassKind kind) {
  std::vector<size_t> passes;
  for (size_t i = 0; i < structure.passes.size(); ++i) {
    if (kind == layers::PassKind::kCapture) break;
    if (structure.passes[i].complete && structure.passes[i].kind == kind) passes.push_back(i);
  }
  return passes;
}

std::vector<LayerVariance> RowsOf(const LayerStructure& structure, const StructureSums& sums,
                                  const std::vector<size_t>& passes) {
  std::map<int64_t, LayerVariance> rows;
  for (size_t at = 0; at < passes.size(); ++at) {
    for (const LayerRow& layer : BuildLayerRows(structure, sums, passes[at])) {
      LayerVariance& row = rows[layer.layer.index];
      row.layer = layer.layer.index;
      row.type = layer.type;
      row.by_pass.resize(passes.size());
      row.by_pass[at] = WholeWall(layer.layer, layer.sums);
    }
  }
  std::vector<LayerVariance> list;
  for (auto& [index, row] : rows) list.push_back(std::move(row));
  return list;
}

table::Table TableOf(const std::vector<LayerVariance>& rows, const std::vector<size_t>& passes) {
  RowTable<LayerVariance> table(rows);
  table.AddInt({.name = "layer", .title = "L"}, &LayerVariance::layer)
      .Add({.name = "type"}, [](const LayerVariance& row) { return row.type; })
      .AddInt(Nanoseconds("mean_ns", "mean"), &LayerVariance::mean_ns)
      .AddInt(Nanoseconds("median_ns", "median"), &LayerVariance::median_ns)
      .AddInt(Nanoseconds("min_ns", "min"), &LayerVariance::min_ns)
      .AddInt(Nanoseconds("max_ns", "max"), &LayerVariance::max_ns)
      .AddInt(Nanoseconds("stddev_ns", "stddev"), &LayerVariance::stddev_ns)
      .Add({.name = "outlier"}, [](const LayerVariance& row) -> table::Cell {
        return row.outlier ? table::Cell(std::string_view("outlier")) : table::Cell();
      });
  if (passes.size() <= kPassColumns) {
    for (size_t at = 0; at < passes.size(); ++at) {
      table::ColumnSpec spec = Nanoseconds(fmt::format("min_pass_{}_ns", passes[at]),
                                           fmt::format("pass {}", passes[at]), 1);
      table.Add(spec,
                [at](const LayerVariance& row) { return table::CellOrNull(row.by_pass[at]); });
    }
  }
  return table.Take();
}

/// The shown rows, with lists that a table cell cannot hold.
table::Array ToArray(const std::vector<LayerVariance>& rows, const table::Table& shown) {
  table::Array array;
  for (size_t i = 0; i < shown.size(); ++i) {
    const LayerVariance& row = rows[shown.RowAt(i)];
    table::Array by_pass;
    for (const std::optional<int64_t>& wall_ns : row.by_pass)
      by_pass.push_back(table::OrNull(wall_ns));
    array.push_back(Object{{"layer", row.layer},
                           {"type", row.type},
                           {"mean_ns", row.mean_ns},
                           {"median_ns", row.median_ns},
                           {"min_ns", row.min_ns},
                           {"max_ns", row.max_ns},
                           {"stddev_ns", row.stddev_ns},
                           {"outlier", row.outlier},
                           {"by_pass", std::move(by_pass)}});
  }
  return array;
}

table::Abstention NothingToCompare(layers::PassKind kind) {
  constexpr const char* kHow =
      "see `layerscope passes` for what is there; --phase selects another phase";
  if (kind == layers::PassKind::kCapture) {
    return {"capture_has_no_times",
            "a capture has no times: its launches were recorded and nothing ran", kHow};
  }
  return {
      "no_whole_pass",
      fmt::format("no {} pass is whole, so there is nothing to compare", layers::ToString(kind)),
      kHow};
}

}  // namespace

void SummarizeVariance(std::vector<LayerVariance>& rows) {
  std::map<std::string_view, std::vector<LayerVariance*>> by_type;
  for (LayerVariance& row : rows) {
    Summarize(row);
    if (row.n > 0) by_type[row.type].push_back(&row);
  }
  for (const auto& [type, of_type] : by_type) MarkOutliers(of_type);
}

base::Result<table::RankResult> ComputeLayerVariance(const RankView& view,
                                                     const LayerStructure& structure,
                                                     const LayersOptions& options) {
  base::Result<ChosenPass> chosen = ChoosePass(view.input(), {}, options.selection.phase);
  if (!chosen.ok()) return std::move(chosen).error();
  const layers::PassKind kind = structure.passes[chosen->index].kind;
  const std::vector<size_t> passes = PassesToCompare(structure, kind);
  table::RankResult result = StartResult(view);
  if (passes.empty()) {
    result.abstained = AbstentionOf(view.input());
    if (!result.abstained) result.abstained = NothingToCompare(kind);
  }
  std::vector<LayerVariance> rows = RowsOf(structure, SumStructure(view, structure), passes);
  SummarizeVariance(rows);
  table::Table shown = TableOf(rows, passes);
  if (base::Status sorted = table::SortBy(shown, options.presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(shown, options.presentation.Limit(0));
  result.main_table = "rows";
  result.data = {{"phase", layers::ToString(kind)},
                 {"passes", table::Array(passes.begin(), passes.end())},
                 {"rule", kRule},
                 {"rows", ToArray(rows, shown)}};
  if (!options.presentation.for_people || passes.empty()) return result;
  shown.title = fmt::format(
      "Wall time of {} over {}", base::FormatCounted(static_cast<int64_t>(rows.size()), "layer"),
      base::FormatCounted(static_cast<int64_t>(passes.size()),
                          fmt::format("whole {} pass", layers::ToString(kind)),
                          fmt::format("whole {} passes", layers::ToString(kind))));
  table::NoteRowsLeftOut(shown, left_out);
  shown.notes.emplace_back(kRule);
  result.blocks.push_back(table::TableBlock(std::move(shown)));
  return result;
}

}  // namespace layerscope::analysis
