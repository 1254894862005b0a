#include "src/session/view_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "src/document/requests/metadata.h"
#include "src/session/file_begin.h"
#include "src/session/input_files.h"
#include "src/session/rank_name.h"
#include "src/session/workload.h"

namespace layerscope::session {
namespace {

/// Enough for the first keys of every document, whatever stands in `model` or `config`.
constexpr size_t kBeginBytes = size_t{64} << 10;

bool IsDirectory(const std::string& path) {
  std::error_code problem;
  return std::filesystem::is_directory(path, problem);
}

/// A directory of traces that are runs of their own.
bool HoldsRequests(const std::string& path) {
  std::error_code problem;
  const std::filesystem::path metadata =
      std::filesystem::path(path) / std::string(document::kRequestMetadataName);
  if (std::filesystem::exists(metadata, problem)) return true;
  if (FindInputFiles({path}).ok()) return false;
  const base::Result<std::vector<InputFile>> runs = FindInputFiles({path}, InputSet::kRuns);
  if (!runs.ok()) return false;
  return std::none_of(runs->begin(), runs->end(), [](const InputFile& file) {
    return ParseRankName(std::filesystem::path(file.path).filename().string()).known();
  });
}

/// A directory whose traces lie in one folder of it: `layerscope-capture serve-bench` leaves them
/// so beside the results.
bool HoldsFolderOfTraces(const std::string& path) {
  const base::Result<std::vector<InputFile>> files = FindInputFiles({path});
  if (!files.ok()) return false;
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::path(files->front().path).parent_path();
  return !std::filesystem::equivalent(folder, path, problem) && !problem;
}

void Sort(const std::string& input, ViewInputs& sorted) {
  if (IsDirectory(input)) {
    const std::vector<std::string> files = WorkloadFilesIn(input);
    if (!files.empty() && !HoldsRecordings(input)) {
      sorted.workload.insert(sorted.workload.end(), files.begin(), files.end());
      if (HoldsFolderOfTraces(input)) sorted.ranks.push_back(input);
      return;
    }
    (HoldsRequests(input) ? sorted.requests : sorted.ranks).push_back(input);
    return;
  }
  if (IsWorkloadFile(input)) {
    sorted.workload.push_back(input);
    return;
  }
  std::string document = DocumentNameOf(FileBegin(input, kBeginBytes));
  if (document.empty()) {
    sorted.ranks.push_back(input);
  } else {
    sorted.documents.emplace_back(std::move(document), input);
  }
}

base::Status CheckTogether(const ViewInputs& sorted) {
  if (!sorted.ranks.empty() && !sorted.requests.empty()) {
    return base::UsageError(
        fmt::format("{} holds traces of single requests, and {} is a run of its own",
                    sorted.requests.front(), sorted.ranks.front()),
        "look at them one after the other");
  }
  const auto& documents = sorted.documents;
  for (size_t i = 0; i < documents.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (documents[i].first != documents[k].first) continue;
      return base::UsageError(
          fmt::format("{} and {} hold the same kind of document ({})", documents[k].second,
                      documents[i].second, documents[i].first),
          "give one of them");
    }
  }
  return {};
}

}  // namespace

std::string DocumentNameOf(std::string_view begin) {
  const auto holds = [begin](std::string_view text) {
    return begin.find(text) != std::string_view::npos;
  };
  if (holds("\"layerscope/per_request_profiles/")) return "requests";
  if (holds("\"layerscope/workload/")) return "workload";
  if (holds("\"traceEvents\"")) return {};
  constexpr std::array<std::string_view, 4> kMapKeys = {"\"module_tree\"", "\"layer_template\"",
                                                        "\"ops_per_layer\"", "\"pre_model_ops\""};
  const bool is_map = begin.find_first_not_of(" \t\r\n") == begin.find('{') &&
                      std::any_of(kMapKeys.begin(), kMapKeys.end(), holds);
  return is_map ? "map" : std::string();
}

base::Result<ViewInputs> SortViewInputs(const std::vector<std::string>& inputs) {
  ViewInputs sorted;
  for (const std::string& input : inputs) Sort(input, sorted);
  if (base::Status good = CheckTogether(sorted); !good.ok()) return std::move(good).error();
  return sorted;
}

}  // namespace layerscope::session
