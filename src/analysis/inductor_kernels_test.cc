#include "src/analysis/inductor_kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/analysis/compiled_table.h"
#include "src/analysis/rank_view.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;
using Texts = std::vector<std::string>;
using Graph = model::InductorProvenance::Graph;
using Site = model::InductorProvenance::Site;

/// A call of a kernel whose one source node is `source`, which reads `module` (empty: none).
Site SiteOf(std::string kernel, int64_t number, std::string source, std::string module = {}) {
  Site site;
  site.kernel = std::move(kernel);
  site.number = number;
  site.ops = {"add"};
  site.graph_nodes = {source + "_post"};
  site.source_nodes = {std::move(source)};
  if (!module.empty()) site.modules = {std::move(module)};
  return site;
}

/// Launches kernels in compiled regions, one after another.
class Compiled {
 public:
  Compiled() : thread_(build_.Thread(12, 1)) {}

  void Region(const Texts& kernels, const std::string& op = {}) {
    const auto n = static_cast<int64_t>(kernels.size());
    build_.Op(thread_, "Torch-Compiled Region: 0/0", now_, 10 * n + 10);
    build_.Annotation(thread_, "## Call CompiledFxGraph abc ##", now_ + 1, 10 * n + 5);
    for (const std::string& kernel : kernels) {
      now_ += 10;
      if (kernel == "gemm") build_.Op(thread_, op, now_, 5);
      Launch(kernel);
    }
    now_ += 100;
  }
  void Launch(const std::string& kernel) {
    ++correlation_;
    build_.Call(thread_, "cudaLaunchKernel", now_, correlation_);
    build_.Kernel(kernel, now_ + 1000, 7, correlation_);
  }
  trace::Trace Take() { return std::move(build_).Build(); }

 private:
  TraceBuilder build_;
  trace::ThreadId thread_;
  int64_t now_ = 0;
  int64_t correlation_ = 0;
};

/// The run's view with a provenance, and what it knows of a name.
class Seen {
 public:
  Seen(trace::Trace trace, model::InductorProvenance provenance)
      : run_(std::move(trace)), provenance_(std::move(provenance)), rank_(run_.rank()) {
    rank_.inductor = provenance_.graphs.empty() ? nullptr : &provenance_;
    view_.emplace(rank_, run_.rules());
    kernels_.emplace(*view_);
  }
  FusedFrom Of(std::string_view name) const {
    for (size_t i = 0; i < run_.trace().strings.size(); ++i) {
      if (run_.trace().strings[trace::StringId(i)] != name) continue;
      return kernels_->Of(trace::StringId(i)).value_or(FusedFrom());
    }
    return {};
  }
  const InductorKernels& kernels() const { return *kernels_; }
  const RankView& view() const { return *view_; }

 private:
  TestRun run_;
  model::InductorProvenance provenance_;
  RankInput rank_;
  std::optional<RankView> view_;
  std::optional<InductorKernels> kernels_;
};

TEST(InductorKernels, NamesAloneTellOperators) {
  Compiled trace;
  trace.Region({"triton_poi_fused__unsafe_view_mul_silu_2", "gemm"}, "aten::mm");
  const Seen seen(trace.Take(), {});
  const FusedFrom from = seen.Of("triton_poi_fused__unsafe_view_mul_silu_2");
  EXPECT_EQ(from.ops, (Texts{"_unsafe_view", "mul", "silu"}));
  EXPECT_FALSE(from.by_provenance);
  EXPECT_EQ(seen.kernels().n_names(), 1);
  table::RankResult result;
  NoteCompiledRegions(seen.view(), seen.kernels(), result);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].message.find("--inductor-debug"), std::string::npos);
}

