#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace layerscope::session {

/// Files that engines and our capture write beside a trace. None of them is a rank of the run.
enum class SideKind : uint8_t { kCapture, kAnnotations, kModelTree };

/// The model's config beside a trace.
inline constexpr const char* kConfigName = "config.json";
/// The folder of captures beside a trace.
inline constexpr const char* kCaptureFolder = "capture_traces";

/// What the name of such a file says (CLI.md rule 6, formats/kineto.md, formats/outputs.md).
struct SideName {
  SideKind kind = SideKind::kCapture;
  std::optional<int64_t> rank;
  std::optional<int64_t> batch;  ///< of a capture
};

/// `bs_<bs>_rank<r>….json[.gz|.zst]` and `graph_capture_rank_<r>….json[.gz|.zst]` are captures,
/// `graph_annotations_rank<r>.json` annotations, `model_tree.json` and `model_tree_rank<r>.json`
/// model trees. Absent for every other name.
std::optional<SideName> ParseSideName(std::string_view file_name);

/// `.json`, `.json.gz` or `.json.zst`: a trace may be in it.
bool IsTraceName(std::string_view file_name);

}  // namespace layerscope::session
