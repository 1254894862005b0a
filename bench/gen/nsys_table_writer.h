#pragma once
// Writes the rows of one table. The table is made with its first row, as the exporter does.

#include <sqlite3.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/gen/nsys_schema.h"

namespace layerscope::gen {

class NsysTableWriter {
 public:
  // `given`: the columns that rows are given for, in the order of Insert's values. What this
  // version of the table lacks is not written.
  NsysTableWriter(sqlite3* database, NsysTable table, std::vector<std::string_view> given)
      : database_(database), table_(std::move(table)), given_(std::move(given)) {}
  NsysTableWriter(const NsysTableWriter&) = delete;
  NsysTableWriter& operator=(const NsysTableWriter&) = delete;
  ~NsysTableWriter() { sqlite3_finalize(insert_); }

  // A value that is not set is NULL.
  using Value = std::variant<std::monostate, int64_t, std::string_view>;
  void Insert(std::initializer_list<Value> values);
  void Create();

  bool failed() const { return failed_; }

 private:
  void Prepare();

  sqlite3* database_;
  NsysTable table_;
  std::vector<std::string_view> given_;
  std::vector<int> parameters_;  // of the given columns; 0: the table has none
  sqlite3_stmt* insert_ = nullptr;
  bool created_ = false;
  bool failed_ = false;
};

}  // namespace layerscope::gen
