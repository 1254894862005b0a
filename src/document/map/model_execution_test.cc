#include "src/document/map/model_execution.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/document/map/layers.h"
#include "src/document/map/values.h"
#include "src/document/test_trace.h"

namespace layerscope::document {
namespace {

using table::Array;
using table::Object;
using table::Value;

const Value& At(const Value& value, std::string_view key) {
  for (const auto& [name, member] : *std::get<std::shared_ptr<Object>>(value.variant())) {
    if (name == key) return member;
  }
  ADD_FAILURE() << "no key " << key;
  static const Value kNothing;
  return kNothing;
}
bool Has(const Value& value, std::string_view key) {
  for (const auto& [name, member] : *std::get<std::shared_ptr<Object>>(value.variant())) {
    if (name == key) return true;
  }
  return false;
}
const Array& List(const Value& value) {
  return *std::get<std::shared_ptr<Array>>(value.variant());
}
const Array& ListAt(const Value& value, std::string_view key) {
  return List(At(value, key));
}
int64_t Int(const Value& value, std::string_view key) {
  return std::get<int64_t>(At(value, key).variant());
}
std::string Text(const Value& value, std::string_view key) {
  return std::get<std::string>(At(value, key).variant());
}
double Number(const Value& value, std::string_view key) {
  return std::get<double>(At(value, key).variant());
}
std::vector<int64_t> Ints(const Value& value, std::string_view key) {
  std::vector<int64_t> ints;
  for (const Value& item : ListAt(value, key)) {
    const int64_t* number = std::get_if<int64_t>(&item.variant());
    ints.push_back(number == nullptr ? -1 : *number);
  }
  return ints;
}

/// Writes a trace; times in microseconds.
class TraceText {
 public:
  TraceText& Scope(const std::string& name, int start, int dur, int tid = 1) {
    return Add(fmt::format(
        R"({{"ph":"X","cat":"python_function","name":"nn.Module: {}","pid":1,"tid":{},"ts":{},"dur":{}}})",
        name, tid, start, dur));
  }
  TraceText& Op(const std::string& name, int start, int dur, int tid = 1,
                const std::string& args = "") {
    return Add(fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        name, tid, start, dur, args));
  }
  TraceText& Kernel(const std::string& name, int launched, int start, int dur, int tid = 1) {
    ++correlation_;
    Add(fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":{},"ts":{},"dur":1,"args":{{"correlation":{}}}}})",
        tid, launched, correlation_));
    return Add(fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7,"correlation":{}}}}})",
        name, start, dur, correlation_));
  }
  TraceText& Step(const std::string& name, int start, int dur) {
    return Add(fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"{}","pid":1,"tid":1,"ts":{},"dur":{}}})",
        name, start, dur));
  }
  std::string text() const { return R"({"traceEvents":[)" + events_ + "]}"; }

 private:
  TraceText& Add(const std::string& event) {
    events_ += (events_.empty() ? "" : ",\n") + event;
    return *this;
  }
  std::string events_;
  int correlation_ = 0;
};

Value RootOf(const TestTrace& trace, bool collapse = true) {
  MapOptions options;
  options.collapse = collapse;
  base::Result<JsonDocument> document = BuildModelExecution(trace.input(), options);
  EXPECT_TRUE(document.ok());
  return document->root;
}

/// gpu_ns of every module is that of its children and its own ops; of every op that of its own
/// kernels and the ops below.
void ExpectConserved(const Value& node, bool is_module) {
  int64_t below = 0;
  if (is_module) {
    for (const Value& child : ListAt(node, "children")) {
      below += Int(child, "gpu_ns");
      ExpectConserved(child, true);
    }
    int64_t own = 0;
    for (const Value& op : ListAt(node, "ops")) {
      own += Int(op, "gpu_ns");
      ExpectConserved(op, false);
    }
    EXPECT_EQ(own, Int(node, "gpu_own_ns"));
  } else if (Has(node, "sub_ops")) {
    for (const Value& op : ListAt(node, "sub_ops")) {
      below += Int(op, "gpu_ns");
      ExpectConserved(op, false);
    }
  }
  EXPECT_EQ(Int(node, "gpu_ns"), below + Int(node, "gpu_own_ns"));
}

