#include "src/session/side_file_name.h"

#include <charconv>
#include <system_error>

#include "src/session/rank_name.h"

namespace layerscope::session {
namespace {

constexpr std::string_view kBatch = "bs_";
constexpr std::string_view kGraphCapture = "graph_capture_rank";
constexpr std::string_view kGraphAnnotations = "graph_annotations";
constexpr std::string_view kModelTree = "model_tree";

/// "bs_32_rank0": the batch; absent when the name is built otherwise.
std::optional<int64_t> CaptureBatch(std::string_view name) {
  if (!name.starts_with(kBatch)) return std::nullopt;
  int64_t batch = 0;
  const char* const end = name.data() + name.size();
  const auto [at, problem] = std::from_chars(name.data() + kBatch.size(), end, batch);
  if (problem != std::errc() || batch < 0) return std::nullopt;
  const std::string_view rest(at, static_cast<size_t>(end - at));
  if (!rest.starts_with("_rank") && !rest.starts_with("-rank")) return std::nullopt;
  return batch;
}

/// The name is the word alone, or the word and a rank.
bool IsWordAndRank(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  const std::string_view rest = name.substr(word.size());
  return rest.starts_with(".json") || rest.starts_with("_rank") || rest.starts_with("-rank");
}

}  // namespace

std::optional<SideName> ParseSideName(std::string_view file_name) {
  if (!IsTraceName(file_name)) return std::nullopt;
  SideName name;
  name.rank = ParseRankName(file_name).rank;
  name.batch = CaptureBatch(file_name);
  if (name.batch || file_name.starts_with(kGraphCapture)) return name;
  name.kind = SideKind::kAnnotations;
  if (IsWordAndRank(file_name, kGraphAnnotations)) return name;
  name.kind = SideKind::kModelTree;
  if (IsWordAndRank(file_name, kModelTree)) return name;
  return std::nullopt;
}

bool IsTraceName(std::string_view file_name) {
  return file_name.ends_with(".json") || file_name.ends_with(".json.gz") ||
         file_name.ends_with(".json.zst");
}

}  // namespace layerscope::session
