#include "src/ingest/nsys/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/ingest/nsys/test_database.h"

#include "tests/support/store_text.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::ActivityKind;
using trace::LedgerCode;
using Strings = std::vector<std::string>;

constexpr const char* kKernelColumns =
    "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName";

/// Everything here is counted by hand: two processes, a launch and a kernel each with equal
/// correlations, a copy between them in time.
class SmallExport : public testing::Test {
 protected:
  SmallExport() {
    const int64_t p1 = GlobalTid(100, 0);
    const int64_t p2 = GlobalTid(200, 0);
    database_.MakeTables()
        .String(1, "void gemm<float>(float*)")
        .String(2, "gemm")
        .String(3, "cudaLaunchKernel_v7000")
        .String(9, "never used")
        .Insert("CUPTI_ACTIVITY_KIND_KERNEL",
                std::string(kKernelColumns) + ", gridX, gridY, gridZ, blockX, blockY, blockZ",
                fmt::format("(5000, 5600, 0, 1, 7, 42, {}, 1, 2, 132, 1, 2, 128, 1, 1), "
                            "(4000, 4100, 1, 1, 7, 42, {}, 1, 2, 132, 1, 2, 128, 1, 1)",
                            p1, p2))
        .Insert("CUPTI_ACTIVITY_KIND_RUNTIME",
                "start, end, eventClass, globalTid, correlationId, nameId",
                fmt::format("(3500, 3600, 0, {}, 42, 3), (3000, 3200, 0, {}, 42, 3)",
                            GlobalTid(100, 101), GlobalTid(200, 201)))
        .Run(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
            "correlationId, globalPid, copyKind, srcKind, dstKind)")
        .Insert("CUPTI_ACTIVITY_KIND_MEMCPY",
                "start, end, deviceId, contextId, streamId, correlationId, globalPid, copyKind, "
                "srcKind, dstKind",
                fmt::format("(4500, 4600, 0, 1, 7, 43, {}, 1, 0, 2)", p1));
  }
  TestDatabase database_;
};

TEST_F(SmallExport, RowsStandInOrderOfTimeFromTheFirstStart) {
  const auto trace = database_.Read();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->format, trace::TraceFormat::kNsys);
  const trace::Activities& rows = trace->activities;
  EXPECT_EQ(rows.start_ns, (std::vector<int64_t>{1000, 1500, 2000}));
  EXPECT_EQ(rows.dur_ns, (std::vector<int64_t>{100, 100, 600}));
  EXPECT_EQ(Names(*trace, rows.name),
            (Strings{"void gemm<float>(float*)", "Memcpy HtoD (Pageable -> Device)",
                     "void gemm<float>(float*)"}));
  EXPECT_EQ(rows.kind, (std::vector<ActivityKind>{ActivityKind::kKernel, ActivityKind::kMemcpy,
                                                  ActivityKind::kKernel}));
  EXPECT_EQ(rows.correlation, (std::vector<int64_t>{42, 43, 42}));
  EXPECT_TRUE(rows.graph_node.empty());
  EXPECT_EQ(trace->calls.start_ns, (std::vector<int64_t>{0, 500}));
  EXPECT_EQ(trace->zero_ns, 3000);
  EXPECT_EQ(trace->end_ns, 2600);
}

TEST_F(SmallExport, ProcessesThreadsAndStreamsAreKeyedByTheirGlobalIds) {
  const auto trace = database_.Read();
  ASSERT_TRUE(trace.ok());
  const trace::Activities& rows = trace->activities;
  const auto pid = [&](size_t row) { return trace->processes[rows.process[row].index()].pid; };
  EXPECT_EQ(pid(0).number, 200);
  EXPECT_EQ(pid(1).number, 100);
  EXPECT_EQ(pid(2).number, 100);
  EXPECT_EQ(rows.stream[1], rows.stream[2]);
  EXPECT_NE(rows.stream[0], rows.stream[1]) << "both are stream 7, of different processes";
  EXPECT_EQ(trace->StreamText(rows.stream[0]), "7");
  EXPECT_EQ(trace->DeviceText(trace->DeviceOf(rows.stream[0])), "1");
  const trace::Thread& thread = trace->threads[trace->calls.thread[0].index()];
  EXPECT_EQ(thread.tid.number, 201);
  EXPECT_EQ(thread.process, rows.process[0]) << "so that correlations meet";
}

TEST_F(SmallExport, KernelsCarryTheirExtents) {
  const auto trace = database_.Read();
  ASSERT_TRUE(trace.ok());
  const trace::Args& kernel = trace->args[trace->activities.args[0].index()];
  EXPECT_EQ(trace->strings[kernel.grid], "[132,1,2]");
  EXPECT_EQ(trace->strings[kernel.block], "[128,1,1]");
  const trace::Args& copy = trace->args[trace->activities.args[1].index()];
  EXPECT_FALSE(copy.grid.valid());
  EXPECT_EQ(trace->activities.args[0], trace->activities.args[2]);
}