/// A forward of two layers: an embedding op before the root, per layer a norm and a Linear whose op
/// launches two kernels, one of them from an op below it.
void AddForward(TraceText& text, int at) {
  text.Op("aten::arange", at, 5).Kernel("arange_kernel", at + 1, at + 1000, 2);
  text.Scope("Model_0", at + 10, 80);
  for (int layer = 0; layer < 2; ++layer) {
    const int start = at + 12 + layer * 30;
    text.Scope(fmt::format("Block_{}", layer), start, 28);
    text.Scope(fmt::format("Norm_{}", layer), start + 1, 8);
    text.Op("aten::rms_norm", start + 2, 4);
    text.Kernel("norm_kernel", start + 3, at + 1010 + layer * 10, 3);
    text.Scope(fmt::format("Linear_{}", layer), start + 10, 15);
    text.Op(
        "aten::linear", start + 11, 12, 1,
        R"("Input Dims":[[2,8],[8,4],[]],"Input type":["c10::BFloat16","c10::BFloat16","Scalar"])");
    text.Op("aten::mm", start + 12, 6);
    text.Kernel("gemm_kernel", start + 13, at + 1015 + layer * 10, 4 + layer);
    text.Kernel("splitk_kernel", start + 20, at + 1021 + layer * 10, 1);
  }
  text.Op("aten::argmax", at + 95, 4).Kernel("argmax_kernel", at + 96, at + 1040, 6);
}

