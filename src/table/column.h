#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace layerscope::table {

/// What a number counts; it decides how people see it ("3.21 ms", "1,234") and is the suffix of the
/// JSON key by convention (`dur_ns`, `bytes`).
enum class Unit : uint8_t { kNone, kNanoseconds, kBytes, kCount, kPartsPerMillion };

/// How a column is laid out for people. JSON and CSV ignore it.
enum class Role : uint8_t {
  kPlain,
  kName,   ///< takes the free width of the terminal; shortened in the middle when too long
  kTree,   ///< a name that is indented by the table's depth column
  kShare,  ///< an integer that is also shown as a share of `ColumnSpec::share_of`, with a bar
  kRest,   ///< a number that stands for columns without room: it never gives way itself
};

/// Who sees a column.
enum class Audience : uint8_t { kAll, kMachines, kPeople };

/// Written with designated initializers; every member has a default, so that any may be left out.
struct ColumnSpec {
  std::string name{};   ///< the stable JSON/CSV key, snake_case with its unit
  std::string title{};  ///< the heading for people; the name when empty
  Unit unit = Unit::kNone;
  Role role = Role::kPlain;
  Audience audience = Audience::kAll;
  int64_t share_of = 0;  ///< the whole for Role::kShare; 0 = no share is shown
  int priority = 0;      ///< on a narrow terminal the columns of the largest priority go first
  std::string note{};    ///< a line under the table for people, where the column has room
  /// The cells of all such columns sum to a whole: those without room are shown as one, "rest".
  bool part = false;
};

/// One cell. Null stands for "unknown", never for zero.
using Null = std::monostate;

/// `{name: integer}` in one cell, e.g. evidence. Only non-zero entries are kept, in order.
using CellMap = std::vector<std::pair<std::string, int64_t>>;
/// A list in one cell, e.g. flags.
using CellList = std::vector<std::string>;
using Cell = std::variant<Null, bool, int64_t, double, std::string_view, CellMap, CellList>;

/// A read-only view of one column: it computes a cell on demand and copies nothing ahead. The data
/// behind it is owned by whoever made it.
struct Column {
  ColumnSpec spec;
  std::function<Cell(size_t row)> cell;
};

}  // namespace layerscope::table
