#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/table/result.h"

namespace layerscope::render {

/// `health` of the envelope: the entries of the result, then the warnings of its ranks. With
/// several ranks equal warnings (code, severity, message) are one entry with the sum of their
/// counts, and its message starts with the ranks it stands for ("rank 3: …", "ranks 0, 1: …")
/// unless all have it.
std::vector<table::HealthEntry> CollectHealth(const table::Result& result);

/// Those that people see: warnings and worse, the worst first; the rest only when verbose.
std::vector<table::HealthEntry> HealthForPeople(const table::Result& result, bool verbose);
/// "data loss", "warning", …
std::string SeverityWords(table::Severity severity);
/// "Events have … left out. [bad_time × 12]"
std::string HealthText(const table::HealthEntry& entry);

/// "evidence: launch_correlation 97.2 %, unresolved 2.8 %"; a second line "evidence of layers: …"
/// when any layer is known. Empty when nothing was measured.
std::vector<std::string> CoverageLines(const table::Coverage& coverage);

/// Two inputs are of one rank: recordings one after the other, or a mistake.
bool HasRankTwice(const table::Result& result);
/// "rank 3", or the path of the input when its rank is unknown.
std::string RankName(const table::RankResult& rank);
/// Whether `data` stands in `ranks` (several inputs) rather than at the top.
bool HasSeveralRanks(const table::Result& result);

}  // namespace layerscope::render
