#include "src/document/workload/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "src/base/format_number.h"

namespace layerscope::document {
namespace {

using table::HealthEntry;
using table::Severity;

void AddLosses(const WorkloadInput& input, std::vector<HealthEntry>& health) {
  for (size_t i = 0; i < input.sources.size(); ++i) {
    for (const workload::Loss& loss : input.losses[i]) {
      health.push_back({loss.code, loss.data_loss ? Severity::kDataLoss : Severity::kWarning,
                        loss.count, fmt::format("{}: {}", input.sources[i].path, loss.message)});
    }
  }
}

/// "31.2 ms", "64".
std::string FigureText(std::string_view what, const table::Value& value) {
  if (const auto* const whole = std::get_if<int64_t>(&value.variant())) {
    return what.ends_with("_ns") ? base::FormatDuration(*whole) : base::FormatCount(*whole);
  }
  const auto* const real = std::get_if<double>(&value.variant());
  return real == nullptr ? "unknown" : fmt::format("{:.6g}", *real);
}

/// Figures of the files that are not those of their requests.
void AddAggregates(const WorkloadInput& input, const WorkloadFigures& figures,
                   std::vector<HealthEntry>& health) {
  int64_t n_apart = 0;
  int64_t n_compared = 0;
  std::string first;
  for (size_t i = 0; i < figures.file.size(); ++i) {
    for (const Comparison& one : figures.file[i]) {
      ++n_compared;
      if (one.agrees || n_apart++ > 0) continue;
      first = fmt::format("{} says {} for {}, its requests come to {}",
                          input.sources[input.runs[i].source].path, FigureText(one.what, one.file),
                          one.what, FigureText(one.what, one.ours));
    }
  }
  if (n_apart == 0) return;
  health.push_back(
      {"aggregates_differ", Severity::kWarning, n_apart,
       fmt::format("{} of {} figures that the benchmark gives itself are not those of its requests "
                   "({}); both are shown under runs[].comparison.",
                   n_apart, n_compared, first)});
}

void AddServerCounts(const WorkloadInput& input, const WorkloadFigures& figures,
                     std::vector<HealthEntry>& health) {
  const auto differs = std::find_if(
      figures.differences.begin(), figures.differences.end(),
      [](const Difference& difference) { return difference.is_count && difference.differs; });
  if (differs == figures.differences.end() || input.runs.size() != 1) return;
  health.push_back(
      {"server_differs", Severity::kWarning, 1,
       fmt::format("The server counted other {} than the benchmark ({} and {}): its counters also "
                   "hold warm-up and other clients{}; both are shown under differences.",
                   differs->what, FigureText(differs->what, differs->server),
                   FigureText(differs->what, differs->bench),
                   input.server_difference
                       ? ""
                       : " since its start (--prometheus-before takes a dump from before the "
                         "run)")});
}

}  // namespace

std::vector<HealthEntry> WorkloadHealth(const WorkloadInput& input,
                                        const WorkloadFigures& figures) {
  std::vector<HealthEntry> health;
  AddLosses(input, health);
  AddAggregates(input, figures, health);
  AddServerCounts(input, figures, health);
  return health;
}

}  // namespace layerscope::document
