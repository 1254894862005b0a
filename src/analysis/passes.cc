#include "src/analysis/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/analysis/config_check.h"
#include "src/analysis/coverage.h"
#include "src/analysis/layer_choice.h"
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

constexpr int64_t kRowsForPeople = 30;
/// As many as a line of notes holds.
constexpr size_t kPassesInNote = 8;
constexpr size_t kDetailNotes = 6;

auto Optional(std::optional<int64_t> PassRow::*member) {
  return [member](const PassRow& row) { return table::CellOrNull(row.*member); };
}

/// Unknown for a pass that did not run.
auto IfRan(int64_t PassRow::*member) {
  return [member](const PassRow& row) -> Cell {
    if (!row.ran) return table::Null();
    return row.*member;
  };
}

std::string TitleOf(const LayerStructure& structure, size_t n_rows) {
  std::string title = base::FormatCounted(static_cast<int64_t>(n_rows), "pass", "passes");
  if (structure.layers_per_pass) {
    title += " of " + base::FormatCounted(*structure.layers_per_pass, "layer");
  }
  return title;
}

/// "first pass: began before the window: pass 0": what is said of passes, each once.
void NoteDetails(const std::vector<PassRow>& rows, table::Table& table) {
  std::vector<std::pair<std::string, std::vector<std::string>>> passes_of;
  for (const PassRow& row : rows) {
    if (row.detail.empty()) continue;
    auto at = std::find_if(passes_of.begin(), passes_of.end(),
                           [&](const auto& entry) { return entry.first == row.detail; });
    if (at == passes_of.end()) at = passes_of.insert(at, {row.detail, {}});
    std::vector<std::string>& passes = at->second;
    if (passes.size() < kPassesInNote) passes.push_back(fmt::format("{}", row.index));
    if (passes.size() == kPassesInNote) passes.back() = "…";
  }
  const size_t shown = std::min(passes_of.size(), kDetailNotes);
  for (size_t i = 0; i < shown; ++i) {
    const auto& [detail, passes] = passes_of[i];
    table.notes.push_back(fmt::format("pass{} {}: {}", passes.size() == 1 ? "" : "es",
                                      fmt::join(passes, ", "), detail));
  }
  if (shown < passes_of.size()) table.notes.emplace_back("… more notes in --format json");
}

/// Why no pass is steady; empty where no pass has layers.
std::string NoSteadyText(const LayerStructure& structure) {
  if (structure.layers.empty()) return {};
  std::map<std::pair<layers::PassKind, std::optional<int64_t>>, int64_t> whole;
  int64_t most = 0;
  for (const layers::Pass& pass : structure.passes) {
    if (!pass.complete || pass.kind == layers::PassKind::kCapture) continue;
    most = std::max(most, ++whole[{pass.kind, pass.batch}]);
  }
  constexpr int64_t kLeast = 3;
  if (most < kLeast) {
    return fmt::format(
        "no steady pass: it takes {} whole passes of one phase and batch, and there "
        "{} at most {}",
        kLeast, most == 1 ? "is" : "are", most);
  }
  return fmt::format(
      "no steady pass: layer 0's wall time keeps changing by more than 5 % over {} "
      "passes of one phase and batch",
      kLeast);
}

void AddNotes(const RankView& view, const LayerStructure& structure, const StructureSums& sums,
              const std::vector<PassRow>& rows, table::Table& table) {
  const auto add = [&table](std::string note) {
    if (!note.empty()) table.notes.push_back(std::move(note));
  };
  add(FoundText(structure));
  add(AgreementText(structure));
  add("profile: " + ProfileText(structure));
  if (structure.steady_pass) {
    add(
        fmt::format("steady from pass {} on: layer 0's wall time changes by at most 5 % over three "
                    "passes; cold: before it",
                    *structure.steady_pass));
    const bool any_slower =
        std::any_of(rows.begin(), rows.end(), [](const PassRow& row) { return row.slower(); });
    if (any_slower) {
      add(fmt::format("slower: layer 0 and the whole pass take over 5 % longer than in pass {}",
                      *structure.steady_pass));
    }
  } else {
    add(NoSteadyText(structure));
  }
  if (sums.outside.activities > 0) {
    add(fmt::format("[outside any pass] {}: {} of GPU time in {}",
                    base::FormatShare(sums.outside.gpu_ns, view.total_ns()),
                    base::FormatDuration(sums.outside.gpu_ns),
                    base::FormatCounted(sums.outside.activities, "activity", "activities")));
  }
}

