#include "src/session/stats.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <map>

#include "src/base/format_number.h"

namespace layerscope::session {
namespace {

/// The largest resident set of this process so far, in bytes.
int64_t PeakResidentBytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return int64_t{usage.ru_maxrss} * 1024;
}

int64_t KeptRows(const trace::Trace& trace) {
  return static_cast<int64_t>(trace.activities.size() + trace.calls.size() + trace.ops.size() +
                              trace.RecordedScopes().size() + trace.annotations.size());
}

void AddLine(std::string& text, std::string_view label, std::string_view value) {
  text += fmt::format("  {:<14}{}\n", label, value);
}

}  // namespace

std::string StatsText(const Outcome& outcome, const base::StageClock& clock) {
  std::string text = "layerscope: stats\n";
  int64_t read_ns = 0;
  for (const base::StageClock::Stage& stage : clock.stages()) {
    AddLine(text, stage.name, base::FormatDuration(stage.wall_ns));
    if (stage.name == "read") read_ns = stage.wall_ns;
  }
  int64_t n_events = 0;
  int64_t n_rows = 0;
  int64_t bytes_read = 0;
  std::vector<std::pair<std::string, int64_t>> memory;
  for (const LoadedRank& rank : outcome.run->ranks) {
    n_events += rank.trace->counts.n_events;
    n_rows += KeptRows(*rank.trace);
    bytes_read += rank.bytes_read;
    const std::vector<std::pair<std::string, int64_t>> groups = rank.trace->MemoryUse();
    memory.resize(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      memory[i].first = groups[i].first;
      memory[i].second += groups[i].second;
    }
  }
  int64_t column_bytes = 0;
  for (const auto& [group, bytes] : memory) {
    AddLine(text, group, base::FormatBytes(bytes));
    column_bytes += bytes;
  }
  AddLine(text, "columns", base::FormatBytes(column_bytes));
  AddLine(text, "rows kept",
          fmt::format("{} of {} events", base::FormatCount(n_rows), base::FormatCount(n_events)));
  if (n_rows > 0) {
    AddLine(text, "bytes a row", fmt::format("{}", column_bytes / n_rows));
  }
  AddLine(text, "bytes read", base::FormatBytes(bytes_read));
  if (read_ns > 0) {
    const double seconds = static_cast<double>(read_ns) * 1e-9;
    AddLine(text, "events/s",
            base::FormatCount(static_cast<int64_t>(static_cast<double>(n_events) / seconds)));
  }
  AddLine(text, "peak memory", base::FormatBytes(PeakResidentBytes()));
  return text;
}

}  // namespace layerscope::session
