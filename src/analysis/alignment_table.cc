#include "src/analysis/alignment_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/module_labels.h"
#include "src/analysis/place.h"
#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using attribution::Evidence;
using attribution::GraphAlignment;
using table::Cell;
using table::ColumnSpec;

constexpr int64_t kRowsForPeople = 12;
/// Graphs that a note lists by number; more are counted.
constexpr size_t kGraphsInNote = 6;
/// Files that a note names; more are counted.
constexpr size_t kFilesInNote = 2;

/// Stands for GraphAlignment::source where steps of the trace itself were laid over a graph.
constexpr std::string_view kOwnEagerSteps = "this trace's own eager steps";

/// Three decimals (DESIGN.md section 7).
double Confidence(const GraphAlignment& graph) {
  return std::round(std::clamp(graph.confidence, 0.0, 1.0) * 1000.0) / 1000.0;
}

std::string_view EvidenceText(const GraphAlignment& graph) {
  if (graph.withheld && graph.evidence == Evidence::kUnresolved) return "withheld";
  return attribution::ToString(graph.evidence);
}

/// All kernels of a graph's launches; where a recording was laid over them each is matched or not.
int64_t KernelsOf(const GraphAlignment& graph) {
  return graph.evidence == Evidence::kUnresolved ? graph.kernels_per_launch * graph.launches
                                                 : graph.matched + graph.mismatched;
}

/// The graphs that the selection has a launch of, with those launches alone.
std::vector<GraphAlignment> SelectedGraphs(const RankView& view) {
  const attribution::Attribution& attr = view.attribution();
  if (view.selects_all() || attr.alignments.empty()) return attr.alignments;
  std::vector<uint8_t> chosen(view.trace().calls.size(), 0);
  for (const uint32_t row : view.rows()) {
    if (attr.under_graph[row] != 0 && attr.launch[row].valid()) {
      chosen[attr.launch[row].index()] = 1;
    }
  }
  return attribution::SumLaunches(
      attr.alignments, attr.aligned_launches,
      [&](const attribution::AlignedLaunch& launch) { return chosen[launch.call.index()] != 0; });
}

/// What was laid over a graph, as people see it; may be empty.
std::string SourceText(const RankView& view, const GraphAlignment& graph) {
  if (graph.own_steps) return std::string(kOwnEagerSteps);
  return graph.source.empty() ? std::string() : ShownFile(view, graph.source);
}

/// By which file, and what is odd: "bs_64_rank0.json.gz: captured for batch 64".
std::string NoteOf(const RankView& view, const GraphAlignment& graph) {
  std::string note = SourceText(view, graph);
  if (graph.withheld) note += note.empty() ? "withheld" : " is withheld";
  if (!graph.reason.empty()) note += (note.empty() ? "" : ": ") + graph.reason;
  return note;
}

/// "graphs 0, 2, 5: bs_64_rank0.json.gz", one line a file and reason, in order of the first graph.
std::vector<std::string> Notes(const RankView& view, const std::vector<GraphAlignment>& graphs) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> by_note;
  std::map<std::string, size_t> at;
  for (const GraphAlignment& graph : graphs) {
    const std::string note = NoteOf(view, graph);
    if (note.empty()) continue;
    const auto [place, is_new] = at.emplace(note, by_note.size());
    if (is_new) by_note.emplace_back(note, std::vector<int64_t>());
    by_note[place->second].second.push_back(graph.graph);
  }
  std::vector<std::string> notes;
  for (const auto& [note, numbers] : by_note) {
    const std::vector<int64_t> first(numbers.begin(),
                                     numbers.begin() + std::min(numbers.size(), kGraphsInNote));
    std::string who =
        fmt::format("graph{} {}", numbers.size() == 1 ? "" : "s", fmt::join(first, ", "));
    if (numbers.size() > first.size()) {
      who += fmt::format(" and {} more", numbers.size() - first.size());
    }
    notes.push_back(fmt::format("{}: {}", who, note));
  }
  return notes;
}

/// A graph and where it was launched.
struct GraphRow {
  GraphAlignment graph;
  Place place;
};

std::vector<GraphRow> RowsOf(const RankView& view, std::vector<GraphAlignment> graphs) {
  std::vector<GraphRow> rows;
  for (GraphAlignment& graph : graphs) {
    const Place place = PlaceAt(view, graph.process);
    rows.push_back({std::move(graph), place});
  }
  return rows;
}

/// A column of the graph: a member of it, or what is made of it.
template <typename CellOf>
auto OfGraph(CellOf cell_of) {
  return [cell_of](const GraphRow& row) { return Cell(std::invoke(cell_of, row.graph)); };
}

void AddRankAndPid(const RankView& view, RowTable<GraphRow>& table) {
  const PlaceColumns shown = PlacesToShow(view);
  const auto spec = [](ColumnSpec column, bool people) {
    column.priority = 1;
    return people ? column : ForMachines(column);
  };
  table.Add(spec({.name = "rank"}, shown.rank),
            [](const GraphRow& row) { return ToCell(row.place.rank); });
  table.Add(spec({.name = "pid"}, shown.pid),
            [](const GraphRow& row) { return ToCell(row.place.pid); });
}