base::Result<table::RankResult> ComputeRank(const RankView& view, const PassesOptions& options) {
  base::Result<const LayerStructure*> found = StructureOf(view.input());
  if (!found.ok()) return std::move(found).error();
  const LayerStructure& structure = **found;
  const StructureSums sums = SumStructure(view, structure);
  std::vector<PassRow> rows = BuildPassRows(view, structure, sums, options.selection);
  table::RankResult result = StartResult(view);
  result.abstained = AbstentionOf(view.input());
  const Presentation& presentation = options.presentation;
  table::Table machines = PassTableForMachines(view, rows);
  if (base::Status sorted = table::SortBy(machines, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(machines, presentation.Limit(kRowsForPeople));
  const bool has_none = rows.empty() && result.abstained;
  if (presentation.for_people && !has_none) {
    const size_t n_rows = rows.size();
    table::Table people = PassTable(view, rows);
    people.order = machines.order;
    people.title = TitleOf(structure, n_rows);
    table::NoteRowsLeftOut(people, left_out);
    NoteDetails(rows, people);
    AddNotes(view, structure, sums, rows, people);
    result.blocks.push_back(table::TableBlock(std::move(people)));
  }
  result.data = {{"anchor", AnchorObject(structure)},
                 {"layers_per_pass", table::OrNull(structure.layers_per_pass)},
                 {"passes", std::move(machines)},
                 {"outside", table::Object{{"gpu_ns", sums.outside.gpu_ns},
                                           {"kernels", sums.outside.kernels},
                                           {"activities", sums.outside.activities}}},
                 {"steady_pass", structure.steady_pass ? table::Value(*structure.steady_pass)
                                                       : table::Value(table::Null())},
                 {"profile", ProfileObject(structure)},
                 {"modules", AgreementValue(structure)}};
  result.main_table = "passes";
  return result;
}

}  // namespace

table::Table PassTableForMachines(const RankView& view, std::vector<PassRow> rows) {
  RowTable<PassRow> table(std::move(rows));
  table.AddInt({.name = "index"}, &PassRow::index)
      .AddText({.name = "kind"}, &PassRow::kind)
      .Add({.name = "step"}, Optional(&PassRow::step))
      .Add({.name = "batch"}, Optional(&PassRow::batch))
      .Add({.name = "start_ns"}, Optional(&PassRow::start_ns))
      .Add({.name = "end_ns"}, Optional(&PassRow::end_ns))
      .Add({.name = "wall_ns"}, IfRan(&PassRow::wall_ns))
      .Add({.name = "busy_ns"}, IfRan(&PassRow::busy_ns))
      .AddInt({.name = "sum_ns"}, &PassRow::sum_ns)
      .AddInt({.name = "n_kernels"}, &PassRow::n_kernels)
      .AddInt({.name = "copy_ns"}, &PassRow::copy_ns)
      .AddInt({.name = "n_copies"}, &PassRow::n_copies)
      .AddInt({.name = "graph_ns"}, &PassRow::graph_ns)
      .AddInt({.name = "n_graphs"}, &PassRow::n_graphs)
      .AddInt({.name = "n_captured_launches"}, &PassRow::n_captured_launches)
      .AddInt({.name = "n_layers"}, &PassRow::n_layers)
      .Add({.name = "avg_layer_ns"}, Optional(&PassRow::avg_layer_ns))
      .Add({.name = "first_layer_ns"}, Optional(&PassRow::first_layer_ns))
      .Add({.name = "complete"}, [](const PassRow& row) { return row.complete; })
      .Add({.name = "confidence"},
           [](const PassRow& row) { return RoundedConfidence(row.confidence); })
      .AddText({.name = "note"}, &PassRow::note);
  AddPlace(view, table, &PassRow::place);
  return table.Take();
}

table::Table PassTable(const RankView& view, std::vector<PassRow> rows) {
  RowTable<PassRow> table(std::move(rows));
  table.AddInt({.name = "index", .title = "pass"}, &PassRow::index)
      .AddText({.name = "kind"}, &PassRow::kind);
  AddPlace(view, table, &PassRow::place);
  table.Add(Count("batch", "reqs", 2), Optional(&PassRow::batch))
      .Add(Nanoseconds("start_ns", "start", 1), Optional(&PassRow::start_ns))
      .Add(Nanoseconds("wall_ns", "wall"), IfRan(&PassRow::wall_ns))
      .Add(Nanoseconds("busy_ns", "busy", 2), IfRan(&PassRow::busy_ns))
      .Add(Nanoseconds("sum_ns", "kernel sum", 1), IfRan(&PassRow::sum_ns))
      .Add(Count("n_kernels", "kernels", 1), IfRan(&PassRow::n_kernels))
      .Add(Count("n_copies", "copies", 3),
           [](const PassRow& row) { return row.n_copies > 0 ? Cell(row.n_copies) : Cell(); })
      .Add(Count("n_graphs", "graphs", 2),
           [](const PassRow& row) { return row.n_graphs > 0 ? Cell(row.n_graphs) : Cell(); })
      .Add(Count("n_captured_launches", "captured", 1),
           [](const PassRow& row) {
             return row.n_captured_launches > 0 ? Cell(row.n_captured_launches) : Cell();
           })
      .AddInt(Count("n_layers", "layers"), &PassRow::n_layers)
      .Add(Nanoseconds("layer_avg_ns", "avg layer"), Optional(&PassRow::avg_layer_ns))
      .Add(Nanoseconds("layer_0_ns", "layer 0"), Optional(&PassRow::first_layer_ns));
  table.Add({.name = "state"}, [](const PassRow& row) -> Cell {
    if (row.state.empty()) return table::Null();
    return std::string_view(row.state);
  });
  return table.Take();
}

base::Result<Output> ComputePasses(const AnalysisInput& input, const PassesOptions& options) {
  return ForEachRank(input, options.selection, [&](const RankView& view) {
    base::Result<table::RankResult> result = ComputeRank(view, options);
    if (result.ok()) WarnOfMismatch(input, view, *result);
    return result;
  });
}

}  // namespace layerscope::analysis
