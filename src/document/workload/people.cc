#include "src/document/workload/people.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "src/base/format_number.h"
#include "src/document/workload/server_people.h"
#include "src/document/workload/tables.h"
#include "src/table/limit.h"

namespace layerscope::document {
namespace {

constexpr int64_t kRowsForPeople = 40;

std::string TokensText(const RunSummary& summary) {
  const auto text = [](const std::optional<int64_t>& tokens) {
    return tokens ? base::FormatCount(*tokens) : std::string("?");
  };
  return fmt::format("{} in, {} out", text(summary.input_tokens), text(summary.output_tokens));
}

std::string RateText(const std::optional<double>& rate, const char* unit) {
  return rate && std::isfinite(*rate) ? fmt::format("{:.2f} {}", *rate, unit) : std::string();
}

/// "20 completed, 1 failed".
std::string RequestsText(const RunSummary& summary) {
  std::string text = summary.completed ? base::FormatCount(*summary.completed) + " completed" : "?";
  if (summary.failed) text += fmt::format(", {} failed", base::FormatCount(*summary.failed));
  return text + (summary.from_requests ? "" : " (the file's own figures)");
}

/// "3 of 8, of b.json (--run N shows another, from 0 to 7)".
std::string RunText(const WorkloadInput& input, size_t run) {
  const size_t n = input.runs.size();
  if (n < 2) return {};
  const WorkloadSource& source = input.sources[input.runs[run].source];
  return fmt::format("{} of {}, of {} (--run N shows another, N from 0 to {})", run, n, source.path,
                     n - 1);
}

/// How many requests have steps of a trace beside them, or why none have and what to do.
std::string LinksText(const WorkloadFigures& figures) {
  const RequestLinks& links = figures.links;
  if (links.linked > 0) {
    return fmt::format(
        "{} of {} linked to steps of {}", base::FormatCount(links.linked),
        base::FormatCounted(static_cast<int64_t>(figures.run->requests.size()), "request"),
        links.trace);
  }
  return fmt::format("no request is linked: {}{}{}", links.reason, links.advice.empty() ? "" : "; ",
                     links.advice);
}

table::Block FactsBlock(const WorkloadInput& input, const WorkloadFigures& figures) {
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) block.facts.emplace_back(label, std::move(text));
  };
  const RunSummary& summary = *figures.summary;
  add("model", figures.run->model);
  add("backend", figures.run->backend);
  add("run", RunText(input, *figures.choice.run));
  add("requests", RequestsText(summary));
  if (summary.duration_ns) add("duration", base::FormatDuration(*summary.duration_ns));
  add("tokens", TokensText(summary));
  add("throughput", RateText(summary.request_throughput, "req/s"));
  add("output", RateText(summary.output_token_throughput, "tok/s"));
  if (figures.split) {
    // That they waited in the server would be a guess, which its own queue time may contradict.
    add("slow first token",
        fmt::format("{} of {} requests: TTFT above {}", base::FormatCount(figures.split->n_above),
                    base::FormatCount(figures.split->n_above + figures.split->n_below),
                    base::FormatDuration(figures.split->threshold_ns)));
  }
  add("trace", LinksText(figures));
  return block;
}

}  // namespace

std::vector<table::Block> WorkloadBlocks(const WorkloadInput& input,
                                         const WorkloadFigures& figures) {
  std::vector<table::Block> blocks;
  if (figures.run != nullptr) blocks.push_back(FactsBlock(input, figures));
  const auto add = [&](const char* title, table::Table table) {
    if (table.size() == 0) return;
    table::LimitRows(table, kRowsForPeople);
    blocks.push_back(table::TableBlock(title, std::move(table)));
  };
  if (figures.run != nullptr) add("latency", PercentileTable(*figures.summary));
  if (input.runs.size() > 1) add("runs", RunTable(input, figures.summaries));
  for (table::Block& block : ServerBlocks(input)) blocks.push_back(std::move(block));
  add("benchmark and server", DifferenceTable(figures.differences));
  return blocks;
}

}  // namespace layerscope::document
