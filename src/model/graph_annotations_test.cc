#include "src/model/graph_annotations.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::model {
namespace {

base::Error Refused(const std::string& text) {
  const base::Result<GraphAnnotations> read = ParseGraphAnnotations(text, "notes.json");
  EXPECT_FALSE(read.ok()) << text;
  return read.ok() ? base::Error{} : read.error();
}

TEST(GraphAnnotations, TheInnermostNameOfANodeCounts) {
  const auto read = ParseGraphAnnotations(
      R"({"17": [{"name": "model.layers.0"}, {"name": "model.layers.0.mlp"}, {"color": 3}],
          "4": [{"name": "model.norm"}], "9": [], "8": [{"name": 3}], "007": {"name": "one"}})",
      "notes.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->nodes.size(), 3U);
  EXPECT_EQ(read->nodes[0].id, 4);
  EXPECT_EQ(read->Find(17)->path, "model.layers.0.mlp");
  EXPECT_EQ(read->Find(7)->path, "one");
  EXPECT_EQ(read->Find(9), nullptr);
  EXPECT_EQ(read->n_unnamed, 2);
}

TEST(GraphAnnotations, OfTwoEntriesOfANodeTheLastCounts) {
  const auto read =
      ParseGraphAnnotations(R"({"7": [{"name": "a"}], "07": [{"name": "b"}]})", "notes.json");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->nodes.size(), 1U);
  EXPECT_EQ(read->nodes[0].path, "b");
}

TEST(GraphAnnotations, OtherFilesAreRefusedByName) {
  const base::Error pickle = Refused("\x80\x05\x95");
  EXPECT_NE(pickle.message.find("pickle"), std::string::npos);
  EXPECT_NE(pickle.hint.find("json.dump"), std::string::npos);
  EXPECT_NE(Refused(R"({"traceEvents": []})").message.find("a trace"), std::string::npos);
  EXPECT_NE(Refused(R"({"tree": {}})").message.find("a model tree"), std::string::npos);
  for (const char* text :
       {"", "[]", "3", R"({"a": []})", R"({"1.5": []})", R"({"-": []})", "{\"1\": [}"}) {
    EXPECT_EQ(Refused(text).code, base::ErrorCode::kInvalidInput) << text;
  }
}

TEST(GraphAnnotations, NumbersThatNoNodeHasAreSkippedAndCounted) {
  const auto read = ParseGraphAnnotations(
      R"({"-1": [{"name": "a"}], "99999999999999999999": [{"name": "b"}], "5": [{"name": "c"}]})",
      "notes.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->nodes.size(), 1U);
  EXPECT_EQ(read->Find(5)->path, "c");
  EXPECT_EQ(read->n_without_node, 2);
  EXPECT_EQ(read->n_unnamed, 0);
}

TEST(GraphAnnotations, AnEmptyObjectAnnotatesNothing) {
  const auto read = ParseGraphAnnotations("{}", "notes.json");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->nodes.empty());
}

}  // namespace
}  // namespace layerscope::model
