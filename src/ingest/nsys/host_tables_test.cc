#include "src/ingest/nsys/host_tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "src/ingest/nsys/test_database.h"

namespace layerscope::ingest::nsys {
namespace {

TEST(HostTables, TheBacktraceOfACallIsNoCall) {
  // As a real export of 2022.2 has them: class 67, the call's correlation and time, its bare name;
  // 68 and 69 are its start and finish. Class 1 is a call of the driver.
  TestDatabase database;
  database.MakeTables()
      .String(3, "cudaLaunchKernel_v7000")
      .String(4, "cudaLaunchKernel")
      .Insert("CUPTI_ACTIVITY_KIND_RUNTIME",
              "start, end, eventClass, globalTid, correlationId, nameId",
              fmt::format("(3000, 3200, 0, {0}, 42, 3), (2999, 3201, 67, {0}, 42, 4), "
                          "(2998, 2999, 68, {0}, 42, 4), (3201, 3202, 69, {0}, 42, 4), "
                          "(3700, 3800, 1, {0}, 44, 4)",
                          GlobalTid(100, 101)));
  const auto trace = database.Read();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->calls.correlation, (std::vector<int64_t>{42, 44}));
  EXPECT_EQ(trace->calls.dur_ns, (std::vector<int64_t>{200, 100}));
}

}  // namespace
}  // namespace layerscope::ingest::nsys