// The names are the same in both graphs; the second kernel tells which of them ran.
TEST(InductorKernels, ARegionIsMatchedAsAWhole) {
  const model::InductorProvenance provenance{
      {Graph{"model__0",
             std::nullopt,
             {SiteOf("triton_poi_fused_add_0", 1, "a0"), SiteOf("triton_poi_fused_mul_1", 2, "b0"),
              SiteOf("triton_poi_fused_add_0", 3, "c0")}},
       Graph{
           "model__1",
           std::nullopt,
           {SiteOf("triton_poi_fused_add_0", 1, "a1"), SiteOf("triton_red_fused_sum_1", 2, "b1")}}},
      {}};
  Compiled trace;
  trace.Region({"triton_poi_fused_add_0", "triton_red_fused_sum_1"});
  const Seen second(trace.Take(), provenance);
  EXPECT_EQ(second.Of("triton_poi_fused_add_0").source_nodes, (Texts{"a1"}));
  EXPECT_EQ(second.Of("triton_red_fused_sum_1").source_nodes, (Texts{"b1"}));

  Compiled both;
  both.Region({"triton_poi_fused_add_0", "triton_poi_fused_mul_1", "triton_poi_fused_add_0"});
  both.Region({"triton_poi_fused_add_0", "triton_red_fused_sum_1"});
  const Seen all(both.Take(), provenance);
  EXPECT_EQ(all.Of("triton_poi_fused_add_0").source_nodes, (Texts{"a0", "c0", "a1"}));
}

TEST(InductorKernels, WhatFitsSeveralGraphsThatDifferHasItsNameAlone) {
  const model::InductorProvenance provenance{
      {Graph{"model__0", std::nullopt, {SiteOf("triton_poi_fused_add_0", 1, "a0")}},
       Graph{"model__1", std::nullopt, {SiteOf("triton_poi_fused_add_0", 1, "a1")}}},
      {}};
  Compiled trace;
  trace.Region({"triton_poi_fused_add_0"});
  const Seen seen(trace.Take(), provenance);
  const FusedFrom from = seen.Of("triton_poi_fused_add_0");
  EXPECT_FALSE(from.by_provenance);
  EXPECT_EQ(from.source_nodes, Texts{});
  EXPECT_EQ(from.ops, (Texts{"add"}));
}

TEST(InductorKernels, TheGraphInTheNameDecides) {
  const model::InductorProvenance provenance{
      {Graph{"model__0.0", 0, {SiteOf("cpp_fused_add_0", 1, "a0")}},
       Graph{"model__1.1", 1, {SiteOf("cpp_fused_add_0", 1, "a1")}}},
      {}};
  TraceBuilder build;
  build.Op(build.Thread(12, 1), "graph_1_cpp_fused_add_0", 0, 10);
  const Seen seen(std::move(build).Build(), provenance);  // no region at all
  EXPECT_EQ(seen.Of("graph_1_cpp_fused_add_0").source_nodes, (Texts{"a1"}));
}

// Without a matched region every place of the name may be meant.
TEST(InductorKernels, AKernelOutsideOfRegionsHasAllPlacesOfItsName) {
  const model::InductorProvenance provenance{
      {Graph{"model__0",
             std::nullopt,
             {SiteOf("triton_poi_fused_add_0", 1, "a"), SiteOf("triton_poi_fused_add_0", 2, "b")}}},
      {}};
  Compiled trace;
  trace.Launch("triton_poi_fused_add_0");
  trace.Launch("triton_poi_fused_mul_9");
  const Seen seen(trace.Take(), provenance);
  EXPECT_EQ(seen.Of("triton_poi_fused_add_0").source_nodes, (Texts{"a", "b"}));
  EXPECT_FALSE(seen.Of("triton_poi_fused_mul_9").by_provenance);
  EXPECT_EQ(seen.kernels().use().n_known, 1);
}

TEST(InductorKernels, ANameThatWasCutShortMeansTheOneKernelThatBeginsLikeIt) {
  const model::InductorProvenance provenance{{Graph{"model__0",
                                                    std::nullopt,
                                                    {SiteOf("triton_poi_fused_add_mul_0", 1, "a"),
                                                     SiteOf("triton_poi_fused_sub_1", 2, "b")}}},
                                             {}};
  Compiled trace;
  trace.Launch("triton_poi_fused_add_mu");
  trace.Launch("triton_poi_fused");
  const Seen seen(trace.Take(), provenance);
  EXPECT_EQ(seen.Of("triton_poi_fused_add_mu").source_nodes, (Texts{"a"}));
  EXPECT_FALSE(seen.Of("triton_poi_fused").by_provenance);
}

