#pragma once
// The tables of an Nsight Systems SQLite export and the columns that each version of them has, as
// read from real exports and, for graphs, from NVIDIA's schema reference.

#include <string_view>
#include <vector>

#include "bench/gen/nsys_options.h"

namespace layerscope::gen {

struct NsysColumn {
  using Schema = NsysOptions::Schema;
  std::string_view name;
  std::string_view type;
  // What a row has that says nothing of it; empty: NULL.
  std::string_view otherwise = {};
  Schema since = Schema::k2022_2;
  Schema until = Schema::k2026_2;
  bool In(Schema schema) const { return schema >= since && schema <= until; }
};

struct NsysTable {
  std::string_view name;
  std::vector<NsysColumn> columns;
  NsysColumn::Schema since = NsysColumn::Schema::k2022_2;
  NsysColumn::Schema until = NsysColumn::Schema::k2026_2;
};

// All tables of a version. Two may have one name in different versions.
std::vector<NsysTable> NsysTables(NsysOptions::Schema schema);
// Version of the profiler and of its schema: "2026.2.1.210", "3.25.0".
std::string_view NsysProductVersion(NsysOptions::Schema schema);
std::string_view NsysSchemaVersion(NsysOptions::Schema schema);

}  // namespace layerscope::gen
