#include "src/analysis/overhead_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/analysis/row_table.h"
#include "src/base/check.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using base::FormatDuration;
using table::Cell;

/// On a narrow terminal lines of less than a hundredth of all time give way first, then those of
/// less than a tenth.
constexpr int64_t kTinyLine = 100;
constexpr int64_t kSmallLine = 10;

int PriorityOf(int64_t ns, int64_t all_ns) {
  if (ns < all_ns / kTinyLine) return 2;
  return ns < all_ns / kSmallLine ? 1 : 0;
}

/// People are told of steps that took a twentieth more than their like; a microsecond says nothing.
constexpr int64_t kNotable = 20;
/// Of fewer steps none is usual, so none is unusual.
constexpr int64_t kFewestLike = 3;
/// The lines that explain two thirds of what a step took longer, at most so many.
constexpr size_t kMostLines = 3;

const OverheadMedian& GroupOf(const OverheadRow& row, const OverheadSummary& summary) {
  const auto group = std::find_if(
      summary.medians.begin(), summary.medians.end(), [&row](const OverheadMedian& median) {
        return median.phase == row.phase && median.requests == row.requests &&
               median.launch_mode == GroupMode(row);
      });
  LS_CHECK(group != summary.medians.end(), "a step with a wall has a group");
  return *group;
}

bool IsNotable(const WorstStep& worst, const OverheadRow& row, const OverheadSummary& summary) {
  return worst.over_ns >= (row.wall_ns - worst.over_ns) / kNotable &&
         GroupOf(row, summary).n_steps >= kFewestLike;
}