table::Table TableForPeople(const RankView& view, std::vector<GraphAlignment> graphs) {
  const bool in_pieces = std::any_of(graphs.begin(), graphs.end(),
                                     [](const GraphAlignment& graph) { return graph.pieces > 1; });
  RowTable<GraphRow> table(RowsOf(view, std::move(graphs)));
  table.Add({.name = "graph"}, OfGraph(&GraphAlignment::graph));
  AddRankAndPid(view, table);
  table
      .Add(Count("batch", "batch", 1),
           OfGraph([](const GraphAlignment& graph) { return table::CellOrNull(graph.batch); }))
      .Add(Count("launches", "launches"), OfGraph(&GraphAlignment::launches));
  if (in_pieces) table.Add(Count("pieces", "pieces", 2), OfGraph(&GraphAlignment::pieces));
  table.Add(Count("kernels", "kernels", 1), OfGraph(KernelsOf))
      .Add(Count("matched", "matched"), OfGraph(&GraphAlignment::matched))
      .Add(Count("mismatched", "not", 1),
           OfGraph([](const GraphAlignment& graph) { return KernelsOf(graph) - graph.matched; }))
      .Add({.name = "evidence"}, OfGraph(EvidenceText));
  return table.Take();
}

}  // namespace

table::Table AlignmentForMachines(const RankView& view) {
  RowTable<GraphRow> table(RowsOf(view, SelectedGraphs(view)));
  table.Add({.name = "graph"}, OfGraph(&GraphAlignment::graph));
  AddRankAndPid(view, table);
  table
      .Add({.name = "batch"},
           OfGraph([](const GraphAlignment& graph) { return table::CellOrNull(graph.batch); }))
      .Add({.name = "capture_file"}, OfGraph([](const GraphAlignment& graph) {
             return graph.own_steps ? Cell(kOwnEagerSteps) : table::TextCellOrNull(graph.source);
           }))
      .Add({.name = "capture_batch"}, OfGraph([](const GraphAlignment& graph) {
             return table::CellOrNull(graph.source_batch);
           }))
      .Add({.name = "launches"}, OfGraph(&GraphAlignment::launches))
      .Add({.name = "pieces"}, OfGraph(&GraphAlignment::pieces))
      .Add({.name = "kernels"}, OfGraph(&GraphAlignment::kernels_per_launch))
      .Add({.name = "matched"}, OfGraph(&GraphAlignment::matched))
      .Add({.name = "mismatched"}, OfGraph(&GraphAlignment::mismatched))
      .Add({.name = "missing"}, OfGraph(&GraphAlignment::missing))
      .Add({.name = "evidence"}, OfGraph([](const GraphAlignment& graph) {
             return attribution::ToString(graph.evidence);
           }))
      .Add({.name = "withheld"}, OfGraph(&GraphAlignment::withheld))
      .Add({.name = "reason"},
           OfGraph([](const GraphAlignment& graph) { return table::TextCellOrNull(graph.reason); }))
      .Add({.name = "confidence"}, OfGraph(Confidence));
  return table.Take();
}

std::optional<table::Block> GraphsBlock(const RankView& view, const Presentation& presentation) {
  const std::vector<GraphAlignment> graphs = SelectedGraphs(view);
  if (graphs.empty()) return std::nullopt;
  table::Table table = TableForPeople(view, graphs);
  table.title = base::FormatCounted(static_cast<int64_t>(graphs.size()), "graph");
  table::NoteRowsLeftOut(table, table::LimitRows(table, presentation.Limit(kRowsForPeople)));
  for (std::string& note : Notes(view, graphs)) table.notes.push_back(std::move(note));
  return table::TableBlock(std::move(table));
}

std::string ReplayEvidenceText(const RankView& view) {
  const attribution::Attribution& attr = view.attribution();
  EvidenceSums sums{};
  int64_t all_ns = 0;
  for (const uint32_t row : view.rows()) {
    if (attr.under_graph[row] == 0) continue;
    const int64_t dur_ns = view.activities().dur_ns[row];
    sums[static_cast<size_t>(attr.module_evidence[row])] += dur_ns;
    all_ns += dur_ns;
  }
  const int64_t hidden_ns = sums[static_cast<size_t>(Evidence::kUnresolved)] +
                            sums[static_cast<size_t>(Evidence::kLaunchCorrelation)];
  if (all_ns == 0 || hidden_ns == all_ns) return {};
  std::vector<std::string> parts;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    parts.push_back(fmt::format("{} {}", attribution::ToString(static_cast<Evidence>(i)),
                                base::FormatShare(sums[i], view.total_ns())));
  }
  return fmt::format("graph replays are {} of GPU time: {}",
                     base::FormatShare(all_ns, view.total_ns()), fmt::join(parts, ", "));
}

std::string ReplaySourcesText(const RankView& view) {
  std::vector<std::string> files;
  size_t n_more = 0;
  std::set<std::string> known;
  for (const GraphAlignment& graph : SelectedGraphs(view)) {
    const std::string source = SourceText(view, graph);
    if (graph.evidence == Evidence::kUnresolved || source.empty()) continue;
    if (!known.insert(source).second) continue;
    if (files.size() < kFilesInNote) {
      files.push_back(source);
    } else {
      ++n_more;
    }
  }
  return fmt::format("{}{}", fmt::join(files, ", "),
                     n_more == 0 ? std::string() : fmt::format(" and {} more", n_more));
}

}  // namespace layerscope::analysis
