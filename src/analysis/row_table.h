#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/table/table.h"

namespace layerscope::analysis {

/// A Table over a vector of structs: columns are views of members, nothing is copied per column.
template <typename Row>
class RowTable {
 public:
  explicit RowTable(std::vector<Row> rows)
      : rows_(std::make_shared<const std::vector<Row>>(std::move(rows))) {
    table_.n_rows = rows_->size();
    table_.owned.push_back(rows_);
  }

  /// `cell_of(const Row&) -> table::Cell`; strings may be views of the row's own members.
  template <typename CellOf>
  RowTable& Add(table::ColumnSpec spec, CellOf cell_of) {
    const std::vector<Row>* const rows = rows_.get();
    table_.columns.push_back({std::move(spec), [rows, cell_of](size_t row) {
                                return table::Cell(cell_of((*rows)[row]));
                              }});
    return *this;
  }
  RowTable& AddInt(table::ColumnSpec spec, int64_t Row::*member) {
    return Add(std::move(spec), [member](const Row& row) { return row.*member; });
  }
  RowTable& AddText(table::ColumnSpec spec, std::string Row::*member) {
    return Add(std::move(spec), [member](const Row& row) { return std::string_view(row.*member); });
  }
  /// The indentation of a row, for a column of Role::kTree.
  template <typename DepthOf>
  RowTable& SetDepth(DepthOf depth_of) {
    const std::vector<Row>* const rows = rows_.get();
    table_.depth = [rows, depth_of](size_t row) { return depth_of((*rows)[row]); };
    return *this;
  }
  table::Table Take() { return std::move(table_); }

 private:
  std::shared_ptr<const std::vector<Row>> rows_;
  table::Table table_;
};

/// The columns that all tables share.
table::ColumnSpec Key(std::string name, std::string title = {});
table::ColumnSpec Nanoseconds(std::string name, std::string title, int priority = 0);
table::ColumnSpec Count(std::string name, std::string title, int priority = 0);
table::ColumnSpec Share(std::string name, std::string title, int64_t whole);
/// Columns that only machines see.
table::ColumnSpec ForMachines(table::ColumnSpec spec);

}  // namespace layerscope::analysis
