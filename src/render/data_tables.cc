#include "src/render/data_tables.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "src/render/json.h"

namespace layerscope::render {
namespace {

using table::Array;
using table::Cell;
using table::Object;
using table::Value;

using ObjectPtr = std::shared_ptr<Object>;
using ArrayPtr = std::shared_ptr<Array>;
using TablePtr = std::shared_ptr<table::Table>;

const ObjectPtr* AsObject(const Value& value) {
  return std::get_if<ObjectPtr>(&value.variant());
}
const ArrayPtr* AsArray(const Value& value) {
  return std::get_if<ArrayPtr>(&value.variant());
}
const TablePtr* AsTable(const Value& value) {
  return std::get_if<TablePtr>(&value.variant());
}

/// An array whose elements are objects; an empty one is both a row set and a list.
bool IsRowSet(const Array& array) {
  return std::all_of(array.begin(), array.end(),
                     [](const Value& value) { return AsObject(value) != nullptr; });
}

std::string ElementText(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.variant())) return *text;
  return JsonText(value);
}

/// The cell of a scalar or a list of scalars; it views the value's text.
Cell CellOf(const Value& value) {
  struct Visitor {
    Cell operator()(table::Null) const { return table::Null{}; }
    Cell operator()(bool v) const { return v; }
    Cell operator()(int64_t v) const { return v; }
    Cell operator()(double v) const { return v; }
    Cell operator()(const std::string& v) const { return std::string_view(v); }
    Cell operator()(const ObjectPtr&) const { return table::Null{}; }
    Cell operator()(const TablePtr&) const { return table::Null{}; }
    Cell operator()(const ArrayPtr& v) const {
      table::CellList list;
      for (const Value& element : *v) list.push_back(ElementText(element));
      return list;
    }
  };
  return std::visit(Visitor{}, value.variant());
}

using Scalars = std::vector<std::pair<std::string, const Value*>>;

void Flatten(const Object& object, const std::string& prefix, Scalars& out) {
  for (const auto& [key, value] : object) {
    if (const ObjectPtr* nested = AsObject(value)) {
      Flatten(**nested, prefix + key + '.', out);
    } else if (const ArrayPtr* array = AsArray(value)) {
      if ((*array)->empty() || !IsRowSet(**array)) out.emplace_back(prefix + key, &value);
    } else if (AsTable(value) == nullptr) {
      out.emplace_back(prefix + key, &value);
    }
  }
}

/// Rows that are objects, turned into columns. The values stay where they are.
class RowSet {
 public:
  void Add(const Object& row, const std::pair<std::string, Value>* leading) {
    Scalars scalars;
    const auto has = [&row](std::string_view key) {
      return std::any_of(row.begin(), row.end(), [key](const auto& m) { return m.first == key; });
    };
    if (leading != nullptr && !has(leading->first)) {
      scalars.emplace_back(leading->first, &leading->second);
    }
    Flatten(row, "", scalars);
    for (const auto& [name, value] : scalars) {
      const size_t at = ColumnAt(name);
      columns_[at].resize(n_rows_, nullptr);
      columns_[at].push_back(value);
    }
    ++n_rows_;
  }

  /// `owner` keeps the values alive.
  std::shared_ptr<const table::Table> Build(const ArrayPtr& owner) && {
    auto table = std::make_shared<table::Table>();
    table->n_rows = n_rows_;
    table->owned.push_back(owner);
    for (size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].resize(n_rows_, nullptr);
      const auto values = std::make_shared<const std::vector<const Value*>>(std::move(columns_[i]));
      table::ColumnSpec spec{.name = names_[i]};
      if (spec.name.ends_with("_ns")) spec.unit = table::Unit::kNanoseconds;
      table->columns.push_back({std::move(spec), [values, owner](size_t row) {
                                  const Value* value = (*values)[row];
                                  return value == nullptr ? Cell(table::Null{}) : CellOf(*value);
                                }});
    }
    return table;
  }

 private:
  size_t ColumnAt(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
      columns_.emplace_back();
      names_.push_back(name);
      return names_.size() - 1;
    }
    return static_cast<size_t>(found - names_.begin());
  }

  size_t n_rows_ = 0;
  std::vector<std::string> names_;
  std::vector<std::vector<const Value*>> columns_;
};

/// An object that stands in a row set, with the value that names the row around it.
struct NestedRow {
  const Object* row = nullptr;
  const std::pair<std::string, Value>* leading = nullptr;
};

const std::pair<std::string, Value>* FirstScalar(const Object& row) {
  for (const auto& member : row) {
    const bool nested = AsObject(member.second) != nullptr || AsArray(member.second) != nullptr ||
                        AsTable(member.second) != nullptr;
    if (!nested) return &member;
  }
  return nullptr;
}

void AddRowSet(const std::string& path, const std::vector<NestedRow>& rows, const ArrayPtr& owner,
               std::vector<NamedTable>& out) {
  RowSet row_set;
  std::vector<std::pair<std::string, std::vector<NestedRow>>> nested;
  for (const NestedRow& row : rows) {
    row_set.Add(*row.row, row.leading);
    for (const auto& [key, value] : *row.row) {
      const ArrayPtr* array = AsArray(value);
      if (array == nullptr || !IsRowSet(**array)) continue;
      auto at = std::find_if(nested.begin(), nested.end(),
                             [&key = key](const auto& entry) { return entry.first == key; });
      if (at == nested.end()) at = nested.insert(at, {key, {}});
      for (const Value& element : **array) {
        at->second.push_back({AsObject(element)->get(), FirstScalar(*row.row)});
      }
    }
  }
  out.push_back({path, std::move(row_set).Build(owner)});
  for (const auto& [key, inner] : nested) {
    if (!inner.empty()) AddRowSet(path + '.' + key, inner, owner, out);
  }
}

void AddTables(const Object& object, const std::string& prefix, std::vector<NamedTable>& out) {
  for (const auto& [key, value] : object) {
    if (const TablePtr* table = AsTable(value)) {
      out.push_back({prefix + key, *table});
    } else if (const ObjectPtr* nested = AsObject(value)) {
      AddTables(**nested, prefix + key + '.', out);
    } else if (const ArrayPtr* array = AsArray(value); array != nullptr && IsRowSet(**array)) {
      std::vector<NestedRow> rows;
      for (const Value& element : **array) rows.push_back({AsObject(element)->get(), nullptr});
      AddRowSet(prefix + key, rows, *array, out);
    }
  }
}

}  // namespace

std::vector<NamedTable> TablesOf(const Object& data) {
  std::vector<NamedTable> tables;
  AddTables(data, "", tables);
  return tables;
}

std::vector<std::pair<std::string, Cell>> ScalarsOf(const Object& data) {
  Scalars scalars;
  Flatten(data, "", scalars);
  std::vector<std::pair<std::string, Cell>> cells;
  for (const auto& [name, value] : scalars) cells.emplace_back(name, CellOf(*value));
  return cells;
}

}  // namespace layerscope::render
