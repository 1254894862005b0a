#include "src/document/requests/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace layerscope::document {
namespace {

using table::Severity;

bool IsDirectory(const std::string& path) {
  std::error_code absent;
  return std::filesystem::is_directory(path, absent);
}

/// Directory and name: what an entry of the metadata and an input have in common.
std::string KeyOf(const std::filesystem::path& directory, const std::string& file) {
  return (directory / std::filesystem::path(file).filename()).lexically_normal().string();
}

/// Names of files for a message: a few of them.
std::string Sample(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kShown)));
  if (names.size() > kShown) shown.emplace_back("…");
  return fmt::format("{}", fmt::join(shown, ", "));
}

/// Hands out the traces by directory and name, each once.
class TraceIndex {
 public:
  explicit TraceIndex(const analysis::AnalysisInput& input) : input_(input) {
    for (size_t i = 0; i < input.ranks.size(); ++i) {
      const std::filesystem::path path(input.ranks[i].path);
      index_.emplace(KeyOf(path.parent_path(), path.string()), i);
    }
    taken_.resize(input.ranks.size(), false);
  }

  /// Null: there is none, or it was taken.
  const analysis::RankInput* Take(const std::string& key) {
    const auto at = index_.find(key);
    if (at == index_.end() || taken_[at->second]) return nullptr;
    taken_[at->second] = true;
    return &input_.ranks[at->second];
  }
  std::vector<const analysis::RankInput*> Rest() const {
    std::vector<const analysis::RankInput*> rest;
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) rest.push_back(&input_.ranks[i]);
    }
    return rest;
  }

 private:
  const analysis::AnalysisInput& input_;
  std::map<std::string, size_t> index_;
  std::vector<bool> taken_;
};

/// Adds the requests that one metadata names; what it names and is not there is said where the
/// whole directory was given.
void AddNamed(const RequestMetadata& metadata, bool whole_directory, TraceIndex& traces,
              RequestList& list) {
  const std::filesystem::path directory = std::filesystem::path(metadata.path).parent_path();
  std::vector<std::string> missing;
  for (const RequestEntry& entry : metadata.requests) {
    const std::string key = KeyOf(directory, entry.file);
    if (const analysis::RankInput* const trace = traces.Take(key)) {
      list.requests.push_back({trace, entry});
      continue;
    }
    std::error_code problem;
    // A file that is there and could not be read has been said already.
    if (whole_directory && !std::filesystem::exists(key, problem)) missing.push_back(entry.file);
  }
  list.health.insert(list.health.end(), metadata.health.begin(), metadata.health.end());
  if (missing.empty()) return;
  list.health.push_back(
      {"request_missing", Severity::kDataLoss, static_cast<int64_t>(missing.size()),
       fmt::format("{} names traces that are not there: {}.", metadata.path, Sample(missing))});
}

void AddRest(const TraceIndex& traces, RequestList& list) {
  std::vector<std::string> unnamed;
  for (const analysis::RankInput* const trace : traces.Rest()) {
    list.requests.push_back({trace, std::nullopt});
    unnamed.push_back(list.requests.back().name());
  }
  if (list.metadata.empty() || unnamed.empty()) return;
  list.health.push_back(
      {"request_not_in_metadata", Severity::kWarning, static_cast<int64_t>(unnamed.size()),
       fmt::format("Traces that no entry of the request metadata names have no label: {}.",
                   Sample(unnamed))});
}

}  // namespace

std::string Request::name() const {
  return std::filesystem::path(trace->path).filename().string();
}

std::vector<std::string> RequestMetadataPaths(const std::vector<std::string>& inputs) {
  std::vector<std::string> paths;
  for (const std::string& input : inputs) {
    if (input == "-") continue;
    const std::filesystem::path path(input);
    std::string metadata =
        ((IsDirectory(input) ? path : path.parent_path()) / kRequestMetadataName).string();
    if (std::find(paths.begin(), paths.end(), metadata) == paths.end()) {
      paths.push_back(std::move(metadata));
    }
  }
  return paths;
}

base::Result<RequestList> ListRequests(const analysis::AnalysisInput& input,
                                       const std::vector<std::string>& inputs) {
  RequestList list;
  TraceIndex traces(input);
  for (const std::string& path : RequestMetadataPaths(inputs)) {
    std::error_code absent;
    if (!std::filesystem::exists(path, absent)) continue;
    base::Result<RequestMetadata> metadata = LoadRequestMetadata(path);
    if (!metadata.ok()) return std::move(metadata).error();
    const std::filesystem::path directory = std::filesystem::path(path).parent_path();
    const bool whole = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
      return IsDirectory(name) &&
             std::filesystem::path(name) / kRequestMetadataName == directory / kRequestMetadataName;
    });
    AddNamed(*metadata, whole, traces, list);
    list.metadata.push_back(*std::move(metadata));
  }
  AddRest(traces, list);
  return list;
}

}  // namespace layerscope::document