TEST(ModelExecution, TimesOfModulesAreThoseOfTheirKernels) {
  TraceText text;
  AddForward(text, 100);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  const Value& model = At(root, "module_tree");
  EXPECT_EQ(Text(model, "class"), "Model");
  // The CPU waits 80 us in it; its kernels run 3 + 4 + 1 and 3 + 5 + 1 us.
  EXPECT_EQ(Number(model, "dur_us"), 80.0);
  EXPECT_EQ(Int(model, "gpu_ns"), 17'000);
  EXPECT_EQ(Int(model, "kernels"), 6);
  EXPECT_EQ(Int(At(model, "evidence"), "launch_correlation"), 17'000);
  ExpectConserved(model, true);
  // 2 us before and 6 us after the model.
  EXPECT_EQ(Int(At(root, "unattributed"), "gpu_ns"), 8'000);
  EXPECT_EQ(Int(At(root, "stats"), "total_gpu_ns"), 25'000);
}

TEST(ModelExecution, OpsBeforeAndAfterTheModelAreListed) {
  TraceText text;
  AddForward(text, 100);
  AddForward(text, 5000);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  // Without a step that says where the second forward begins, its arange follows the first.
  ASSERT_EQ(ListAt(root, "pre_model_ops").size(), 1U);
  EXPECT_EQ(Text(ListAt(root, "pre_model_ops")[0], "op"), "aten::arange");
  ASSERT_EQ(ListAt(root, "post_model_ops").size(), 2U);
  EXPECT_EQ(Text(ListAt(root, "post_model_ops")[0], "op"), "aten::argmax");
  EXPECT_EQ(Int(ListAt(root, "post_model_ops")[0], "gpu_ns"), 12'000);
}

TEST(ModelExecution, AStepSaysWhereTheNextForwardBegins) {
  TraceText text;
  text.Step("execute_context_1(16)_generation_0(0)", 90, 200);
  AddForward(text, 100);
  text.Step("execute_context_0(0)_generation_2(2)", 4990, 200);
  AddForward(text, 5000);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  ASSERT_EQ(ListAt(root, "pre_model_ops").size(), 1U);
  EXPECT_EQ(Int(ListAt(root, "pre_model_ops")[0], "calls"), 2);
  ASSERT_EQ(ListAt(root, "post_model_ops").size(), 1U);
  EXPECT_EQ(Text(root, "mode"), "mixed");
  EXPECT_EQ(Int(At(root, "phases"), "prefill"), 1);
  EXPECT_EQ(Int(At(root, "phases"), "decode"), 1);
}

TEST(ModelExecution, EveryForwardCounts) {
  TraceText text;
  AddForward(text, 100);
  AddForward(text, 5000);
  text.Scope("Model_0", 9000, 20).Op("aten::copy_", 9001, 4).Kernel("extra", 9002, 9100, 20);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  EXPECT_EQ(Int(root, "iterations"), 3);
  const Value& passes = At(At(root, "module_tree"), "passes");
  EXPECT_EQ(Int(passes, "n"), 3);
  EXPECT_EQ(Int(passes, "min_gpu_ns"), 17'000);
  EXPECT_EQ(Int(passes, "max_gpu_ns"), 20'000);
  EXPECT_EQ(Int(passes, "avg_gpu_ns"), 18'000);
  EXPECT_EQ(Int(At(root, "module_tree"), "calls"), 3);
  ASSERT_EQ(ListAt(root, "passes").size(), 3U);
  // With arange before the first, and argmax and the second's arange after it.
  EXPECT_EQ(Int(ListAt(root, "passes")[0], "gpu_ns"), 27'000);
}

TEST(ModelExecution, AnOpHasAllItsKernelsAndTheOpsBelowIt) {
  TraceText text;
  AddForward(text, 100);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace, false);
  const Value& block = ListAt(At(root, "module_tree"), "children")[0];
  const Value& linear = ListAt(ListAt(block, "children")[1], "ops")[0];
  EXPECT_EQ(Text(linear, "op"), "aten::linear");
  EXPECT_EQ(Text(linear, "dims"), "[2,8] → [8,4]");
  EXPECT_EQ(Int(linear, "kernels"), 2);
  EXPECT_EQ(Int(linear, "gpu_ns"), 5'000);
  EXPECT_EQ(Number(linear, "gpu_dur_us"), 5.0);
  EXPECT_EQ(Text(linear, "gpu"), "gemm_kernel");
  EXPECT_EQ(Text(linear, "gpu_role"), "gemm");
  ASSERT_EQ(ListAt(linear, "gpu_kernels").size(), 1U);
  EXPECT_EQ(Text(ListAt(linear, "gpu_kernels")[0], "name"), "splitk_kernel");
  const Value& longest = At(ListAt(linear, "gpu_kernels")[0], "longest_run");
  EXPECT_EQ(Int(longest, "gpu_ns"), 1'000);
  EXPECT_EQ(Int(longest, "stream"), 7);
  EXPECT_EQ(Text(longest, "launch"), "cudaLaunchKernel");
  const Value& mm = ListAt(linear, "sub_ops")[0];
  EXPECT_EQ(Text(mm, "op"), "aten::mm");
  EXPECT_EQ(Int(mm, "gpu_ns"), 4'000);
  ASSERT_EQ(ListAt(linear, "args").size(), 3U);
  EXPECT_EQ(Text(ListAt(linear, "args")[0], "dtype"), "BFloat16");
}

TEST(ModelExecution, WorkOfEveryThreadCounts) {
  TraceText text;
  AddForward(text, 100);
  text.Scope("Sampler_0", 300, 20, 2);
  text.Op("aten::sort", 301, 9, 2).Kernel("sort_kernel", 302, 1500, 7, 2);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  const Value& tree = At(root, "module_tree");
  EXPECT_EQ(Text(tree, "class"), "[forward]");
  ASSERT_EQ(ListAt(tree, "children").size(), 2U);
  EXPECT_EQ(Int(tree, "gpu_ns"), 24'000);
  EXPECT_EQ(Int(ListAt(tree, "children")[1], "gpu_ns"), 7'000);
  ExpectConserved(tree, true);
}

TEST(ModelExecution, LikeLayersAreOneNodeThatKeepsTheValuesOfEach) {
  TraceText text;
  AddForward(text, 100);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  const Value& model = At(root, "module_tree");
  ASSERT_EQ(ListAt(model, "children").size(), 1U);
  const Value& block = ListAt(model, "children")[0];
  EXPECT_EQ(Text(block, "name"), "Block_0..1");
  EXPECT_EQ(Int(block, "repeat"), 2);
  EXPECT_EQ(Ints(block, "all_layer_gpu_ns"), (std::vector<int64_t>{8'000, 9'000}));
  EXPECT_EQ(Int(block, "gpu_ns"), 17'000);
  EXPECT_EQ(Int(block, "min_gpu_ns"), 8'000);
  EXPECT_EQ(ListAt(block, "per_layer_dur").size(), 2U);
  EXPECT_EQ(Number(block, "avg_dur_us"), 28.0);
  const Value& linear = ListAt(ListAt(block, "children")[1], "ops")[0];
  EXPECT_EQ(Ints(linear, "all_layer_gpu_ns"), (std::vector<int64_t>{5'000, 6'000}));
  EXPECT_EQ(Int(root, "layers"), 2);
  EXPECT_EQ(Int(root, "ops_per_layer"), 2);
  ASSERT_EQ(ListAt(root, "per_layer").size(), 2U);
  EXPECT_EQ(Int(ListAt(root, "per_layer")[1], "gpu_ns"), 9'000);
  ASSERT_EQ(ListAt(root, "layer_template").size(), 2U);
  EXPECT_EQ(Text(ListAt(root, "layer_template")[1], "op"), "aten::linear");
  EXPECT_EQ(Text(ListAt(root, "layer_template")[1], "module"), "Linear_0..1");
}

/// One forward of `kinds`, a layer a letter: a = attention, m = Mamba, of classes or structures.
std::string Layers(const std::string& kinds, bool one_class) {
  TraceText text;
  const int n = static_cast<int>(kinds.size());
  text.Scope("Model_0", 0, n * 20 + 30);
  text.Op("aten::embedding", 1, 2).Kernel("embedding_kernel", 2, 1000, 1);
  int numbers[2] = {0, 0};
  for (int i = 0; i < n; ++i) {
    const bool attention = kinds[static_cast<size_t>(i)] == 'a';
    const int number = one_class ? i : numbers[attention ? 0 : 1];
    ++numbers[attention ? 0 : 1];
    const std::string name = one_class ? "Layer" : attention ? "AttentionLayer" : "MambaLayer";
    text.Scope(fmt::format("{}_{}", name, number), 5 + i * 20, 18);
    text.Scope(fmt::format("{}_{}", attention ? "Attention" : "Mamba", number), 6 + i * 20, 15);
    text.Op("op", 7 + i * 20, 5).Kernel("k", 8 + i * 20, 1010 + i * 10, i + 1);
  }
  text.Op("aten::norm", n * 20 + 10, 5).Kernel("norm", n * 20 + 11, 3000, 2);
  return text.text();
}

TEST(ModelExecution, AlternatingTypesArePatternsAndStayApart) {
  for (const bool one_class : {false, true}) {
    const TestTrace trace(Layers("amamam", one_class));
    const Value root = RootOf(trace);
    EXPECT_EQ(Text(root, "layer_pattern"), "(A B)×3");
    EXPECT_EQ(Int(root, "layers"), 6);
    const Array& children = ListAt(At(root, "module_tree"), "children");
    ASSERT_EQ(children.size(), 2U);
    EXPECT_EQ(Ints(children[0], "all_layer_gpu_ns"), (std::vector<int64_t>{1'000, 3'000, 5'000}));
    EXPECT_EQ(Ints(children[1], "all_layer_gpu_ns"), (std::vector<int64_t>{2'000, 4'000, 6'000}));
    EXPECT_EQ(Text(ListAt(root, "per_layer")[1], "type"), "B");
    ASSERT_EQ(ListAt(root, "pre_layers").size(), 1U);
    EXPECT_EQ(Text(ListAt(root, "pre_layers")[0], "op"), "aten::embedding");
    ASSERT_EQ(ListAt(root, "post_layers").size(), 1U);
    EXPECT_EQ(Text(ListAt(root, "post_layers")[0], "op"), "aten::norm");
  }
}

TEST(ModelExecution, WithoutCollapseEveryModuleStandsAlone) {
  const TestTrace trace(Layers("amamam", true));
  const Value root = RootOf(trace, false);
  EXPECT_EQ(ListAt(At(root, "module_tree"), "children").size(), 6U);
  EXPECT_EQ(Int(root, "layers"), 6);
  ExpectConserved(At(root, "module_tree"), true);
}

TEST(ModelExecution, WhatTheTraceDoesNotSayIsNull) {
  TraceText text;
  AddForward(text, 100);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  EXPECT_TRUE(std::holds_alternative<table::Null>(At(root, "mode").variant()));
  EXPECT_TRUE(std::holds_alternative<table::Null>(At(root, "config").variant()));
  EXPECT_EQ(Text(root, "device"), "cuda");
  EXPECT_EQ(Text(root, "dtype"), "bfloat16");
}

TEST(ModelExecution, ATraceOfTheCpuAloneHasItsOpsTimes) {
  TraceText text;
  text.Scope("Model_0", 0, 50).Op("aten::linear", 5, 20).Op("aten::mm", 8, 10);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  EXPECT_EQ(Text(root, "device"), "cpu");
  const Value& linear = ListAt(At(root, "module_tree"), "ops")[0];
  EXPECT_EQ(Number(linear, "dur_us"), 20.0);
  EXPECT_EQ(Int(linear, "gpu_ns"), 20'000);
  EXPECT_EQ(Int(linear, "gpu_own_ns"), 10'000);
  EXPECT_EQ(Text(linear, "gpu_note"), "CPU-only");
  EXPECT_FALSE(Has(linear, "gpu"));
}

TEST(ModelExecution, AMillionNestedModulesMakeNoDeepDocument) {
  TraceText text;
  for (int i = 0; i < 2000; ++i) text.Scope(fmt::format("M_{}", i), i, 10'000 - 2 * i);
  text.Op("aten::mm", 3000, 5).Kernel("gemm", 3001, 20'000, 9);
  const TestTrace trace(text.text());
  const Value root = RootOf(trace);
  const Value* at = &At(root, "module_tree");
  int depth = 1;
  for (; !ListAt(*at, "children").empty(); ++depth) at = &ListAt(*at, "children")[0];
  EXPECT_EQ(depth, 64);
  EXPECT_EQ(Int(*at, "gpu_ns"), 9'000);
}

TEST(ModelExecution, AnEmptyTraceGivesAnEmptyTree) {
  const TestTrace trace(R"({"traceEvents":[]})");
  const Value root = RootOf(trace);
  EXPECT_EQ(Text(At(root, "module_tree"), "class"), "[forward]");
  EXPECT_TRUE(ListAt(At(root, "module_tree"), "children").empty());
  EXPECT_TRUE(std::holds_alternative<table::Null>(At(root, "iterations").variant()));
}

TEST(ModelExecution, PatternsOfTypesAreShort) {
  EXPECT_EQ(PatternText({0, 0, 0}), "A×3");
  EXPECT_EQ(PatternText({0, 1, 1, 1}), "A×1 B×3");
  EXPECT_EQ(PatternText({0, 1, 0, 1}), "(A B)×2");
  EXPECT_EQ(PatternText({0, 0, 1, 0, 0, 1}), "(A A B)×2");
  EXPECT_EQ(TypeName(26), "T26");
}

TEST(ModelExecution, MicrosecondsAreRoundedToATenth) {
  EXPECT_EQ(Microseconds(1'249), 1.2);
  EXPECT_EQ(Microseconds(1'250), 1.3);
  EXPECT_EQ(Microseconds(80'000), 80.0);
}

}  // namespace
}  // namespace layerscope::document
