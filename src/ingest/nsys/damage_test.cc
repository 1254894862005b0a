// Databases that are cut, damaged, hostile or held by others.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/ingest/nsys/test_database.h"

#include "tests/support/store_text.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;

constexpr const char* kKernelColumns =
    "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName";

/// 400 kernels, calls and ranges in pages of 512 bytes.
void MakeExport(TestDatabase& database) {
  // The size holds from the first table on.
  database.Run("PRAGMA page_size = 512; CREATE TABLE PROCESSES (globalPid, name)")
      .MakeTables()
      .String(1, "gemm")
      .String(2, "Module:a");
  const std::string numbers =
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399) ";
  database.Run(numbers + fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL ({}) "
                                     "SELECT i * 10, i * 10 + 5, 0, 1, 7, i, 0, 1, 1 FROM n",
                                     kKernelColumns));
  database.Run(numbers +
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, "
               "nameId) SELECT i * 10, i * 10 + 1, 7, i, 1 FROM n");
  database.Run(numbers +
               "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) "
               "SELECT i * 10, i * 10 + 9, 59, 2, 7 FROM n");
}

TEST(NsysDamage, AFileCutAtAnyLengthIsReadInPartOrRefused) {
  TestDatabase database;
  MakeExport(database);
  const std::string whole = database.Bytes();
  size_t n_read = 0;
  size_t n_in_part = 0;
  for (size_t length = 0; length < whole.size(); length += length < 1200 ? 97 : 499) {
    database.SetBytes(whole.substr(0, length));
    const auto trace = database.Read();
    if (!trace.ok()) {
      EXPECT_EQ(trace.error().code, base::ErrorCode::kInvalidInput) << length;
      EXPECT_FALSE(trace.error().hint.empty()) << length;
      continue;
    }
    ++n_read;
    EXPECT_GT(trace->ledger.count(LedgerCode::damaged_database), 0) << length;
    EXPECT_EQ(trace->ledger.count(LedgerCode::no_kernels), 0) << length;
    EXPECT_EQ(trace->ledger.count(LedgerCode::no_calls), 0) << length;
    EXPECT_EQ(trace->ledger.count(LedgerCode::no_nvtx), 0) << length;
    if (trace->activities.size() > 0 && trace->activities.size() < 400) ++n_in_part;
  }
  EXPECT_GT(n_read, 10U);
  EXPECT_GT(n_in_part, 5U);
}

TEST(NsysDamage, RowsBehindADamagedPageAreRead) {
  TestDatabase database;
  MakeExport(database);
  const std::string whole = database.Bytes();
  size_t n_in_part = 0;
  for (size_t page = 512; page < whole.size(); page += 512) {
    std::string bytes = whole;
    bytes.replace(page, 512, std::string(512, '\xff'));
    database.SetBytes(bytes);
    const auto trace = database.Read();
    if (!trace.ok() || trace->activities.size() == 400) continue;
    EXPECT_GT(trace->ledger.count(LedgerCode::damaged_database), 0);
    const bool is_leaf = trace->activities.size() > 300;
    if (is_leaf && trace->activities.correlation.back() == 399) ++n_in_part;
  }
  // 400 rows of about 40 bytes fill some 30 leaves; of all but the last few the end is read.
  EXPECT_GT(n_in_part, 20U);
}

TEST(NsysDamage, AnyByteMayBeWrong) {
  TestDatabase database;
  MakeExport(database);
  const std::string whole = database.Bytes();
  for (size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 307) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
    database.SetBytes(bytes);
    const auto trace = database.Read();
    const auto again = database.Read(3);
    ASSERT_EQ(trace.ok(), again.ok()) << at;
    if (!trace.ok()) continue;
    ASSERT_EQ(tests::StoreText(*trace), tests::StoreText(*again)) << at;
  }
}

