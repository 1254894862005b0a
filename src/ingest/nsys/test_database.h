#pragma once

#include <string>
#include <vector>

#include "src/ingest/nsys/reader.h"

namespace layerscope::ingest::nsys {

/// A database in a temporary file, for tests: made with SQL, read with ReadTrace, and removed.
class TestDatabase {
 public:
  TestDatabase();
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  /// One or more statements; a failure is a bug of the test and aborts.
  TestDatabase& Run(const std::string& sql);
  /// The tables of an export of 2026 that tests need, without rows, and the metadata that tells
  /// what it is.
  TestDatabase& MakeTables();
  /// INSERT INTO `table` VALUES (`values`), which holds one or more rows.
  TestDatabase& Insert(const std::string& table, const std::string& columns,
                       const std::string& rows);
  /// Adds a string to StringIds.
  TestDatabase& String(int64_t id, const std::string& value);

  const std::string& path() const { return path_; }
  base::Result<trace::Trace> Read(int threads = 1) const;
  std::string Bytes() const;
  void SetBytes(const std::string& bytes) const;

 private:
  std::string path_;
};

/// globalTid of a thread, with bit 48 set as real exports have it; `tid` 0 gives a globalPid.
int64_t GlobalTid(int64_t pid, int64_t tid);

/// The names of rows.
std::vector<std::string> Names(const trace::Trace& trace, const std::vector<trace::StringId>& ids);

}  // namespace layerscope::ingest::nsys
