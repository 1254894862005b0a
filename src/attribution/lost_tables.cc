#include "src/attribution/lost_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "src/attribution/attribution.h"
#include "src/attribution/captured_pieces.h"
#include "src/base/format_number.h"

namespace layerscope::attribution {
namespace {

using table::Severity;

/// What the reader calls a name whose row is not in the file.
constexpr std::string_view kUnknownName = "[unknown]";

bool Holds(const trace::Activities& rows, trace::ActivityKind kind) {
  return std::find(rows.kind.begin(), rows.kind.end(), kind) != rows.kind.end();
}

/// Launches of one kernel, and of graphs where none was recorded as a whole.
int64_t CountKernelLaunches(const trace::Trace& trace) {
  const bool has_graphs = Holds(trace.activities, trace::ActivityKind::kGraph);
  const CallNameFlags names = ClassifyCallNames(trace);
  std::vector<uint8_t> is_captured(trace.calls.size(), 0);
  for (const CapturedPiece& piece : FindCapturedPieces(trace, {})) {
    for (const CapturedCall& call : piece.calls) is_captured[call.call] = 1;
  }
  int64_t n = 0;
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const size_t name = trace.calls.name[i].index();
    if (is_captured[i] != 0 || names.is_launch[name] == 0) continue;
    const std::string_view text = trace.strings[trace.calls.name[i]];
    const bool is_kernel = text.find("Kernel") != std::string_view::npos;
    if (is_kernel || (names.is_graph_launch[name] != 0 && !has_graphs)) ++n;
  }
  return n;
}

int64_t CountNamelessCalls(const trace::Trace& trace) {
  if (trace.calls.size() == 0) return 0;
  const trace::StringId first = trace.calls.name.front();
  const bool is_same = std::all_of(trace.calls.name.begin(), trace.calls.name.end(),
                                   [first](trace::StringId name) { return name == first; });
  const bool is_lost = is_same && trace.strings[first] == kUnknownName;
  return is_lost ? static_cast<int64_t>(trace.calls.size()) : 0;
}

}  // namespace

LostTables FindLostTables(const trace::Trace& trace) {
  LostTables lost;
  if (trace.format != trace::TraceFormat::kNsys) return lost;
  if (!Holds(trace.activities, trace::ActivityKind::kKernel)) {
    lost.kernels = CountKernelLaunches(trace);
  }
  lost.names = CountNamelessCalls(trace);
  if (trace.calls.size() > 0) return lost;
  const std::vector<int64_t>& correlations = trace.activities.correlation;
  lost.calls = std::count_if(correlations.begin(), correlations.end(), [](int64_t correlation) {
    return correlation != trace::kNoCorrelation;
  });
  return lost;
}

std::vector<table::HealthEntry> LostTableWarnings(const LostTables& lost) {
  std::vector<table::HealthEntry> entries;
  const auto add = [&](const char* code, int64_t n, const std::string& what) {
    if (n == 0) return;
    entries.push_back(
        {code, Severity::kDataLoss, n, what + " Export the report again with all of its tables."});
  };
  add("lost_kernels", lost.kernels,
      fmt::format("The table of kernels (CUPTI_ACTIVITY_KIND_KERNEL) is missing or empty, though "
                  "{} are in the file: their time counts nowhere.",
                  base::FormatCounted(lost.kernels, "launch", "launches")));
  add("lost_calls", lost.calls,
      fmt::format("The table of CUDA API calls (CUPTI_ACTIVITY_KIND_RUNTIME) is missing or empty, "
                  "though {} the call that launched them: nothing is known of launches.",
                  base::FormatCounted(lost.calls, "activity names", "activities name")));
  add("lost_names", lost.names,
      fmt::format("The table of names (StringIds) is missing or empty, so that {} and all kernels "
                  "are [unknown]: what launches and what waits is not known.",
                  base::FormatCounted(lost.names, "CUDA API call", "CUDA API calls")));
  return entries;
}

}  // namespace layerscope::attribution
