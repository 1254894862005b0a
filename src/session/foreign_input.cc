#include "src/session/foreign_input.h"

#include <fmt/format.h>

#include <string_view>

#include "src/base/shell_quote.h"
#include "src/session/file_begin.h"
#include "src/session/input_kind.h"
#include "src/session/view_inputs.h"
#include "src/session/workload.h"
#include "src/workload/kind.h"

namespace layerscope::session {
namespace {

/// The file of a document, by its name in the viewer.
std::string_view FileOfDocument(std::string_view name) {
  if (name == "map") return "model_execution.json";
  return name == "requests" ? "per_request_profiles.json" : "workload_data.json";
}

}  // namespace

base::Error NamedByKind(const std::string& path, base::Error error) {
  if (error.code != base::ErrorCode::kInvalidInput) return error;
  const std::string begin = FileBegin(path, kSniffBytes);
  if (begin.empty()) return error;
  const std::string quoted = base::ShellQuoted(path);
  const workload::Kind kind = workload::SniffKind(begin);
  if (workload::IsBenchmark(kind)) {
    return {
        base::ErrorCode::kInvalidInput,
        fmt::format("this is a benchmark's result ({}), no trace", workload::ToString(kind)),
        fmt::format("`layerscope workload {0}` reads it, `layerscope view {0}` shows it", quoted)};
  }
  if (kind == workload::Kind::kPrometheus) {
    return {base::ErrorCode::kInvalidInput, "this is Prometheus text (metrics), no trace",
            fmt::format("`layerscope workload {0}` reads those of vLLM and SGLang, `layerscope "
                        "view {0}` shows them",
                        quoted)};
  }
  if (const std::string name = DocumentNameOf(begin); !name.empty()) {
    return {base::ErrorCode::kInvalidInput,
            fmt::format("this is a finished document ({}), no trace", FileOfDocument(name)),
            fmt::format("`layerscope view {}` shows it", quoted)};
  }
  return error;
}

base::Error ForeignToWorkload(const std::vector<std::string>& inputs, base::Error error) {
  if (error.code != base::ErrorCode::kInvalidInput) return error;
  for (const std::string& path : inputs) {
    const std::string begin = FileBegin(path, kSniffBytes);
    if (begin.empty() || KindOf(path) != InputKind::kTrace) continue;
    const std::string name = workload::ForeignName(begin);
    if (name == workload::kProfilerTrace) continue;
    return {base::ErrorCode::kInvalidInput, fmt::format("{}: this is {}", path, name),
            fmt::format("{}; traces may stand beside them", workload::kWhatIsRead)};
  }
  return error;
}

}  // namespace layerscope::session
