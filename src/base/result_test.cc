#include "src/base/result.h"

#include <gtest/gtest.h>

namespace layerscope::base {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error{ErrorCode::kUsage, "no", "try yes"};
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().hint, "try yes");
}

TEST(Error, ContextGoesInFront) {
  const Error error =
      Error{ErrorCode::kInvalidInput, "at byte 7: cut", ""}.WithContext("reading a");
  EXPECT_EQ(error.message, "reading a: at byte 7: cut");
}

// The statuses are CLI.md rule 2.
TEST(ErrorCode, MapsToTheContractsExitStatus) {
  EXPECT_EQ(ExitStatus(ErrorCode::kFailed), 1);
  EXPECT_EQ(ExitStatus(ErrorCode::kNotFound), 1);
  EXPECT_EQ(ExitStatus(ErrorCode::kUsage), 2);
  EXPECT_EQ(ExitStatus(ErrorCode::kInvalidInput), 3);
  EXPECT_EQ(ExitStatus(ErrorCode::kStrictViolated), 3);
  EXPECT_EQ(ExitStatus(ErrorCode::kCancelled), 130);
}

TEST(ResultDeathTest, ValueOfAFailedResultIsABug) {
  Result<int> bad = Error{};
  EXPECT_DEATH((void)bad.value(), "check failed");
}

}  // namespace
}  // namespace layerscope::base
