#include "src/document/workload/server_people.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/analysis/row_table.h"
#include "src/base/format_number.h"

namespace layerscope::document {
namespace {

using workload::MetricFigures;
using workload::MetricRole;
using workload::ServerMetric;
using workload::ServerMetrics;

constexpr const char* kUnknownText = "-";

std::string CountText(const std::optional<double>& number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!number || std::abs(*number) > kExact) return {};
  if (std::trunc(*number) != *number) return fmt::format("{:.6g}", *number);
  return base::FormatCount(static_cast<int64_t>(*number));
}

/// A part of one as a percentage.
std::string ShareText(const std::optional<double>& share) {
  if (!share || *share < 0 || *share > 1) return {};
  constexpr int64_t kWhole = 1'000'000;
  return base::FormatShare(static_cast<int64_t>(std::nearbyint(*share * kWhole)), kWhole);
}

/// Of several engines the least and the most, for their sum means nothing.
std::string KvCacheText(const ServerMetrics& server) {
  const ServerMetric* const metric = server.Of(MetricRole::kKvCacheUsage);
  if (metric == nullptr) return {};
  if (metric->total.value) return ShareText(metric->total.value);
  std::optional<double> least;
  std::optional<double> most;
  for (const MetricFigures& series : metric->series) {
    if (!series.value) continue;
    least = std::min(*series.value, least.value_or(*series.value));
    most = std::max(*series.value, most.value_or(*series.value));
  }
  if (!least) return {};
  return fmt::format("{} to {}, by engine", ShareText(least), ShareText(most));
}

/// "vllm V1: 27 series of 21 metrics"; series as the viewer counts them.
std::string EngineText(const ServerMetrics& server) {
  int64_t n_series = 0;
  for (const ServerMetric& metric : server.metrics) {
    n_series += std::max<int64_t>(1, static_cast<int64_t>(metric.series.size()));
  }
  return fmt::format("{}{}{}: {} of {}", server.engine, server.version.empty() ? "" : " ",
                     server.version, base::FormatCounted(n_series, "series", "series"),
                     base::FormatCounted(static_cast<int64_t>(server.metrics.size()), "metric"));
}

/// Which dump was taken as the earlier one, or that there is none.
std::string CoversText(const WorkloadInput& input) {
  std::string before;
  std::string after;
  for (const WorkloadSource& source : input.sources) {
    if (source.role == "server_before") before = source.path;
    if (source.role == "server") after = source.path;
  }
  if (!input.server_difference) return "the time since the server's start, other clients included";
  return fmt::format("the time from {} (taken as the earlier dump) to {}", before, after);
}

std::string PrefixText(const ServerMetrics& server) {
  std::string hits = CountText(NumberOf(server, MetricRole::kPrefixHits));
  if (hits.empty()) return {};
  const std::optional<int64_t> ppm = PrefixHitPpm(server);
  if (!ppm) return hits;
  return fmt::format("{} ({} of the tokens looked up)", hits,
                     base::FormatShare(*ppm, int64_t{1'000'000}));
}

table::Block FactsOf(const WorkloadInput& input) {
  const ServerMetrics& server = *input.server;
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.title = "server";
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) block.facts.emplace_back(label, std::move(text));
  };
  const auto count = [&](MetricRole role) { return CountText(NumberOf(server, role)); };
  add("metrics of", EngineText(server));
  add("covers", CoversText(input));
  add("models", fmt::format("{}", fmt::join(server.models, ", ")));
  add("requests", count(MetricRole::kRequests));
  const std::string in = count(MetricRole::kPromptTokens);
  const std::string out = count(MetricRole::kGenerationTokens);
  if (!in.empty() || !out.empty()) {
    add("tokens", fmt::format("{} in, {} out", in.empty() ? "?" : in, out.empty() ? "?" : out));
  }
  add("KV cache in use", KvCacheText(server));
  add("preemptions", count(MetricRole::kPreemptions));
  add("prefix cache hits", PrefixText(server));
  add("running", count(MetricRole::kRunning));
  add("waiting", count(MetricRole::kWaiting));
  return block;
}

struct TimeRow {
  std::string what;
  int64_t n = 0;
  std::string mean;
  std::array<std::string, workload::kPercentiles.size()> percentiles;
};

std::vector<TimeRow> TimeRows(const ServerMetrics& server) {
  constexpr std::array<std::pair<const char*, MetricRole>, 7> kTimes = {
      {{"ttft", MetricRole::kTtft},
       {"tpot", MetricRole::kTpot},
       {"itl", MetricRole::kItl},
       {"e2e", MetricRole::kE2e},
       {"server queue", MetricRole::kQueue},
       {"prefill", MetricRole::kPrefill},
       {"decode", MetricRole::kDecode}}};
  std::vector<TimeRow> rows;
  for (const auto& [what, role] : kTimes) {
    const ServerMetric* const metric = server.Of(role);
    if (metric == nullptr || !metric->total.count || *metric->total.count <= 0) continue;
    const MetricFigures& figures = metric->total;
    TimeRow& row = rows.emplace_back();
    row.what = what;
    row.n = static_cast<int64_t>(*figures.count);
    row.mean = ServerTimeText(MeanNs(figures), std::nullopt);
    for (size_t i = 0; i < row.percentiles.size(); ++i) {
      const std::optional<workload::Quantile>& quantile = figures.quantiles.at(i);
      row.percentiles.at(i) = ServerTimeText(QuantileNs(figures, i),
                                             quantile ? std::optional(quantile->is) : std::nullopt);
    }
  }
  return rows;
}

table::Table TimeTable(std::vector<TimeRow> rows) {
  analysis::RowTable<TimeRow> table(std::move(rows));
  table.AddText(analysis::Key("metric"), &TimeRow::what)
      .AddInt(analysis::Count("n", "n"), &TimeRow::n)
      .AddText({.name = "mean"}, &TimeRow::mean);
  for (size_t i = 0; i < workload::kPercentiles.size(); ++i) {
    table.Add({.name = fmt::format("p{}", workload::kPercentiles.at(i)),
               .priority = i == 1 || i == 2 ? 1 : 0},
              [i](const TimeRow& row) { return std::string_view(row.percentiles[i]); });
  }
  table::Table result = table.Take();
  result.notes.emplace_back(kServerSigns);
  return result;
}

}  // namespace

std::string ServerTimeText(const std::optional<int64_t>& ns,
                           const std::optional<workload::QuantileIs>& is) {
  if (!ns) return kUnknownText;
  constexpr std::array<const char*, 3> kSigns = {"≈ ", "≤ ", "≥ "};
  return (is ? kSigns.at(static_cast<size_t>(*is)) : "") + base::FormatDuration(*ns);
}

std::vector<table::Block> ServerBlocks(const WorkloadInput& input) {
  if (!input.server) return {};
  std::vector<table::Block> blocks = {FactsOf(input)};
  std::vector<TimeRow> rows = TimeRows(*input.server);
  if (!rows.empty())
    blocks.push_back(table::TableBlock("server times", TimeTable(std::move(rows))));
  return blocks;
}

}  // namespace layerscope::document