TEST(NsysDamage, WrongTypesAndForbiddenNullsLeaveTheRowOut) {
  TestDatabase database;
  database.MakeTables().String(1, "k").Run(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName, "
      "correlationId, gridX);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1, 5, 1), "
      "('1', 2, 0, 7, 1, 5, 1), (1, 2.5, 0, 7, 1, 5, 1), (NULL, 2, 0, 7, 1, 5, 1), "
      "(1, 2, x'00', 7, 1, 5, 1), (1, 2, 0, 7, 'name', 5, 1), (1, 2, 0, 7, 1, 'c', 1), "
      "(1, 2, 0, 7, 1, 5, 'x'), (3, 4, 0, 7, 1, NULL, NULL)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.size(), 2U);
  EXPECT_EQ(trace->ledger.count(LedgerCode::bad_value), 7);
  EXPECT_EQ(trace->ledger.samples(LedgerCode::bad_value)[0].text,
            "CUPTI_ACTIVITY_KIND_KERNEL.start, row 2");
  EXPECT_EQ(trace->counts.n_events, 9);
}

TEST(NsysDamage, AbsurdTimesAreLeftOut) {
  TestDatabase database;
  database.MakeTables().String(1, "k").Insert(
      "CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns,
      "(-50, -40, 0, 1, 7, 1, 0, 1, 1), (9223372036854775807, 1, 0, 1, 7, 1, 0, 1, 1), "
      "(-9223372036854775807, 9223372036854775807, 0, 1, 7, 1, 0, 1, 1), "
      "(0, 86400000000001, 0, 1, 7, 1, 0, 1, 1), (100, 90, 0, 1, 7, 1, 0, 1, 1)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.start_ns, (std::vector<int64_t>{0, 150}));
  EXPECT_EQ(trace->activities.dur_ns, (std::vector<int64_t>{10, -10}));
  EXPECT_EQ(trace->ledger.count(LedgerCode::time_out_of_range), 3);
  EXPECT_EQ(trace->ledger.count(LedgerCode::negative_dur), 1);
}

TEST(NsysDamage, InvalidUtf8InNamesIsRepaired) {
  TestDatabase database;
  database.MakeTables().Run("INSERT INTO StringIds VALUES (1, CAST(x'6bff6b' AS TEXT))");
  database.Insert("CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns, "(1, 2, 0, 1, 7, 1, 0, 1, 1)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(Names(*trace, trace->activities.name), std::vector<std::string>{"k\xef\xbf\xbdk"});
  EXPECT_EQ(trace->ledger.count(LedgerCode::repaired_text), 1);
}

TEST(NsysDamage, ViewsAndVirtualTablesAreNotRun) {
  TestDatabase database;
  database.MakeTables().Run(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 0 UNION ALL "
      "SELECT start + 1 FROM n) SELECT start, start AS end, 0 AS deviceId, 7 AS streamId, "
      "1 AS demangledName FROM n");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.size(), 0U);
  EXPECT_EQ(trace->ledger.count(LedgerCode::no_kernels), 1);
}

TEST(NsysDamage, RowNumbersMayBeAnything) {
  TestDatabase database;
  database.MakeTables().String(1, "k").Insert(
      "CUPTI_ACTIVITY_KIND_KERNEL", std::string("rowid, ") + kKernelColumns,
      "(9223372036854775807, 3, 4, 0, 1, 7, 3, 0, 1, 1), "
      "(-9223372036854775808, 1, 2, 0, 1, 7, 1, 0, 1, 1), (5, 2, 3, 0, 1, 7, 2, 0, 1, 1)");
  const auto trace = database.Read(2);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.correlation, (std::vector<int64_t>{1, 2, 3}));
}

TEST(NsysDamage, TablesWithoutRowNumbersAreRead) {
  TestDatabase database;
  database.MakeTables().String(1, "k").Run(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER PRIMARY KEY, end, deviceId, "
      "streamId, demangledName) WITHOUT ROWID;"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3, 4, 0, 7, 1), (1, 2, 0, 7, 1);"
      "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_rowid_, start, end, globalTid, nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (7, 0, 1, 5, 1), (7, 2, 3, 5, 1)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.start_ns, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(trace->calls.size(), 2U);
}

TEST(NsysDamage, AFileHeldByAWriterIsReadAndItsJournalSaid) {
  TestDatabase database;
  MakeExport(database);
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(database.path().c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(writer, "BEGIN EXCLUSIVE; DELETE FROM NVTX_EVENTS", nullptr, nullptr, nullptr),
      SQLITE_OK);
  std::ofstream(database.path() + "-wal") << "frames";
  const auto trace = database.Read();
  sqlite3_close(writer);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.size(), 400U);
  EXPECT_EQ(trace->scopes.size(), 400U);
  EXPECT_GE(trace->ledger.count(LedgerCode::unread_journal), 1);
}

TEST(NsysDamage, ADatabaseWithAWriteAheadLogIsReadWithoutWritingBesideIt) {
  TestDatabase database;
  database.Run("PRAGMA journal_mode = WAL")
      .MakeTables()
      .String(1, "k")
      .Insert("CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns, "(1, 2, 0, 1, 7, 1, 0, 1, 1)");
  ASSERT_FALSE(std::filesystem::exists(database.path() + "-wal")) << "closed by the last writer";
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->activities.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(database.path() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(database.path() + "-shm"));
}

TEST(NsysDamage, PathsMayHoldWhatMeansSomethingInAUri) {
  TestDatabase database;
  MakeExport(database);
  const std::string odd = database.path() + "?mode=rw#50%41";
  std::filesystem::copy_file(database.path(), odd);
  const auto trace = ReadTrace(odd, {});
  std::filesystem::remove(odd);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->activities.size(), 400U);
}

TEST(NsysDamage, WhatIsNoDatabaseIsRefused) {
  TestDatabase database;
  database.SetBytes("SQLite format 3" + std::string(1, '\0') + std::string(2000, 'x'));
  const auto trace = database.Read();
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, base::ErrorCode::kInvalidInput);
  const auto missing = ReadTrace("/nowhere/report.sqlite", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace layerscope::ingest::nsys