/// "host_wait +45.2 us, between_steps +42.0 us": what grew most over the medians of the group.
std::string GrowthText(const OverheadRow& row, int64_t over_ns, const OverheadMedian& group) {
  std::vector<std::pair<int64_t, OverheadLine>> grown;
  for (const OverheadLine line : kAllOverheadLines) {
    const int64_t by_ns = row.lines[line] - group.lines[line];
    if (by_ns > 0) grown.emplace_back(by_ns, line);
  }
  std::stable_sort(grown.begin(), grown.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  int64_t left_ns = over_ns;
  for (const auto& [by_ns, line] : grown) {
    if (texts.size() == kMostLines || left_ns <= over_ns / 3) break;
    texts.push_back(fmt::format("{} +{}", ToString(line), FormatDuration(by_ns)));
    left_ns -= by_ns;
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// ", rank 1", where ranks tell rows apart.
std::string PlaceText(const PlaceColumns& shown, const Place& place) {
  const LabelValue& label = shown.rank ? place.rank : place.pid;
  if (!shown.rank && !shown.pid) return {};
  const std::string_view what = shown.rank ? "rank" : "pid";
  if (const auto* number = std::get_if<int64_t>(&label)) {
    return fmt::format(", {} {}", what, *number);
  }
  const auto* text = std::get_if<std::string_view>(&label);
  return text == nullptr ? std::string() : fmt::format(", {} {}", what, *text);
}

Cell TextOrNull(std::string_view text) {
  if (text.empty()) return table::Null();
  return text;
}

Cell LineMap(const LineSums& lines) {
  table::CellMap map;
  for (const OverheadLine line : kAllOverheadLines) {
    map.emplace_back(std::string(ToString(line)), lines[line]);
  }
  return map;
}

table::ColumnSpec ForPeople(table::ColumnSpec spec) {
  spec.audience = table::Audience::kPeople;
  return spec;
}

/// A column a line. A line that no step spends time in is unknown in all of its cells, which hides
/// it.
void AddLineColumns(const LineSums& sums, RowTable<OverheadRow>& table) {
  for (const OverheadLine line : kAllOverheadLines) {
    table.Add(LineColumn(line, sums),
              [line, is_used = sums[line] > 0](const OverheadRow& row) -> Cell {
                if (!is_used) return table::Null();
                return row.lines[line];
              });
  }
}

void AddGapColumns(RowTable<OverheadRow>& table) {
  table::ColumnSpec gap = Nanoseconds("gap_ns", "gap", 5);
  table::ColumnSpec share = Count("gap_ppm", "gap %", 5);
  share.unit = table::Unit::kPartsPerMillion;
  const auto share_of = [](const OverheadRow& row) { return table::CellOrNull(row.gap().ppm()); };
  table.Add(ForMachines(gap), [](const OverheadRow& row) { return row.gap().ns(); })
      .Add(ForMachines(share), share_of);
  gap.note = share.note =
      "gap: what the annotation lasts longer than the GPU is busy with the step";
  table
      .Add(ForPeople(std::move(gap)),
           [](const OverheadRow& row) -> Cell {
             if (!GapTellsPeople(row.gap().ns())) return table::Null();
             return row.gap().ns();
           })
      .Add(ForPeople(std::move(share)), [share_of](const OverheadRow& row) -> Cell {
        if (!GapTellsPeople(row.gap().ns())) return table::Null();
        return share_of(row);
      });
}

void AddHostColumns(RowTable<OverheadRow>& table) {
  table::ColumnSpec busy = Nanoseconds("busy_ns", "busy", 5);
  busy.note =
      "busy: the step's own work, whenever it ran; compute, comm and memcpy: any work in its wall";
  table.AddInt(Nanoseconds("host_wall_ns", "annotation", 5), &OverheadRow::host_wall_ns)
      .AddInt(std::move(busy), &OverheadRow::busy_ns);
  AddGapColumns(table);
  table.AddInt(ForMachines({.name = "n_activities"}), &OverheadRow::n_activities)
      .AddInt(Count("n_kernels", "kernels", 4), &OverheadRow::n_kernels)
      .AddInt(ForMachines({.name = "graph_kernels"}), &OverheadRow::n_graph_kernels)
      .Add({.name = "launch_mode", .title = "mode", .priority = 3},
           [](const OverheadRow& row) { return TextOrNull(ToString(row.launch_mode())); });
}

struct WorstRow {
  WorstStep worst;
  const OverheadRow* step = nullptr;
};

/// The line that a step lost most in; none where no line alone is over its median.
Cell LineOf(const WorstRow& row) {
  if (row.worst.line_over_ns <= 0) return table::Null();
  return ToString(row.worst.line);
}

struct GroupLine {
  OverheadLine line = OverheadLine::kCompute;
  int64_t median_ns = 0;
  int64_t sum_ns = 0;
};

/// How the steps were launched is said where phase and requests do not tell groups apart.
std::string GroupTitle(const OverheadMedian& group, const OverheadSummary& summary) {
  const std::string_view phase = attribution::ToString(group.phase);
  std::string title(phase.empty() ? "steps" : phase);
  if (group.requests) {
    title += fmt::format(", {}", base::FormatCounted(*group.requests, "request"));
  }
  const auto like =
      std::count_if(summary.medians.begin(), summary.medians.end(), [&](const auto& other) {
        return other.phase == group.phase && other.requests == group.requests;
      });
  if (like > 1 && group.launch_mode != LaunchMode::kNone) {
    title += fmt::format(", {}", ToString(group.launch_mode));
  }
  return fmt::format("{}: {}, median wall {}", title, base::FormatCounted(group.n_steps, "step"),
                     FormatDuration(group.wall_ns));
}

}  // namespace

LineSums SumOf(const std::vector<OverheadRow>& rows) {
  LineSums sums;
  for (const OverheadRow& row : rows) {
    for (const OverheadLine line : kAllOverheadLines) {
      sums[line] = base::AddClamped(sums[line], row.lines[line]);
    }
  }
  return sums;
}

table::ColumnSpec LineColumn(OverheadLine line, const LineSums& sums) {
  table::ColumnSpec spec =
      ForPeople(Nanoseconds(fmt::format("{}_ns", ToString(line)), std::string(TitleOf(line)),
                            PriorityOf(sums[line], sums.total_ns())));
  spec.part = true;
  return spec;
}

table::Table OverheadTable(const RankView& view, const OverheadRows& overhead,
                           const OverheadSummary& summary, bool verbose) {
  const bool with_name =
      verbose || std::any_of(overhead.rows.begin(), overhead.rows.end(), [](const auto& row) {
        return row.phase == attribution::Phase::kUnknown;
      });
  std::vector<uint32_t> worst;
  for (const WorstStep& step : summary.worst) {
    const OverheadRow& row = overhead.rows[step.row];
    if (IsNotable(step, row, summary)) worst.push_back(row.step);
  }
  RowTable<OverheadRow> table(overhead.rows);
  table.AddInt({.name = "index", .title = "step"}, &OverheadRow::index)
      .Add(ForPeople({.name = "worst", .title = "!"}),
           [worst](const OverheadRow& row) -> Cell {
             if (worst.empty()) return table::Null();
             const bool is_worst = std::find(worst.begin(), worst.end(), row.step) != worst.end();
             return std::string_view(is_worst ? "*" : "");
           })
      .Add(ForMachines({.name = "name"}), [](const OverheadRow& row) { return Cell(row.name); })
      .Add({.name = "phase"},
           [](const OverheadRow& row) { return TextOrNull(attribution::ToString(row.phase)); });
  AddPlace(view, table, &OverheadRow::place);
  table
      .Add(Count("requests", "reqs", 3),
           [](const OverheadRow& row) { return table::CellOrNull(row.requests); })
      .AddInt(ForMachines({.name = "start_ns"}), &OverheadRow::start_ns)
      .AddInt(ForMachines({.name = "from_ns"}), &OverheadRow::from_ns)
      .AddInt(Nanoseconds("wall_ns", "wall"), &OverheadRow::wall_ns);
  AddLineColumns(SumOf(overhead.rows), table);
  table.Add(ForMachines({.name = "lines"}),
            [](const OverheadRow& row) { return LineMap(row.lines); });
  AddHostColumns(table);
  if (with_name) {
    table::ColumnSpec name = ForPeople(Key("annotation", "name"));
    name.priority = 3;
    table.Add(std::move(name), [](const OverheadRow& row) { return Cell(row.name); });
  }
  return table.Take();
}

table::Table MedianTable(const std::vector<OverheadMedian>& medians) {
  RowTable<OverheadMedian> table(medians);
  table
      .Add({.name = "phase"},
           [](const OverheadMedian& row) { return TextOrNull(attribution::ToString(row.phase)); })
      .Add({.name = "requests"},
           [](const OverheadMedian& row) { return table::CellOrNull(row.requests); })
      .Add({.name = "launch_mode"},
           [](const OverheadMedian& row) { return TextOrNull(ToString(row.launch_mode)); })
      .AddInt({.name = "n_steps"}, &OverheadMedian::n_steps)
      .AddInt({.name = "wall_ns"}, &OverheadMedian::wall_ns)
      .Add({.name = "lines"}, [](const OverheadMedian& row) { return LineMap(row.lines); })
      .AddInt({.name = "host_wall_ns"}, &OverheadMedian::host_wall_ns)
      .AddInt({.name = "busy_ns"}, &OverheadMedian::busy_ns)
      .AddInt({.name = "gap_ns"}, &OverheadMedian::gap_ns)
      .AddInt({.name = "n_kernels"}, &OverheadMedian::n_kernels)
      .Add({.name = "sum_wall_ns"}, [](const OverheadMedian& row) { return row.sum_wall_ns(); })
      .Add({.name = "sum_lines"}, [](const OverheadMedian& row) { return LineMap(row.sums); });
  return table.Take();
}

table::Table WorstTable(const OverheadRows& overhead, const std::vector<WorstStep>& worst) {
  // The result outlives these rows: a step's own columns are read into the table now.
  std::vector<WorstRow> rows;
  const auto kept = std::make_shared<std::vector<OverheadRow>>();
  kept->reserve(worst.size());
  for (const WorstStep& step : worst) {
    kept->push_back(overhead.rows[step.row]);
    rows.push_back({step, &kept->back()});
  }
  RowTable<WorstRow> table(std::move(rows));
  table.Add({.name = "index"}, [](const WorstRow& row) { return row.step->index; })
      .Add({.name = "rank"}, [](const WorstRow& row) { return ToCell(row.step->place.rank); })
      .Add({.name = "pid"}, [](const WorstRow& row) { return ToCell(row.step->place.pid); })
      .Add({.name = "phase"},
           [](const WorstRow& row) { return TextOrNull(attribution::ToString(row.step->phase)); })
      .Add({.name = "requests"},
           [](const WorstRow& row) { return table::CellOrNull(row.step->requests); })
      .Add({.name = "wall_ns"}, [](const WorstRow& row) { return row.step->wall_ns; })
      .Add({.name = "over_ns"}, [](const WorstRow& row) { return row.worst.over_ns; })
      .Add({.name = "line"}, LineOf)
      .Add({.name = "line_over_ns"}, [](const WorstRow& row) { return row.worst.line_over_ns; });
  table::Table taken = table.Take();
  taken.owned.push_back(kept);
  return taken;
}

table::Table GroupTable(const OverheadMedian& group, const OverheadSummary& summary) {
  std::vector<GroupLine> lines;
  for (const OverheadLine line : kAllOverheadLines) {
    if (group.sums[line] > 0) lines.push_back({line, group.lines[line], group.sums[line]});
  }
  RowTable<GroupLine> table(std::move(lines));
  table.Add({.name = "line"}, [](const GroupLine& row) { return Cell(ToString(row.line)); })
      .AddInt(Nanoseconds("median_ns", "median"), &GroupLine::median_ns)
      .AddInt(Share("sum_ns", "sum", group.sum_wall_ns()), &GroupLine::sum_ns)
      .Add(Key("meaning", {}), [](const GroupLine& row) { return Cell(MeaningOf(row.line)); });
  table::Table taken = table.Take();
  taken.title = GroupTitle(group, summary);
  taken.notes.push_back(fmt::format("medians: annotation {}, GPU busy with the step's own work {}",
                                    FormatDuration(group.host_wall_ns),
                                    FormatDuration(group.busy_ns)));
  return taken;
}

std::vector<std::string> WorstTexts(const RankView& view, const OverheadRows& overhead,
                                    const OverheadSummary& summary, const table::Table& listed) {
  std::vector<uint8_t> is_listed(overhead.rows.size(), 0);
  for (size_t i = 0; i < listed.size(); ++i) is_listed[listed.RowAt(i)] = 1;
  const PlaceColumns places = PlacesToShow(view);
  std::vector<std::string> texts;
  for (const WorstStep& worst : summary.worst) {
    const OverheadRow& row = overhead.rows[worst.row];
    if (!IsNotable(worst, row, summary)) continue;
    const OverheadMedian& group = GroupOf(row, summary);
    std::string text = fmt::format("* step {}{}{}: {}, {} over the median of {} like it", row.index,
                                   PlaceText(places, row.place),
                                   is_listed[worst.row] != 0 ? "" : " (not listed above)",
                                   FormatDuration(row.wall_ns), FormatDuration(worst.over_ns),
                                   base::FormatCount(group.n_steps));
    if (const std::string growth = GrowthText(row, worst.over_ns, group); !growth.empty()) {
      text += "; " + growth;
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace layerscope::analysis