// Two multiplications stand between the fused kernels; each has its place by order.
TEST(InductorKernels, LibraryCallsHaveTheirPlacesWhenTheirNumberFits) {
  const model::InductorProvenance provenance{
      {Graph{"model__0",
             std::nullopt,
             {SiteOf("extern_kernels.mm", 1, "linear", "mlp.up"),
              SiteOf("triton_poi_fused_add_0", 2, "a"),
              SiteOf("extern_kernels.mm", 3, "linear_1", "mlp.down")}}},
      {}};
  Compiled trace;
  trace.Region({"gemm", "triton_poi_fused_add_0", "gemm"}, "aten::mm");
  const Seen seen(trace.Take(), provenance);
  EXPECT_EQ(seen.kernels().ModulesOf(0), (Texts{"mlp.up"}));
  EXPECT_EQ(seen.kernels().ModulesOf(1), Texts{});
  EXPECT_EQ(seen.kernels().ModulesOf(2), (Texts{"mlp.down"}));
  const table::Table rows = CompiledRegionRows(seen.view(), seen.kernels());
  ASSERT_EQ(rows.n_rows, 1U);
  // What the fused kernels fused, not the operators and annotations around them.
  EXPECT_EQ(std::get<table::CellList>(rows.Find("ops")->cell(0)), (Texts{"add"}));

  Compiled one_more;
  one_more.Region({"gemm", "triton_poi_fused_add_0", "gemm", "gemm"}, "aten::mm");
  const Seen other(one_more.Take(), provenance);
  EXPECT_EQ(other.kernels().ModulesOf(0), Texts{});
}

TEST(InductorKernels, SaysWhenTheDebugOutputIsOfAnotherModel) {
  const model::InductorProvenance provenance{
      {Graph{"model__0", std::nullopt, {SiteOf("triton_poi_fused_sub_7", 1, "a")}}}, {}};
  Compiled trace;
  trace.Region({"triton_poi_fused_add_0"});
  const Seen seen(trace.Take(), provenance);
  table::RankResult result;
  NoteCompiledRegions(seen.view(), seen.kernels(), result);
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_EQ(result.warnings[1].code, "inductor_mismatch");
}

TEST(InductorKernels, SaysThatNoKernelIsKnownWhereInductorNamedNone) {
  const model::InductorProvenance provenance{
      {Graph{"model__0", std::nullopt, {SiteOf("triton_poi_fused_sub_7", 1, "a")}}}, {}, "other"};
  Compiled trace;
  trace.Launch("gemm");  // outside of every region
  const Seen seen(trace.Take(), provenance);
  table::RankResult result;
  NoteCompiledRegions(seen.view(), seen.kernels(), result);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].code, "inductor_mismatch");
  EXPECT_NE(result.warnings[0].message.find("no kernel of this trace is in other"),
            std::string::npos);
}

// The generated code for CPUs has handles and no comments: its kernels have their names alone.
TEST(InductorKernels, CallsWithoutNodesAreNoProvenance) {
  Site call;
  call.kernel = "triton_poi_fused_add_0";
  call.number = 1;
  const model::InductorProvenance provenance{
      {Graph{"output_code.py", std::nullopt, {call}}}, {}, "output_code.py"};
  Compiled trace;
  trace.Region({"triton_poi_fused_add_0"});
  const Seen seen(trace.Take(), provenance);
  EXPECT_FALSE(seen.Of("triton_poi_fused_add_0").by_provenance);
  EXPECT_EQ(seen.Of("triton_poi_fused_add_0").ops, (Texts{"add"}));
  table::RankResult result;
  NoteCompiledRegions(seen.view(), seen.kernels(), result);
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_EQ(result.warnings[1].code, "inductor_no_nodes");
  EXPECT_EQ(result.warnings[1].severity, table::Severity::kWarning);
}

TEST(InductorKernels, SingleCallsHaveTheNodesOfTheirOwnPlace) {
  const model::InductorProvenance provenance{
      {Graph{"model__0",
             std::nullopt,
             {SiteOf("triton_poi_fused_add_0", 1, "a"), SiteOf("triton_poi_fused_add_0", 2, "b")}}},
      {}};
  Compiled trace;
  trace.Region({"triton_poi_fused_add_0", "triton_poi_fused_add_0"});
  trace.Launch("gemm");
  const Seen seen(trace.Take(), provenance);
  const auto rows = seen.kernels().OfRows({0, 1, 2});
  ASSERT_EQ(rows.size(), 3U);
  ASSERT_NE(rows[0], nullptr);
  ASSERT_NE(rows[1], nullptr);
  EXPECT_EQ(rows[0]->source_nodes, (Texts{"a"}));
  EXPECT_EQ(rows[1]->source_nodes, (Texts{"b"}));
  EXPECT_EQ(rows[2], nullptr);
}

}  // namespace
}  // namespace layerscope::analysis
