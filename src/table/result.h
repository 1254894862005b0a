#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/table/value.h"

namespace layerscope::table {

enum class Severity : uint8_t { kInfo, kWarning, kDataLoss, kError };
/// "info", "warning", "data_loss", "error".
std::string_view ToString(Severity severity);

/// One entry of `health`: an import-ledger counter, or a warning of an analysis.
struct HealthEntry {
  std::string code{};  ///< stable word, e.g. "truncated"
  Severity severity = Severity::kInfo;
  int64_t count = 0;
  std::string message{};  ///< one sentence for the user, with a bounded sample where there is one
};

/// The share of each evidence class; `module` and `layer` each sum to total_ns, unresolved
/// included.
struct Coverage {
  int64_t total_ns = 0;
  CellMap module{};
  CellMap layer{};
};

/// Why rows are missing although the run succeeded (CLI.md rule 3).
struct Abstention {
  std::string code{};
  std::string why{};
  std::string how{};
};

/// One input of the envelope.
struct InputInfo {
  std::string path{};
  std::string kind{};  ///< "kineto"
  std::optional<int64_t> rank{};
  int64_t t0_ns = 0;    ///< absolute time of this input's zero; a string in JSON
  int64_t span_ns = 0;  ///< from zero to the last end
};

/// What people see of one analysis, in order. Machines read `data`.
struct Block {
  enum class Kind : uint8_t { kTable, kFacts, kText };
  Kind kind = Kind::kText;
  std::string title{};
  Table table{};                                             ///< kTable
  std::vector<std::pair<std::string, std::string>> facts{};  ///< kFacts: label and text
  std::string text{};                                        ///< kText: one paragraph
};

Block TableBlock(Table table);
/// The table under another title.
Block TableBlock(std::string title, Table table);

/// One analysis over one input file.
struct RankResult {
  std::optional<int64_t> rank{};
  std::string input{};
  Coverage coverage{};
  Object data{};
  std::vector<Block> blocks{};
  /// The key in `data` of the table that CSV prints when --table is not given.
  std::string main_table{};
  std::vector<HealthEntry> warnings{};
  std::optional<Abstention> abstained{};
  /// False: no figure of this result rests on modules, so people see neither what they rest on nor
  /// what hides them.
  bool shows_modules = true;
};

/// What people see above what was reduced over several inputs.
inline constexpr const char* kAllRanks = "all ranks";

/// One run of a verb: the envelope of CLI.md rule 3 without its text form. One input file has one
/// entry in `ranks` and its data stands in `data`; several stand in `ranks`.
struct Result {
  std::string command{};
  std::vector<InputInfo> inputs{};
  Object options{};
  std::vector<HealthEntry> health{};
  std::vector<RankResult> ranks{};
  std::optional<Object> reduced{};      ///< over several ranks, where the verb reduces
  std::vector<Block> reduced_blocks{};  ///< what people see of it; empty: all of its tables
  std::string reduced_title = kAllRanks;
};

}  // namespace layerscope::table