TEST_F(SmallExport, CountsAreByTableAndUnusedStringsAreNotKept) {
  const auto trace = database_.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->counts.n_events, 5);
  EXPECT_EQ(trace->counts.by_cat.at("CUPTI_ACTIVITY_KIND_KERNEL"), 2);
  EXPECT_EQ(trace->counts.by_cat.at("CUPTI_ACTIVITY_KIND_MEMCPY"), 1);
  EXPECT_TRUE(trace->counts.by_ph.empty());
  EXPECT_FALSE(trace->strings.Find("never used").valid());
  EXPECT_EQ(trace->ledger.count(LedgerCode::no_nvtx), 1);
  EXPECT_EQ(trace->ledger.count(LedgerCode::no_kernels), 0);
}

TEST_F(SmallExport, EveryNumberOfThreadsGivesTheSameStore) {
  const std::string one = tests::StoreText(database_.Read(1).value());
  EXPECT_EQ(tests::StoreText(database_.Read(2).value()), one);
  EXPECT_EQ(tests::StoreText(database_.Read(7).value()), one);
}

TEST_F(SmallExport, MetadataNamesVersionSessionAndDevices) {
  database_
      .Run(
          "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
          "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE', "
          "'Node');"
          "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"
          "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779787126655288414, 'x');"
          "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);"
          "INSERT INTO TARGET_INFO_GPU VALUES (4, 'NVIDIA H100'), (5, 'NVIDIA H200');"
          "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
          "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (5, 0, 100), (4, 1, 200);"
          "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT);"
          "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'fine'), (2, 'events were dropped');")
      .String(20, "main")
      .String(21, "from the system");
  database_.Run(
      fmt::format("CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
                  "INSERT INTO ThreadNames VALUES (21, 20, {0}), (20, 0, {0});"
                  "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
                  "INSERT INTO PROCESSES VALUES ({1}, 200, 'python3'), (7, 0, 'other');"
                  "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
                  "INSERT INTO MPI_RANKS VALUES ({0}, 3);",
                  GlobalTid(200, 201), GlobalTid(200, 0)));
  const auto trace = database_.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->metadata.profiler_version, "nsys 2026.2.1 (schema 3.25.0)");
  EXPECT_EQ(trace->metadata.graph_trace_mode, "node");
  EXPECT_EQ(trace->metadata.session_start_ns, 1779787126655288414);
  EXPECT_EQ(trace->zero_ns, 1779787126655288414 + 3000);
  EXPECT_EQ(trace->activities.start_ns[0], 1000) << "still relative to the first row";
  ASSERT_EQ(trace->metadata.devices.size(), 2U);
  EXPECT_EQ(trace->metadata.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(trace->metadata.devices[1].name, "NVIDIA H100");
  const trace::Thread& thread = trace->threads[trace->calls.thread[0].index()];
  EXPECT_EQ(trace->strings[thread.name], "main") << "the smaller priority wins";
  const trace::Process& process = trace->processes[thread.process.index()];
  EXPECT_EQ(trace->strings[process.name], "python3");
  EXPECT_EQ(process.rank, 3);
  EXPECT_EQ(trace->ledger.count(LedgerCode::profiler_warning), 1);
}

/// Two processes with a kernel each, on device `first` of one and `second` of the other.
TestDatabase& AddTwoProcesses(int first, int second, const std::string& devices,
                              TestDatabase& database) {
  database.MakeTables().String(1, "k").Insert(
      "CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns,
      fmt::format("(1, 2, {}, 1, 7, 0, {}, 1, 1), (3, 4, {}, 1, 7, 0, {}, 1, 1)", first,
                  GlobalTid(10, 0), second, GlobalTid(20, 0)));
  return database.Run(
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);"
      "INSERT INTO TARGET_INFO_GPU VALUES (2, 'A'), (3, 'B');"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid "
      "TEXT);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES " +
      devices);
}

Strings DevicesOf(const trace::Trace& trace) {
  Strings devices;
  for (const trace::StreamId stream : trace.activities.stream) {
    devices.push_back(trace.DeviceText(trace.DeviceOf(stream)));
  }
  return devices;
}

