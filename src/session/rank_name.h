#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace layerscope::session {

/// What a file's name says of its rank (CLI.md rule 6): "rank0.…", "bs_8_rank3…",
/// "dp0_pp0_tp1_…rank1…" give the rank; "{id}-TP-1-DP-0-PP-0-EP-0" gives coordinates.
struct RankName {
  std::optional<int64_t> rank;
  std::optional<int64_t> tp;
  std::optional<int64_t> pp;
  bool is_merged = false;  ///< "merged-…": holds several ranks

  bool known() const { return rank || tp; }
};

RankName ParseRankName(std::string_view file_name);

/// The rank of one file: the name's rank; of coordinates tp + pp × tp_size. Unknown where pp > 0
/// and tp_size (ranks of one pipeline stage; 0 = unknown) is not known.
std::optional<int64_t> RankOf(const RankName& name, int64_t tp_size);

}  // namespace layerscope::session
