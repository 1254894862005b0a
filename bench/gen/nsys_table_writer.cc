#include "bench/gen/nsys_table_writer.h"

#include <algorithm>

namespace layerscope::gen {

void NsysTableWriter::Create() {
  if (created_) return;
  created_ = true;
  std::string sql = "CREATE TABLE " + std::string(table_.name) + " (";
  for (size_t i = 0; i < table_.columns.size(); ++i) {
    if (i > 0) sql += ", ";
    sql += "\"" + std::string(table_.columns[i].name) + "\" " + std::string(table_.columns[i].type);
  }
  failed_ |= sqlite3_exec(database_, (sql + ")").c_str(), nullptr, nullptr, nullptr) != SQLITE_OK;
}

void NsysTableWriter::Prepare() {
  Create();
  std::string names;
  std::string values;
  parameters_.assign(given_.size(), 0);
  int parameter = 0;
  for (const NsysColumn& column : table_.columns) {
    const auto given = std::find(given_.begin(), given_.end(), column.name);
    if (given == given_.end() && column.otherwise.empty()) continue;
    names += (names.empty() ? "\"" : ", \"") + std::string(column.name) + "\"";
    values += values.empty() ? "" : ", ";
    if (given == given_.end()) {
      values += column.otherwise;
    } else {
      parameters_[static_cast<size_t>(given - given_.begin())] = ++parameter;
      values += "?" + std::to_string(parameter);
    }
  }
  const std::string sql =
      "INSERT INTO " + std::string(table_.name) + " (" + names + ") VALUES (" + values + ")";
  failed_ |= sqlite3_prepare_v2(database_, sql.c_str(), -1, &insert_, nullptr) != SQLITE_OK;
}

void NsysTableWriter::Insert(std::initializer_list<Value> values) {
  if (insert_ == nullptr && !failed_) Prepare();
  if (failed_) return;
  size_t i = 0;
  for (const Value& value : values) {
    const int parameter = parameters_[i++];
    if (parameter == 0) continue;
    if (const auto* number = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(insert_, parameter, *number);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      sqlite3_bind_text(insert_, parameter, text->data(), static_cast<int>(text->size()),
                        SQLITE_STATIC);
    } else {
      sqlite3_bind_null(insert_, parameter);
    }
  }
  failed_ |= sqlite3_step(insert_) != SQLITE_DONE;
  sqlite3_reset(insert_);
}

}  // namespace layerscope::gen