TEST(NsysReader, OneNumberForTwoGpusIsTwoDevices) {
  TestDatabase database;
  AddTwoProcesses(0, 0, "(3, 0, 10, NULL), (2, 0, 20, NULL)", database);
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->devices.size(), 2U);
  EXPECT_EQ(DevicesOf(*trace), (Strings{"3", "2"})) << "as the machine numbers its GPUs";
  ASSERT_EQ(trace->metadata.devices.size(), 2U);
  EXPECT_EQ(trace->metadata.devices[0].id, 2);
  EXPECT_EQ(trace->metadata.devices[0].name, "A");
  EXPECT_EQ(trace->metadata.devices[1].name, "B");
}

TEST(NsysReader, TwoNumbersForOneGpuAreOneDevice) {
  TestDatabase database;
  AddTwoProcesses(0, 1, "(3, 0, 10, NULL), (3, 1, 20, NULL)", database);
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->devices.size(), 1U);
  EXPECT_EQ(DevicesOf(*trace), (Strings{"3", "3"}));
}

TEST(NsysReader, NumbersThatAgreeStayAsTheProcessesCount) {
  TestDatabase database;
  AddTwoProcesses(0, 0, "(3, 0, 10, NULL), (3, 0, 20, NULL), (2, 0, 99, NULL)", database);
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(DevicesOf(*trace), (Strings{"0", "0"}));
  ASSERT_EQ(trace->metadata.devices.size(), 1U);
  EXPECT_EQ(trace->metadata.devices[0].name, "B");
}

TEST(NsysReader, GpusWithoutANumberAreKnownByTheirUuid) {
  TestDatabase database;
  AddTwoProcesses(0, 0, "(NULL, 0, 10, 'GPU-a'), (NULL, 0, 20, 'GPU-b')", database);
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(DevicesOf(*trace), (Strings{"GPU-a", "GPU-b"}));
}

TEST(NsysReader, DeviceNamesFallBackToTheSystemEnvironment) {
  TestDatabase database;
  database.MakeTables().String(1, "k").Insert("CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns,
                                              "(1, 2, 0, 1, 7, 0, 0, 1, 1)");
  database.Run(
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('GpuInfo', "
      "'{\"Gpus\":[{\"Id\":0,\"Name\":\"NVIDIA GeForce RTX 3080\"}]}')");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->metadata.devices.size(), 1U);
  EXPECT_EQ(trace->metadata.devices[0].name, "NVIDIA GeForce RTX 3080");
}

TEST(NsysReader, TheRankOfTheOnlyProcessIsTheFiles) {
  TestDatabase database;
  database.MakeTables().String(1, "k").Insert(
      "CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns,
      fmt::format("(1, 2, 0, 1, 7, 0, {}, 1, 1)", GlobalTid(10, 0)));
  database.Run(
      fmt::format("CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
                  "INSERT INTO MPI_RANKS VALUES ({}, 5), ({}, 6)",
                  GlobalTid(10, 11), GlobalTid(99, 99)));
  EXPECT_EQ(database.Read().value().metadata.rank, 5);
}

TEST(NsysReader, AbsentColumnsAreNull) {
  TestDatabase database;
  database.Run(
      "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
      "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.2.1.31');"
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'short');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, shortName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->metadata.profiler_version, "nsys 2022.2.1");
  EXPECT_EQ(Names(*trace, trace->activities.name), Strings{"short"});
  EXPECT_EQ(trace->activities.correlation, std::vector<int64_t>{trace::kNoCorrelation});
  EXPECT_EQ(trace->ledger.count(LedgerCode::unknown_process), 1);
  EXPECT_EQ(trace->ledger.count(LedgerCode::no_calls), 1);
}

TEST(NsysReader, ATableWithoutANeededColumnIsLeftOutAndSaid) {
  TestDatabase database;
  database.MakeTables().Run(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, deviceId, streamId, shortName)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ledger.count(LedgerCode::missing_column), 1);
  EXPECT_EQ(trace->ledger.samples(LedgerCode::missing_column)[0].text,
            "CUPTI_ACTIVITY_KIND_KERNEL.end");
}

TEST(NsysReader, WholeGraphsAreActivitiesOfTheirOwnKind) {
  TestDatabase database;
  database.MakeTables().Run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, graphId, graphExecId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 300, 0, 1, 7, 5, 0, 2, 9)");
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->activities.kind, std::vector<ActivityKind>{ActivityKind::kGraph});
  EXPECT_EQ(Names(*trace, trace->activities.name), Strings{"[graph] 9"});
}

