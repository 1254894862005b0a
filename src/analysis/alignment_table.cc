#include "src/analysis/alignment_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/module_labels.h"
#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using attribution::Evidence;
using attribution::GraphAlignment;
using table::Cell;

constexpr int64_t kRowsForPeople = 12;
/// Graphs that a note lists by number; more are counted.
constexpr size_t kGraphsInNote = 6;
/// Files that a note names; more are counted.
constexpr size_t kFilesInNote = 2;

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

/// True where a warning gives the reason already.
bool IsInHealth(const RankView& view, const GraphAlignment& graph) {
  const std::vector<table::HealthEntry>& health = view.attribution().warnings;
  return graph.withheld && std::any_of(health.begin(), health.end(), [&](const auto& entry) {
           return entry.code == "capture_withheld" &&
                  entry.message.find(graph.reason) != std::string::npos;
         });
}

/// By which file, and what is odd: "bs_64_rank0.json.gz: captured for batch 64".
std::string NoteOf(const RankView& view, const GraphAlignment& graph) {
  std::string note = graph.source.empty() ? std::string() : ShownFile(view, graph.source);
  if (graph.withheld) note += note.empty() ? "withheld" : " is withheld";
  if (!graph.reason.empty() && !IsInHealth(view, graph)) {
    note += (note.empty() ? "" : ": ") + graph.reason;
  }
  return note;
}

/// "graphs 0, 2, 5: bs_64_rank0.json.gz", one line a file and reason, in order of the first graph.
std::vector<std::string> Notes(const RankView& view) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> by_note;
  std::map<std::string, size_t> at;
  for (const GraphAlignment& graph : view.attribution().alignments) {
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

table::Table TableForPeople(std::vector<GraphAlignment> graphs) {
  const bool in_pieces = std::any_of(graphs.begin(), graphs.end(),
                                     [](const GraphAlignment& graph) { return graph.pieces > 1; });
  RowTable<GraphAlignment> table(std::move(graphs));
  table.AddInt({.name = "graph"}, &GraphAlignment::graph)
      .Add(Count("batch", "batch", 1),
           [](const GraphAlignment& graph) { return table::CellOrNull(graph.batch); })
      .AddInt(Count("launches", "launches"), &GraphAlignment::launches);
  if (in_pieces) table.AddInt(Count("pieces", "pieces", 2), &GraphAlignment::pieces);
  table.Add(Count("kernels", "kernels", 1), KernelsOf)
      .AddInt(Count("matched", "matched"), &GraphAlignment::matched)
      .Add(Count("mismatched", "not", 1),
           [](const GraphAlignment& graph) { return KernelsOf(graph) - graph.matched; })
      .Add({.name = "evidence"},
           [](const GraphAlignment& graph) { return Cell(EvidenceText(graph)); });
  return table.Take();
}

}  // namespace

table::Table AlignmentForMachines(const attribution::Attribution& attribution) {
  RowTable<GraphAlignment> table(attribution.alignments);
  table.AddInt({.name = "graph"}, &GraphAlignment::graph)
      .Add({.name = "batch"},
           [](const GraphAlignment& graph) { return table::CellOrNull(graph.batch); })
      .Add({.name = "capture_file"},
           [](const GraphAlignment& graph) { return table::TextCellOrNull(graph.source); })
      .Add({.name = "capture_batch"},
           [](const GraphAlignment& graph) { return table::CellOrNull(graph.source_batch); })
      .AddInt({.name = "launches"}, &GraphAlignment::launches)
      .AddInt({.name = "pieces"}, &GraphAlignment::pieces)
      .AddInt({.name = "kernels"}, &GraphAlignment::kernels_per_launch)
      .AddInt({.name = "matched"}, &GraphAlignment::matched)
      .AddInt({.name = "mismatched"}, &GraphAlignment::mismatched)
      .AddInt({.name = "missing"}, &GraphAlignment::missing)
      .Add({.name = "evidence"},
           [](const GraphAlignment& graph) { return Cell(attribution::ToString(graph.evidence)); })
      .Add({.name = "withheld"}, [](const GraphAlignment& graph) { return Cell(graph.withheld); })
      .Add({.name = "reason"},
           [](const GraphAlignment& graph) { return table::TextCellOrNull(graph.reason); })
      .Add({.name = "confidence"},
           [](const GraphAlignment& graph) { return Cell(Confidence(graph)); });
  return table.Take();
}

std::optional<table::Block> GraphsBlock(const RankView& view, const Presentation& presentation) {
  const attribution::Attribution& attr = view.attribution();
  const bool any = std::any_of(view.rows().begin(), view.rows().end(),
                               [&](uint32_t row) { return attr.under_graph[row] != 0; });
  if (!any || attr.alignments.empty()) return std::nullopt;
  table::Table table = TableForPeople(attr.alignments);
  table.title = base::FormatCounted(static_cast<int64_t>(attr.alignments.size()), "graph");
  table::NoteRowsLeftOut(table, table::LimitRows(table, presentation.Limit(kRowsForPeople)));
  for (std::string& note : Notes(view)) table.notes.push_back(std::move(note));
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
  std::set<std::string_view> known;
  for (const GraphAlignment& graph : view.attribution().alignments) {
    if (graph.evidence == Evidence::kUnresolved || graph.source.empty()) continue;
    if (!known.insert(graph.source).second) continue;
    if (files.size() < kFilesInNote) {
      files.push_back(ShownFile(view, graph.source));
    } else {
      ++n_more;
    }
  }
  return fmt::format("{}{}", fmt::join(files, ", "),
                     n_more == 0 ? std::string() : fmt::format(" and {} more", n_more));
}

}  // namespace layerscope::analysis
