#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/table/value.h"
#include "src/trace/trace.h"

namespace layerscope::analysis {

/// What the tables of a database (Nsight Systems) say of how it was recorded, and what is missing.

/// How it is recorded so that kernels, ranges and what graphs replay are in it.
inline constexpr std::string_view kRecordCommand =
    "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node -o report COMMAND";

/// "Nsight Systems export, nsys 2026.2.1 (schema 3.25.0)"; of a trace of PyTorch's profiler what
/// that is.
std::string FormatText(const trace::Trace& trace);

/// `profiler`, `graph_trace_mode`, `n_graph_nodes`, `absent_tables`.
table::Object RecordingObject(const trace::Trace& trace);

/// The same as lines for people: label and text.
std::vector<std::pair<std::string, std::string>> RecordingFacts(const trace::Trace& trace);

}  // namespace layerscope::analysis
