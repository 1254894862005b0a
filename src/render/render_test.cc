#include "src/render/render.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

TEST(RenderTest, EveryFormatEndsWithALineFeedAndIsStable) {
  for (const Format format : {Format::kTable, Format::kJson, Format::kCsv, Format::kMarkdown}) {
    RenderOptions options;
    options.format = format;
    const base::Result<std::string> first = Render(SampleRanks(), options);
    const base::Result<std::string> second = Render(SampleRanks(), options);
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first->ends_with('\n'));
    EXPECT_EQ(*first, *second);
  }
}

TEST(RenderTest, ColourIsOnlyUsedWhenAsked) {
  RenderOptions options;
  EXPECT_EQ(Render(SampleRanks(), options)->find('\x1b'), std::string::npos);
  options.color = true;
  EXPECT_NE(Render(SampleRanks(), options)->find('\x1b'), std::string::npos);
}

TEST(RenderTest, UnknownCsvTableIsAUsageError) {
  RenderOptions options;
  options.format = Format::kCsv;
  options.table = "row";
  const base::Result<std::string> text = Render(SampleResult(), options);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, "no table 'row'; did you mean 'rows'?");
}

}  // namespace
}  // namespace layerscope::render
