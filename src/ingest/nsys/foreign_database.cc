#include "src/ingest/nsys/foreign_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::ingest::nsys {
namespace {

constexpr std::string_view kExportHint = "nsys export --type sqlite report.nsys-rep writes one";
constexpr size_t kShownTables = 5;
constexpr size_t kShownBytes = 40;

bool HasTable(const Schema& schema, std::string_view begin) {
  return std::any_of(schema.tables().begin(), schema.tables().end(),
                     [begin](const std::string& table) { return table.starts_with(begin); });
}

std::string ListTables(const Schema& schema) {
  std::string list;
  for (size_t i = 0; i < std::min(schema.tables().size(), kShownTables); ++i) {
    const std::string& table = schema.tables()[i];
    list += fmt::format("{}{}", i == 0 ? "" : ", ", table.substr(0, kShownBytes));
    if (table.size() > kShownBytes) list += "…";
  }
  const int64_t more = schema.n_tables() - static_cast<int64_t>(kShownTables);
  return more > 0 ? fmt::format("{} and {} more", list, more) : list;
}

std::string Describe(const Schema& schema) {
  if (HasTable(schema, "rocpd_")) return "a rocprofiler (rocpd) database";
  if (schema.n_tables() == 0) return "an SQLite database without tables";
  if (HasTable(schema, "StringTable") && HasTable(schema, "CUPTI_ACTIVITY_KIND_")) {
    return "an nvprof database";
  }
  return fmt::format("an SQLite database with the tables {}", ListTables(schema));
}

}  // namespace

base::Error DescribeForeign(const Schema& schema) {
  if (schema.n_tables() == 1 && schema.tables().front() == "results") {  // as matrix names it
    return {base::ErrorCode::kInvalidInput,
            "this is the table of a layerscope-capture matrix, not an Nsight Systems export",
            "its recordings are the folders beside it: name one of them"};
  }
  return {base::ErrorCode::kInvalidInput,
          fmt::format("this is {}, not an Nsight Systems export", Describe(schema)),
          std::string(kExportHint)};
}

}  // namespace layerscope::ingest::nsys
