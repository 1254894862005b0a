#include "src/ingest/nsys/nvtx_text.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::ingest::nsys {
namespace {

// The texts are those that vLLM's and PyTorch's hooks write (formats/kineto.md, capture.md) and
// that stand in the real 2026.2 exports.

TEST(NvtxText, ADictionaryOrAPrefixNamesAModule) {
  for (const char* text : {"{'Module': 'Top.0', 'TrainableParams': {'w': [3, 4]}, 'Inputs': []}",
                           R"({"Module": "Top.0"})", "Module:Top.0", "Module: Top.0"}) {
    const NvtxText parts = ReadNvtxText(text);
    EXPECT_EQ(parts.kind, NvtxKind::kModule) << text;
    EXPECT_EQ(parts.name, "Top.0") << text;
  }
}

TEST(NvtxText, TheEmptyPairBehindACallIsNoSecondCall) {
  EXPECT_EQ(ReadNvtxText("{'Module': 'Top.0', 'Outputs': [[3, 4]]}").kind, NvtxKind::kModuleEnd);
  EXPECT_EQ(ReadNvtxText(R"({"Module": "a", "Outputs": []})").kind, NvtxKind::kModuleEnd);
  EXPECT_EQ(ReadNvtxText("{'Module': 'a', 'StaticParams': {'Outputs': 4}}").kind, NvtxKind::kModule)
      << "a key further in is a parameter of that name";
  EXPECT_EQ(ReadNvtxText("{'Module': 'Outputs'}").kind, NvtxKind::kModule);
}

TEST(NvtxText, EmitNvtxWritesOperators) {
  struct Case {
    const char* text;
    const char* name;
    const char* sizes;
  };
  for (const Case& c : {Case{"AllToAll4D, seq = 46286, op_id = 993812", "AllToAll4D", ""},
                        Case{"aten::mm, op_id = 12", "aten::mm", ""},
                        Case{"autograd::engine::evaluate_function: MmBackward0, seq = -1",
                             "autograd::engine::evaluate_function: MmBackward0", ""},
                        Case{"aten::mm, seq = 7, op_id = 3, sizes = [[2, 3], [3, 4]]", "aten::mm",
                             "[[2, 3], [3, 4]]"},
                        Case{"aten::add, op_id = 3, sizes = [[2], []], input_op_ids = [(1,0)]",
                             "aten::add", "[[2], []]"}}) {
    const NvtxText parts = ReadNvtxText(c.text);
    EXPECT_EQ(parts.kind, NvtxKind::kOp) << c.text;
    EXPECT_EQ(parts.name, c.name);
    EXPECT_EQ(parts.sizes, c.sizes);
  }
}

TEST(NvtxText, EverythingElseIsAnAnnotation) {
  for (const char* text : {"", "ncclAllReduce", "bench_step::3::bs::8::past::128", "x, seq = ",
                           "x, seq = 3 more", "x, sizes = [[2]", ", seq = 3", "x, sizes = 3",
                           "{'Modul': 'x'}", "execute_context_1(5)_generation_0(0)"}) {
    const NvtxText parts = ReadNvtxText(text);
    EXPECT_EQ(parts.kind, NvtxKind::kAnnotation) << text;
    EXPECT_EQ(parts.name, text);
  }
}

TEST(NvtxText, DeepNestingAndOpenQuotesEnd) {
  const std::string deep = "{'Module': 'a', 'x': " + std::string(1'000'000, '[');
  EXPECT_EQ(ReadNvtxText(deep).kind, NvtxKind::kModule);
  EXPECT_EQ(ReadNvtxText("x, sizes = " + std::string(1'000'000, '[')).kind, NvtxKind::kAnnotation);
  EXPECT_EQ(ReadNvtxText("{'Module': 'a', '").kind, NvtxKind::kModule);
}

}  // namespace
}  // namespace layerscope::ingest::nsys
