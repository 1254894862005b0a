#include "src/session/rank_name.h"

#include <cctype>
#include <charconv>

namespace layerscope::session {
namespace {

/// The number behind `key`, where `key` does not continue a word: "rank" in "x_rank3", "rank-3".
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    size_t digits = at + key.size();
    if (digits < text.size() && (text[digits] == '-' || text[digits] == '_')) ++digits;
    int64_t number = 0;
    const auto [end, problem] =
        std::from_chars(text.data() + digits, text.data() + text.size(), number);
    if (problem == std::errc() && end != text.data() + digits && number >= 0) return number;
  }
  return std::nullopt;
}

}  // namespace

RankName ParseRankName(std::string_view file_name) {
  RankName name;
  name.is_merged = file_name.starts_with("merged-") || file_name.starts_with("merged_");
  if (name.is_merged) return name;
  name.rank = NumberAfter(file_name, "rank");
  name.tp = NumberAfter(file_name, "TP-");
  name.pp = NumberAfter(file_name, "PP-");
  return name;
}

std::optional<int64_t> RankOf(const RankName& name, int64_t tp_size) {
  if (name.rank) return name.rank;
  if (!name.tp) return std::nullopt;
  const int64_t stage = name.pp.value_or(0);
  if (stage == 0) return name.tp;
  if (tp_size <= 0) return std::nullopt;
  return *name.tp + stage * tp_size;
}

}  // namespace layerscope::session
