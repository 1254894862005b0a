#include "src/document/requests/naming.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::document {
namespace {

/// A root with four modules below it for each list of requests that have them all.
AlignedTree TreeOf(const std::vector<std::vector<uint32_t>>& requests_of, size_t n_requests) {
  AlignedTree tree;
  tree.modules_of.assign(n_requests, 0);
  for (size_t i = 0; i < requests_of.size(); ++i) {
    const std::string root = "model" + std::to_string(i);
    const auto root_id = static_cast<uint32_t>(tree.modules.size());
    for (const char* part : {"", ".a", ".b", ".c", ".d"}) {
      AlignedModule module;
      module.path = root + part;
      module.parent = *part == 0 ? AlignedModule::kNone : root_id;
      for (const uint32_t request : requests_of[i]) {
        module.of_request.emplace_back(request, ModuleFigures());
        ++tree.modules_of[request];
      }
      tree.modules.push_back(module);
    }
  }
  return tree;
}

const std::vector<std::string> kNames = {"x.json", "y.json", "z.json"};

TEST(RequestsApart, ARequestWithoutACommonModuleIsNamedWithBothNamings) {
  const auto apart = RequestsApart(TreeOf({{0, 2}, {1}}, 3), kNames);
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->code, "requests_not_aligned");
  EXPECT_EQ(apart->count, 1);
  EXPECT_EQ(
      apart->message.rfind("No module of y.json is in x.json: model1.a here, model0.a there", 0),
      0U)
      << apart->message;
  EXPECT_NE(apart->message.find("--model-tree"), std::string::npos);
}

TEST(RequestsApart, OfTwoThatNeverMeetTheLaterOneIsHeldAgainstTheFirst) {
  const auto apart = RequestsApart(TreeOf({{0}, {1}}, 2), kNames);
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->count, 2);
  EXPECT_EQ(apart->message.rfind("No module of y.json is in x.json", 0), 0U) << apart->message;
}

TEST(RequestsApart, NothingIsSaidWhereModulesMeetOrAreNotKnown) {
  EXPECT_FALSE(RequestsApart(TreeOf({{0, 1}, {1}}, 2), kNames).has_value());
  EXPECT_FALSE(RequestsApart(TreeOf({{0}}, 2), kNames).has_value());
}

}  // namespace
}  // namespace layerscope::document
