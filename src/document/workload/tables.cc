#include "src/document/workload/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/document/workload/server_people.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using table::Cell;

/// The columns of percentiles, and how soon a narrow terminal drops them.
constexpr std::array<std::pair<const char*, int>, 8> kStats = {{{"mean", 0},
                                                                {"std", 2},
                                                                {"min", 3},
                                                                {"p50", 0},
                                                                {"p90", 1},
                                                                {"p95", 1},
                                                                {"p99", 0},
                                                                {"max", 2}}};

struct TimeRow {
  std::string metric;
  std::string name;  ///< of the metric, for people
  TimeFigures figures;
  /// By kStats, each in its own unit: microseconds and seconds stand below each other.
  std::array<std::string, kStats.size()> texts;
};

struct RunRow {
  int64_t run = 0;
  std::string label;
  std::string source;
  RunSummary summary;
};

Cell StatCell(const TimeFigures& figures, const char* stat) {
  return table::CellOrNull(figures.Of(stat));
}

Cell RunStat(const RunRow& row, const char* measure, const char* stat) {
  const TimeFigures* const figures = row.summary.Times(measure);
  return figures == nullptr ? Cell() : StatCell(*figures, stat);
}

/// Two decimals, as benchmarks print rates.
Cell RealCell(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  return *value;
}

/// What runs are usually told apart by; other parameters are figures as often as settings.
constexpr std::array<std::string_view, 16> kSettings = {
    "label",       "run_name",  "dataset_name", "request_rate",     "max_concurrency",
    "batch_size",  "input_len", "output_len",   "random_input_len", "random_output_len",
    "num_prompts", "tp",        "conc",         "run_number",       "load_summary/requested_rate",
    "tag"};

const workload::Scalar* Parameter(const workload::Run& run, std::string_view name) {
  for (const auto& [key, scalar] : run.parameters) {
    if (key == name) return &scalar;
  }
  return nullptr;
}

std::string TextOf(const workload::Scalar* scalar) {
  if (scalar == nullptr || scalar->kind == workload::Scalar::Kind::kNull) return "none";
  return scalar->text;
}

/// Adds what differs among the runs from `begin` to `end`.
void AddSettings(const WorkloadInput& input, size_t begin, size_t end,
                 std::vector<std::string>& labels) {
  for (const std::string_view name : kSettings) {
    std::vector<std::string> texts;
    for (size_t i = begin; i < end; ++i) {
      texts.push_back(TextOf(Parameter(input.runs[i].run, name)));
    }
    const bool differs = std::any_of(
        texts.begin(), texts.end(), [&](const std::string& text) { return text != texts.front(); });
    if (!differs) continue;
    for (size_t i = begin; i < end; ++i) {
      labels[i] += fmt::format("{}{} {}", labels[i].empty() ? "" : ", ",
                               name.substr(name.rfind('/') + 1), texts[i - begin]);
    }
  }
}

/// The file of each run, without its folder where that tells all of them apart.
std::vector<std::string> FileNames(const WorkloadInput& input) {
  std::map<std::string, std::set<size_t>> sources_of;
  std::vector<std::string> names;
  for (const WorkloadRun& run : input.runs) {
    const std::string& path = input.sources[run.source].path;
    sources_of[names.emplace_back(path.substr(path.rfind('/') + 1))].insert(run.source);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (sources_of[names[i]].size() > 1) names[i] = input.sources[input.runs[i].source].path;
  }
  return names;
}

/// "ttft p99" of "ttft.p99_ns".
std::string ForPeople(std::string what) {
  if (what.ends_with("_ns")) what.resize(what.size() - 3);
  std::replace(what.begin(), what.end(), '.', ' ');
  std::replace(what.begin(), what.end(), '_', ' ');
  return what;
}

/// The client's own queue: time in the server's queue is in the TTFT, and has a row of its own.
std::string MeasureForPeople(const std::string& metric) {
  return metric == "queue" ? "client queue" : metric;
}

std::string DifferenceText(const Difference& row, const table::Value& value) {
  const auto* const number = std::get_if<int64_t>(&value.variant());
  if (number == nullptr) return "-";
  return row.is_count ? base::FormatCount(*number) : base::FormatDuration(*number);
}

std::string ServerText(const Difference& row) {
  const auto* const number = std::get_if<int64_t>(&row.server.variant());
  if (number == nullptr || row.is_count) return DifferenceText(row, row.server);
  return ServerTimeText(*number, row.server_is);
}

/// What is taken from the benchmark's figure is a limit from the other side.
std::string DistanceText(const Difference& row) {
  using workload::QuantileIs;
  const auto* const number = std::get_if<int64_t>(&row.difference.variant());
  if (number == nullptr || row.is_count) return DifferenceText(row, row.difference);
  std::optional<QuantileIs> is = row.server_is;
  if (is == QuantileIs::kAtMost) {
    is = QuantileIs::kAtLeast;
  } else if (is == QuantileIs::kAtLeast) {
    is = QuantileIs::kAtMost;
  }
  return ServerTimeText(*number, is);
}

}  // namespace

