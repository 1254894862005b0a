#include "src/analysis/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/layer_rows.h"
#include "src/analysis/pass_rows.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/row_table.h"
#include "src/analysis/structure_text.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using table::Cell;

constexpr int64_t kRowsForPeople = 50;

struct RangeRow {
  bool is_layer = false;
  int64_t pass = 0;
  int64_t layer = 0;
  std::string type;  ///< of a pass its kind
  std::optional<int64_t> ratio;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string start_s;
  std::string end_s;
  int64_t dur_ns() const { return end_ns - start_ns; }
};

/// The layers of --layers: every one when empty.
class LayerList {
 public:
  static base::Result<LayerList> Parse(std::string_view text) {
    LayerList list;
    while (!text.empty()) {
      const size_t comma = text.find(',');
      base::Result<LayerChoice> choice = ParseLayerChoice(text.substr(0, comma));
      if (!choice.ok() || choice->part != layers::PassPart::kLayer) {
        return base::Error{
            base::ErrorCode::kUsage,
            fmt::format("--layers: '{}' is no layer and no FIRST..LAST", text.substr(0, comma)),
            "--layers 2,3,38 or --layers 0..3,38"};
      }
      list.choices_.push_back(*choice);
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return list;
  }
  bool Has(int64_t layer) const {
    return choices_.empty() ||
           std::any_of(choices_.begin(), choices_.end(), [layer](const LayerChoice& choice) {
             return choice.first <= layer && layer <= choice.last;
           });
  }
  /// kNotFound for the first entry with a bound that is not among `existing`.
  base::Status Check(const std::vector<int64_t>& existing) const {
    for (const LayerChoice& choice : choices_) {
      const auto has = [&existing](int64_t layer) {
        return std::find(existing.begin(), existing.end(), layer) != existing.end();
      };
      if (has(choice.first) && has(choice.last)) continue;
      const int64_t missing = has(choice.first) ? choice.last : choice.first;
      const auto [least, most] = std::minmax_element(existing.begin(), existing.end());
      return base::Error{
          base::ErrorCode::kNotFound, fmt::format("no layer '{}' in the passes chosen", missing),
          existing.empty() ? "they have no layers"
                           : fmt::format("there are layers {} to {}", *least, *most)};
    }
    return {};
  }

 private:
  std::vector<LayerChoice> choices_;
};

RangeRow Spanning(RangeRow row, int64_t start_ns, int64_t end_ns) {
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  row.start_s = base::FormatDecimal(row.start_ns, kSecondDigits);
  row.end_s = base::FormatDecimal(row.end_ns, kSecondDigits);
  return row;
}

/// One pass and those of its layers that are wanted; of what ran, and of a capture's launch calls.
void AddPass(const LayerStructure& structure, const StructureSums& sums, size_t pass,
             const LayerList& wanted, std::vector<RangeRow>& rows) {
  const layers::Pass& source = structure.passes[pass];
  const TimeSpan& span = sums.passes[pass].span;
  RangeRow of_pass;
  of_pass.pass = static_cast<int64_t>(pass);
  of_pass.type = layers::ToString(source.kind);
  if (sums.passes[pass].n() > 0) {
    rows.push_back(Spanning(of_pass, span.first_ns(), span.last_ns()));
  } else if (source.captured_start_ns && source.captured_end_ns) {
    rows.push_back(Spanning(of_pass, *source.captured_start_ns, *source.captured_end_ns));
  } else {
    return;
  }
  for (const LayerRow& layer : BuildLayerRows(structure, sums, pass)) {
    const std::optional<int64_t> start_ns = layer.start_ns();
    const std::optional<int64_t> end_ns = layer.end_ns();
    if (!start_ns || !end_ns || !wanted.Has(layer.layer.index)) continue;
    RangeRow row;
    row.is_layer = true;
    row.pass = static_cast<int64_t>(pass);
    row.layer = layer.layer.index;
    row.type = layer.type;
    row.ratio = layer.layer.ratio;
    rows.push_back(Spanning(std::move(row), *start_ns, *end_ns));
  }
}

table::Table TableOf(std::vector<RangeRow> rows) {
  RowTable<RangeRow> table(std::move(rows));
  const auto of_layer = [](auto get) {
    return [get](const RangeRow& row) -> Cell {
      if (!row.is_layer) return table::Null();
      return get(row);
    };
  };
  table
      .Add({.name = "kind"},
           [](const RangeRow& row) { return std::string_view(row.is_layer ? "layer" : "pass"); })
      .AddInt({.name = "pass"}, &RangeRow::pass)
      .Add({.name = "layer"}, of_layer([](const RangeRow& row) { return row.layer; }))
      .Add({.name = "type"}, [](const RangeRow& row) { return std::string_view(row.type); })
      .Add({.name = "ratio", .title = "c_r", .priority = 2},
           of_layer([](const RangeRow& row) { return table::CellOrNull(row.ratio); }))
      .AddInt(ForMachines({.name = "start_ns"}), &RangeRow::start_ns)
      .AddInt(ForMachines({.name = "end_ns"}), &RangeRow::end_ns)
      .AddText({.name = "start_s", .title = "start s"}, &RangeRow::start_s)
      .AddText({.name = "end_s", .title = "end s"}, &RangeRow::end_s)
      .Add(Nanoseconds("wall_ns", "wall"), [](const RangeRow& row) { return row.dur_ns(); });
  return table.Take();
}

std::vector<int64_t> ExistingLayers(const LayerStructure& structure,
                                    const std::vector<size_t>& passes) {
  std::vector<int64_t> existing;
  for (const size_t pass : passes) {
    const layers::Pass& source = structure.passes[pass];
    for (uint32_t k = 0; k < source.n_layers; ++k) {
      existing.push_back(structure.layers[source.first_layer + k].index);
    }
  }
  return existing;
}

base::Result<std::vector<size_t>> PassesOf(const RankInput& rank, const LayerStructure& structure,
                                           const std::optional<NumberRange>& wanted) {
  std::vector<size_t> passes;
  if (wanted) {
    base::Result<LayerRows> exist = ChooseLayerRows(rank, wanted, {});
    if (!exist.ok()) return std::move(exist).error();
  }
  for (size_t i = 0; i < structure.passes.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    if (!wanted || (wanted->first <= number && number <= wanted->second)) passes.push_back(i);
  }
  return passes;
}

base::Result<table::RankResult> ComputeRank(const RankView& view, const LayerList& wanted,
                                            const RangesOptions& options) {
  base::Result<const LayerStructure*> found = StructureOf(view.input());
  if (!found.ok()) return std::move(found).error();
  const LayerStructure& structure = **found;
  base::Result<std::vector<size_t>> passes =
      PassesOf(view.input(), structure, options.selection.passes);
  if (!passes.ok()) return std::move(passes).error();
  if (!structure.abstained) {
    if (base::Status known = wanted.Check(ExistingLayers(structure, *passes)); !known.ok()) {
      return std::move(known).error();
    }
  }
  const StructureSums sums = SumStructure(view, structure);
  std::vector<RangeRow> rows;
  for (const size_t pass : *passes) AddPass(structure, sums, pass, wanted, rows);
  table::Table table = TableOf(std::move(rows));
  if (base::Status sorted = table::SortBy(table, options.presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(table, options.presentation.Limit(kRowsForPeople));
  table::RankResult result = StartResult(view);
  result.abstained = AbstentionOf(view.input());
  result.main_table = "ranges";
  const bool has_none = table.n_rows == 0 && result.abstained;
  if (options.presentation.for_people && !has_none) {
    table::Table people = table;
    people.title = "Ranges as Perfetto shows them";
    table::NoteRowsLeftOut(people, left_out);
    result.blocks.push_back(table::TableBlock(std::move(people)));
  }
  result.data = {{"ranges", std::move(table)}};
  return result;
}

}  // namespace

base::Result<Output> ComputeRanges(const AnalysisInput& input, const RangesOptions& options) {
  base::Result<LayerList> wanted = LayerList::Parse(options.layers);
  if (!wanted.ok()) return std::move(wanted).error();
  Selection selection = options.selection;
  selection.passes.reset();
  return ForEachRank(input, selection,
                     [&](const RankView& view) { return ComputeRank(view, *wanted, options); });
}

table::Table RangeTableOf(const LayerStructure& structure, const StructureSums& sums, size_t pass) {
  std::vector<RangeRow> rows;
  AddPass(structure, sums, pass, LayerList(), rows);
  return TableOf(std::move(rows));
}

}  // namespace layerscope::analysis
