#include "src/analysis/step_blocks.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/analysis/module_labels.h"
#include "src/analysis/step_gap.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"

namespace layerscope::analysis {
namespace {

using table::Cell;

void HideGapsThatSayNothing(table::Table& sweep) {
  const table::Column* const gaps = sweep.Find("mean_gap_ns");
  if (gaps == nullptr) return;
  const auto tells = [gap = gaps->cell](size_t row) {
    const Cell cell = gap(row);
    const auto* const gap_ns = std::get_if<int64_t>(&cell);
    return gap_ns != nullptr && GapTellsPeople(*gap_ns);
  };
  for (table::Column& column : sweep.columns) {
    if (column.spec.name != "mean_gap_ns" && column.spec.name != "gap_ppm") continue;
    column.spec.note = "gap: what the host's step lasts longer than the device is busy with it";
    column.cell = [cell = column.cell, tells](size_t row) -> Cell {
      return tells(row) ? cell(row) : Cell(table::Null());
    };
  }
}

table::Block LimitedBlock(std::string title, table::Table table, const Presentation& presentation) {
  table::NoteRowsLeftOut(table, table::LimitRows(table, presentation.Limit(kStepRowsForPeople)));
  return table::TableBlock(std::move(title), std::move(table));
}

}  // namespace

void HideColumn(std::string_view name, table::Table& table) {
  for (table::Column& column : table.columns) {
    if (column.spec.name == name) column.spec.audience = table::Audience::kMachines;
  }
}

void ShowModelPath(table::Table& table) {
  for (table::Column& column : table.columns) {
    if (column.spec.name != "key") continue;
    column.cell = [cell = column.cell](size_t row) -> table::Cell {
      table::Cell path = cell(row);
      const auto* const text = std::get_if<std::string_view>(&path);
      return text != nullptr && text->empty() ? table::Cell(std::string_view(kModelPath)) : path;
    };
  }
}

void PutMarkedFirst(table::Table& table) {
  const table::Column* const past = table.Find("past");
  if (past == nullptr) return;
  std::vector<size_t> marked;
  std::vector<size_t> unmarked;
  for (size_t i = 0; i < table.size(); ++i) {
    const size_t row = table.RowAt(i);
    const bool is_marked = !std::holds_alternative<table::Null>(past->cell(row));
    (is_marked ? marked : unmarked).push_back(row);
  }
  if (marked.empty() || unmarked.empty()) return;
  marked.insert(marked.end(), unmarked.begin(), unmarked.end());
  table.order = std::move(marked);
  table.notes.emplace_back(
      "past -: steps that nothing marked (prefill, warm-up, between the lengths asked for)");
}

table::Block SweepBlock(table::Table sweep, const Presentation& presentation) {
  HideGapsThatSayNothing(sweep);
  PutMarkedFirst(sweep);
  return LimitedBlock("Sweep over batch and past length", std::move(sweep), presentation);
}

std::vector<table::Block> ReducedStepBlocks(const table::Object& reduced, RankReduce rank_reduce,
                                            const Presentation& presentation, bool any_past) {
  const std::string how = RankReduceNames()[static_cast<size_t>(rank_reduce)];
  std::vector<table::Block> blocks;
  for (const auto& [key, value] : reduced) {
    const auto* const of_key = std::get_if<std::shared_ptr<table::Table>>(&value.variant());
    if (of_key == nullptr) continue;
    table::Table table = **of_key;
    if (key == "sweep") {
      if (any_past) blocks.push_back(SweepBlock(std::move(table), presentation));
      continue;
    }
    for (table::Column& column : table.columns) {
      if (column.spec.name == "index") column.spec.title = "step";
    }
    std::string title =
        fmt::format("{}, {} over their ranks",
                    key == "steps" ? base::FormatCounted(static_cast<int64_t>(table.n_rows), "step")
                                   : "Modules of steps",
                    how);
    blocks.push_back(LimitedBlock(std::move(title), std::move(table), presentation));
  }
  return blocks;
}

}  // namespace layerscope::analysis