table::Table PercentileTable(const RunSummary& summary) {
  std::vector<TimeRow> rows;
  for (const auto& [name, figures] : summary.times) {
    if (figures.stats.empty()) continue;
    TimeRow& row = rows.emplace_back();
    row.metric = name;
    row.name = MeasureForPeople(name);
    row.figures = figures;
    for (size_t i = 0; i < kStats.size(); ++i) {
      const std::optional<int64_t> ns = figures.Of(kStats.at(i).first);
      row.texts.at(i) = ns ? base::FormatDuration(*ns) : "-";
    }
  }
  analysis::RowTable<TimeRow> table(std::move(rows));
  table.AddText(analysis::ForMachines(analysis::Key("metric")), &TimeRow::metric)
      .AddText({.name = "name", .title = "metric", .audience = table::Audience::kPeople},
               &TimeRow::name);
  table.Add(analysis::Count("n", "n"),
            [](const TimeRow& row) { return table::CellOrNull(row.figures.n); });
  for (size_t i = 0; i < kStats.size(); ++i) {
    const auto [stat, priority] = kStats.at(i);
    table.Add(analysis::ForMachines(analysis::Nanoseconds(std::string(stat) + "_ns", stat)),
              [stat = stat](const TimeRow& row) { return StatCell(row.figures, stat); });
    table.Add({.name = stat, .audience = table::Audience::kPeople, .priority = priority},
              [i](const TimeRow& row) { return std::string_view(row.texts[i]); });
  }
  return table.Take();
}

std::vector<std::string> RunLabels(const WorkloadInput& input) {
  std::vector<std::string> labels(input.runs.size());
  if (input.runs.size() < 2) return labels;
  // Runs of one file lie side by side; files of different tools lack each other's settings.
  const bool several = input.runs.front().source != input.runs.back().source;
  if (several) labels = FileNames(input);
  for (size_t begin = 0; begin < input.runs.size();) {
    size_t end = begin;
    while (end < input.runs.size() && input.runs[end].source == input.runs[begin].source) ++end;
    AddSettings(input, begin, end, labels);
    begin = end;
  }
  return labels;
}

table::Table RunTable(const WorkloadInput& input, const std::vector<RunSummary>& summaries) {
  const std::vector<std::string> labels = RunLabels(input);
  std::vector<RunRow> rows;
  for (size_t i = 0; i < input.runs.size(); ++i) {
    rows.push_back({static_cast<int64_t>(i), labels[i], input.sources[input.runs[i].source].path,
                    summaries[i]});
  }
  analysis::RowTable<RunRow> table(std::move(rows));
  table.AddInt(analysis::Key("run"), &RunRow::run)
      .Add({.name = "label", .role = table::Role::kName},
           [](const RunRow& row) { return table::TextCellOrNull(row.label); })
      .AddText(analysis::ForMachines(analysis::Key("source")), &RunRow::source)
      .Add(analysis::Count("completed", "completed"),
           [](const RunRow& row) { return table::CellOrNull(row.summary.completed); })
      .Add(analysis::Count("failed", "failed", 2),
           [](const RunRow& row) { return table::CellOrNull(row.summary.failed); })
      .Add(analysis::Nanoseconds("duration_ns", "duration", 2),
           [](const RunRow& row) { return table::CellOrNull(row.summary.duration_ns); })
      .Add({.name = "request_throughput_per_s", .title = "req/s", .priority = 1},
           [](const RunRow& row) { return RealCell(row.summary.request_throughput); })
      .Add({.name = "output_token_throughput_per_s", .title = "tok/s"},
           [](const RunRow& row) { return RealCell(row.summary.output_token_throughput); });
  constexpr std::array<std::pair<const char*, const char*>, 4> kTimes = {
      {{"ttft", "p50"}, {"ttft", "p99"}, {"itl", "p50"}, {"e2e", "p50"}}};
  for (const auto& [measure, stat] : kTimes) {
    table.Add(analysis::Nanoseconds(fmt::format("{}_{}_ns", measure, stat),
                                    fmt::format("{} {}", measure, stat)),
              [measure = measure, stat = stat](const RunRow& row) {
                return RunStat(row, measure, stat);
              });
  }
  return table.Take();
}

table::Table DifferenceTable(const std::vector<Difference>& differences) {
  struct Row {
    std::string what, metric, bench, server, difference;
  };
  std::vector<Row> rows;
  for (const Difference& one : differences) {
    rows.push_back({ForPeople(one.what), one.metric, DifferenceText(one, one.bench),
                    ServerText(one), DistanceText(one)});
  }
  analysis::RowTable<Row> table(std::move(rows));
  table.AddText(analysis::Key("what"), &Row::what)
      .AddText(analysis::Key("bench"), &Row::bench)
      .AddText(analysis::Key("server"), &Row::server)
      .AddText(analysis::Key("difference"), &Row::difference)
      .AddText({.name = "metric", .role = table::Role::kName, .priority = 1}, &Row::metric);
  table::Table result = table.Take();
  const bool estimates =
      std::any_of(differences.begin(), differences.end(),
                  [](const Difference& one) { return one.server_is.has_value(); });
  if (estimates) result.notes.emplace_back(kServerSigns);
  return result;
}

}  // namespace layerscope::document
