#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/table/value.h"

namespace layerscope::render {

/// A table inside `data`, named by its keys: "nodes", "devices", "devices.streams".
struct NamedTable {
  std::string path{};
  std::shared_ptr<const table::Table> table{};
};

/// Every row set of `data` in its order: Tables, and arrays of objects as tables whose nested
/// objects are columns with dotted names. Arrays of objects inside such rows are tables of their
/// own; their rows start with the first value of the row that they stand in (the `device` of a
/// stream).
std::vector<NamedTable> TablesOf(const table::Object& data);

/// The scalars of `data` and its nested objects with dotted names, in order; lists of scalars count
/// as one.
std::vector<std::pair<std::string, table::Cell>> ScalarsOf(const table::Object& data);

}  // namespace layerscope::render
