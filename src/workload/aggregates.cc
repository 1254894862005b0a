#include "src/workload/aggregates.h"

#include <array>
#include <utility>

#include "src/workload/decimal.h"

namespace layerscope::workload {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

/// The part of `text` before the first `separator`, which is cut off with it; all of it without
/// one.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

/// "p99" and "p99.9" as they are, "median" as "p50"; empty for no statistic.
std::string StatOf(std::string_view word) {
  if (word == "median") return "p50";
  if (word == "mean" || word == "std" || word == "min" || word == "max") return std::string(word);
  const bool percentile = word.size() > 1 && word.size() < 10 && word[0] == 'p' &&
                          word.find_first_not_of("0123456789.", 1) == std::string_view::npos;
  return percentile ? std::string(word) : std::string();
}

}  // namespace

std::optional<AggregateKey> ParseAggregateKey(std::string_view key) {
  AggregateKey parsed;
  parsed.stat = StatOf(TakeUntil(key, '_'));
  parsed.power = key.ends_with("_ms") ? kMilliseconds : kSeconds;
  if (key.ends_with("_ms")) key.remove_suffix(3);
  constexpr std::array<NamePair, 5> kMetrics = {{{"ttft", "ttft"},
                                                 {"tpot", "tpot"},
                                                 {"itl", "itl"},
                                                 {"e2el", "e2e"},
                                                 {"e2e_latency", "e2e"}}};
  for (const auto& [name, metric] : kMetrics) {
    if (key == name) parsed.metric = metric;
  }
  if (parsed.stat.empty() || parsed.metric.empty()) return std::nullopt;
  return parsed;
}

std::optional<AggregateKey> ParseLifecyclePath(std::string_view path) {
  AggregateKey parsed;
  parsed.power = kSeconds;
  std::string_view rest = path;
  const std::string_view part = TakeUntil(rest, '/');
  std::string_view name = TakeUntil(rest, '/');
  if (part == "successes" && name == "latency") {
    constexpr std::array<NamePair, 5> kMetrics = {
        {{"request_latency", "e2e"},
         {"time_to_first_token", "ttft"},
         {"time_per_output_token", "tpot"},
         {"inter_token_latency", "itl"},
         {"normalized_time_per_output_token", "normalized_tpot"}}};
    name = TakeUntil(rest, '/');
    for (const auto& [word, metric] : kMetrics) {
      if (name == word) parsed.metric = metric;
    }
  } else if (part == "load_summary" && name == "schedule_delay") {
    parsed.metric = name;
  }
  parsed.stat = StatOf(rest);
  if (parsed.stat.empty() || parsed.metric.empty()) return std::nullopt;
  return parsed;
}

}  // namespace layerscope::workload