TEST(NsysReader, GraphNodesAreTakenFromTheirTableOfEitherName) {
  for (const char* table : {"CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS"}) {
    TestDatabase database;
    database.MakeTables().String(1, "k").String(5, "Graph Node Creation").String(6, "Destruction");
    database.Insert("CUPTI_ACTIVITY_KIND_KERNEL", std::string(kKernelColumns) + ", graphNodeId",
                    fmt::format("(900, 950, 0, 1, 7, 1, {0}, 1, 1, 22), "
                                "(960, 980, 0, 1, 7, 2, {0}, 1, 1, NULL)",
                                GlobalTid(10, 0)));
    database.Run(fmt::format(
        "CREATE TABLE {0} (start, end, eventClass, globalTid, nameId, graphNodeId, "
        "originalGraphNodeId);"
        "INSERT INTO {0} VALUES (100, 101, 0, {1}, 5, 11, NULL), (200, 201, 0, {2}, 5, 22, 11), "
        "(300, 301, 0, {2}, 6, 22, NULL)",
        table, GlobalTid(10, 12), GlobalTid(10, 10)));
    const auto trace = database.Read();
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->graph_nodes.node, (std::vector<int64_t>{11, 22})) << table;
    EXPECT_EQ(trace->graph_nodes.original, (std::vector<int64_t>{trace::kNoGraphNode, 11}));
    EXPECT_EQ(trace->graph_nodes.start_ns, (std::vector<int64_t>{0, 100}));
    EXPECT_EQ(trace->threads[trace->graph_nodes.thread[0].index()].tid.number, 12);
    EXPECT_EQ(trace->graph_nodes.process[0], trace->activities.process[0]);
    EXPECT_EQ(trace->activities.graph_node, std::vector<int64_t>{22});
    EXPECT_EQ(trace->activities.GraphNodeOf(1), trace::kNoGraphNode);
  }
}

TEST(NsysReader, AllGraphNodesAreTakenWhenNoneIsNamedACreation) {
  TestDatabase database;
  database.MakeTables().Run(
      "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start, end, globalTid, nameId, graphNodeId, "
      "originalGraphNodeId);"
      "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (100, 101, 5, NULL, 11, NULL), "
      "(200, 201, 5, NULL, 12, 0), (300, 301, 9, NULL, 11, NULL)");  // the last: its end
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->graph_nodes.node, (std::vector<int64_t>{11, 12}));
  EXPECT_EQ(trace->graph_nodes.original[1], trace::kNoGraphNode);
}

TEST(NsysReader, ForeignDatabasesAreNamed) {
  TestDatabase database;
  database.Run("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)");
  const auto trace = database.Read();
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(trace.error().message,
            "this is an SQLite database with the tables moz_places, not an Nsight Systems export");
  EXPECT_FALSE(trace.error().hint.empty());
  TestDatabase matrix;
  matrix.Run("CREATE TABLE results (family TEXT, batch INTEGER)");
  EXPECT_EQ(matrix.Read().error().hint,
            "its recordings are the folders beside it: name one of them");
  TestDatabase nvprof;
  nvprof.Run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_, start);"
      "CREATE TABLE StringTable (_id_, value)");
  EXPECT_EQ(nvprof.Read().error().message,
            "this is an nvprof database, not an Nsight Systems export");
}

TEST(NsysReader, OnlyTheMagicMakesADatabase) {
  EXPECT_TRUE(IsDatabase(std::string_view("SQLite format 3\0rest", 20)));
  EXPECT_FALSE(IsDatabase("SQLite format 3"));
  EXPECT_FALSE(IsDatabase("{\"traceEvents\": []}"));
}

TEST(NsysReader, ARequestedStopEndsIt) {
  TestDatabase database;
  database.MakeTables();
  base::StopFlag stop;
  stop.Request();
  ReadOptions options;
  options.stop = &stop;
  const auto trace = ReadTrace(database.path(), options);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, base::ErrorCode::kCancelled);
}

TEST(NsysReader, ManyRangesOfOneTableGiveOneOrder) {
  // 300,000 rows fall into several ranges; starts run backwards.
  TestDatabase database;
  database.MakeTables().String(1, "k").Run(fmt::format(
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299999) "
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL ({}) "
      "SELECT 1000000 - i, 1000001 - i, 0, 1, i % 3, i, 0, 1, 1 FROM n",
      kKernelColumns));
  std::vector<int64_t> told;
  ReadOptions options;
  options.threads = 3;
  options.progress = [&told](int64_t bytes) { told.push_back(bytes); };
  const auto trace = ReadTrace(database.path(), options);
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->activities.size(), 300000U);
  for (size_t row = 0; row < trace->activities.size(); ++row) {
    ASSERT_EQ(trace->activities.start_ns[row], static_cast<int64_t>(row));
    ASSERT_EQ(trace->activities.correlation[row] > 0 ? trace->activities.correlation[row] : 0,
              static_cast<int64_t>(299999 - row));
  }
  EXPECT_GT(told.size(), 2U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(tests::StoreText(database.Read(1).value()), tests::StoreText(*trace));
}

}  // namespace
}  // namespace layerscope::ingest::nsys
