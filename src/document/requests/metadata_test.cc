#include "src/document/requests/metadata.h"

#include <gtest/gtest.h>

namespace layerscope::document {
namespace {

TEST(RequestMetadata, ReadsWhatFormatsOutputsLists) {
  const base::Result<RequestMetadata> metadata = ParseRequestMetadata(
      R"({"schema": "layerscope/requests/1", "model": "Qwen3", "engine": "vllm", "mode": "eager",
          "requests": [{"file": "a.json", "label": "Slow", "percentile": 99.5, "prompt_tokens": 12,
                        "output_tokens": 3, "latency_ns": 4000, "source_index": 7},
                       {"file": "b.json", "label": null}]})",
      "m.json");
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->model, "Qwen3");
  EXPECT_EQ(metadata->engine, "vllm");
  EXPECT_EQ(metadata->mode, "eager");
  ASSERT_EQ(metadata->requests.size(), 2U);
  const RequestEntry& a = metadata->requests[0];
  EXPECT_EQ(a.file, "a.json");
  EXPECT_EQ(a.label, "Slow");
  EXPECT_EQ(a.percentile, 99.5);
  EXPECT_EQ(a.prompt_tokens, 12);
  EXPECT_EQ(a.output_tokens, 3);
  EXPECT_EQ(a.latency_ns, 4000);
  EXPECT_EQ(a.source_index, 7);
  EXPECT_FALSE(metadata->requests[1].label.has_value());
  EXPECT_FALSE(metadata->requests[1].latency_ns.has_value());
  EXPECT_TRUE(metadata->health.empty());
}

TEST(RequestMetadata, RefusesWhatIsNone) {
  for (const char* text : {"", "requests", "[]", "{}", R"({"requests": 3})",
                           R"({"schema": "layerscope/requests/2", "requests": []})"}) {
    const base::Result<RequestMetadata> metadata = ParseRequestMetadata(text, "m.json");
    ASSERT_FALSE(metadata.ok()) << text;
    EXPECT_EQ(metadata.error().code, base::ErrorCode::kInvalidInput);
    EXPECT_EQ(metadata.error().message.rfind("m.json: ", 0), 0U) << metadata.error().message;
  }
}

TEST(RequestMetadata, SaysWhichEntriesItCannotUse) {
  const base::Result<RequestMetadata> metadata = ParseRequestMetadata(
      R"({"mode": "lazy", "requests": [7, {"label": "Fast"}, {"file": "a", "label": "Quick"},
          {"file": "a", "label": "Fast"}]})",
      "m.json");
  ASSERT_TRUE(metadata.ok());
  ASSERT_EQ(metadata->requests.size(), 1U);
  EXPECT_FALSE(metadata->requests[0].label.has_value());
  EXPECT_TRUE(metadata->mode.empty());
  ASSERT_EQ(metadata->health.size(), 4U);
  EXPECT_EQ(metadata->health[0].count, 2);  // 7, and the entry without a file
  EXPECT_EQ(metadata->health[2].message,
            "m.json: unknown label 'Quick'; use Fast, Typical or Slow.");
}

}  // namespace
}  // namespace layerscope::document
