#include "src/model/inductor_debug_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "src/base/parse_number.h"

namespace layerscope::model {
namespace {

namespace fs = std::filesystem;

/// torch_compile_debug/run_*/torchinductor/model__*/FILE, and what people wrap around it.
constexpr int kMaxDepth = 6;
/// A run of thousands of graphs has some ten files each.
constexpr int64_t kMaxEntries = 200'000;

/// "…/model__0_inference_0.12" -> 12; names without a number come last.
int64_t NumberOf(const std::string& folder) {
  const size_t dot = folder.rfind('.');
  if (dot == std::string::npos) return INT64_MAX;
  return base::ParseWhole(std::string_view(folder).substr(dot + 1)).value_or(INT64_MAX);
}

void SortByGraph(std::vector<std::string>& folders) {
  const auto key = [](const std::string& folder) {
    return std::make_tuple(fs::path(folder).parent_path().string(), NumberOf(folder), folder);
  };
  std::sort(folders.begin(), folders.end(),
            [&key](const std::string& a, const std::string& b) { return key(a) < key(b); });
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
}

}  // namespace

base::Result<InductorDebugFolder> FindInductorDebugFolder(const std::string& path) {
  std::error_code error;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  InductorDebugFolder found;
  int64_t n_entries = 0;
  while (!error && at != fs::recursive_directory_iterator()) {
    if (++n_entries > kMaxEntries) break;
    if (at.depth() >= kMaxDepth) at.disable_recursion_pending();
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (at->is_regular_file(ignored)) {
      if (name == kProvenanceMapName || name == kOutputCodeName) {
        found.graphs.push_back(at->path().parent_path().string());
      } else if (name.starts_with("dedicated_log_torch_trace_") && name.ends_with(".log")) {
        found.logs.push_back(at->path().string());
      }
    }
    at.increment(error);
  }
  if (error) {
    return base::Error{base::ErrorCode::kInvalidInput, "listing " + path + ": " + error.message(),
                       "give a folder that exists and that you may read"};
  }
  SortByGraph(found.graphs);
  std::sort(found.logs.begin(), found.logs.end());
  return found;
}

}  // namespace layerscope::model
