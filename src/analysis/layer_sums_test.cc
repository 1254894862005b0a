#include "src/analysis/layer_sums.h"

#include <gtest/gtest.h>

#include "src/analysis/all_reduce.h"
#include "src/analysis/layer_clusters.h"
#include "src/analysis/layer_rows.h"
#include "src/analysis/pass_rows.h"

#include "tests/support/layered_run.h"

namespace layerscope::analysis {
namespace {

using tests::LayeredRun;
using tests::LayeredTrace;
using tests::TwoPasses;

TEST(LayerSums, LayersHeadAndTailAddUpToThePass) {
  const LayeredRun run(TwoPasses());
  const StructureSums sums = SumStructure(run.view(), run.structure());
  ASSERT_EQ(sums.passes.size(), 2U);
  EXPECT_EQ(sums.passes[0].sum_ns, 57);
  EXPECT_EQ(sums.passes[0].copy_ns, 1);
  EXPECT_EQ(sums.passes[0].n_kernels, 8);
  EXPECT_EQ(sums.passes[0].head.sum_ns, 5);
  EXPECT_EQ(sums.passes[0].tail.sum_ns, 20);
  EXPECT_EQ(sums.passes[0].span.wall_ns(), 70);
  EXPECT_EQ(sums.passes[0].busy.busy_ns(), 58);
  EXPECT_EQ(sums.passes[1].sum_ns, 29);
  EXPECT_EQ(sums.outside.gpu_ns, 10);  // the foreign kernel is in no pass
  EXPECT_EQ(sums.outside.kernels, 2);
}

TEST(LayerSums, ALayerKnowsItsKernelsCopiesAndForeignOnes) {
  const LayeredRun run(TwoPasses());
  const LayerSums layer = SumStructure(run.view(), run.structure()).layers[1];
  EXPECT_EQ(layer.sum_ns, 18);
  EXPECT_EQ(layer.n_kernels, 3);
  EXPECT_EQ(layer.copy_ns, 1);
  EXPECT_EQ(layer.n_copies, 1);
  EXPECT_EQ(layer.span.first_ns(), 30);
  EXPECT_EQ(layer.span.last_ns(), 49);
  EXPECT_EQ(layer.busy.busy_ns(), 19);
  EXPECT_EQ(layer.n_allreduce, 1);
  EXPECT_EQ(layer.n_foreign, 1);
  EXPECT_EQ(layer.foreign_ns, 3);
  EXPECT_EQ(layer.first_kernel, 4);  // after the head and three kernels of layer 0
}

TEST(LayerSums, OrdinalsCountTheKernelsOfTheFileWhateverIsSelected) {
  const LayeredRun run(TwoPasses());
  RankView view = run.view();
  view.SetRows({11}, false);  // the kernel of the cut layer
  const StructureSums sums = SumStructure(view, run.structure());
  EXPECT_EQ(sums.layers[2].first_kernel, 10);  // ten kernels and a copy stand before it
  EXPECT_FALSE(sums.layers[0].first_kernel);
}

TEST(LayerSums, CategoriesHoldKernelsAndCopies) {
  const LayeredRun run(TwoPasses());
  const LayerSums layer = SumStructure(run.view(), run.structure()).layers[1];
  EXPECT_EQ(layer.by_category.ByName(run.view().rules()),
            (table::CellMap{{"gemm", 10}, {"communication", 6}, {"copy", 1}, {"other", 2}}));
  EXPECT_EQ(layer.by_category.OfGroup(run.view().rules(), "GEMM"), 10);
  EXPECT_EQ(GroupsOf(run.view().rules(), layer.by_category),
            (std::vector<std::string>{"GEMM", "NCCL", "other"}));
}

TEST(PassRows, AverageIsOverWholeLayersAndPartialPassesSaySo) {
  const LayeredRun run(TwoPasses());
  const RankView view = run.view();
  const std::vector<PassRow> rows =
      BuildPassRows(view, run.structure(), SumStructure(view, run.structure()), {});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].avg_layer_ns, 16);  // (14 + 19) / 2, half to even
  EXPECT_EQ(rows[0].first_layer_ns, 14);
  EXPECT_EQ(rows[0].note, "");
  EXPECT_EQ(rows[1].n_layers, 0);
  EXPECT_FALSE(rows[1].avg_layer_ns);
  EXPECT_EQ(rows[1].note, "partial");
}

TEST(PassRows, WholePassesBeforeTheSteadyOneAreCold) {
  LayeredTrace trace;
  for (int64_t i = 0; i < 4; ++i) {
    trace.Pass(layers::PassKind::kDecode).Layer(0).Kernel("gemm", 100 * i, i == 0 ? 50 : 10);
  }
  trace.structure().steady_pass = 1;
  trace.structure().passes[2].note = "micro-batch 1 of 2";
  const LayeredRun run(std::move(trace));
  const RankView view = run.view();
  const std::vector<PassRow> rows =
      BuildPassRows(view, run.structure(), SumStructure(view, run.structure()), {});
  EXPECT_EQ(rows[0].note, "cold");
  EXPECT_EQ(rows[1].note, "steady");
  EXPECT_EQ(rows[2].note, "steady; micro-batch 1 of 2");
}

TEST(Clusters, AverageOverWholeLayersAndNameTheMedianOne) {
  LayeredTrace trace;
  trace.Pass(layers::PassKind::kDecode);
  trace.Layer(0).Kernel("gemm", 0, 30);
  trace.Layer(1).Kernel("gemm", 40, 10).Kernel("norm", 50, 4);
  trace.Layer(2, 1).Kernel("moe", 60, 5);
  trace.Layer(3).Kernel("norm", 70, 4).Kernel("gemm", 74, 16);
  trace.Layer(4, 0, layers::kLayerCut).Kernel("gemm", 100, 100);
  const LayeredRun run(std::move(trace));
  const std::vector<Cluster> clusters =
      BuildClusters(BuildLayerRows(run.structure(), SumStructure(run.view(), run.structure()), 0));
  ASSERT_EQ(clusters.size(), 2U);
  EXPECT_EQ(clusters[0].type, "A");
  EXPECT_EQ(clusters[0].n, 3);
  EXPECT_EQ(clusters[0].avg_wall_ns, 21);  // (30 + 14 + 20) / 3
  EXPECT_EQ(clusters[0].example, 3);
  EXPECT_EQ(clusters[0].n_variants, 2);  // layers 1 and 3 differ in order alone
  EXPECT_EQ(clusters[1].type, "B");
  EXPECT_EQ(VariantsText(clusters), "kernels differ within a type: layer 0 from the other 2 of A");
}

TEST(AllReduce, IsKnownByName) {
  // Names of NCCL, vLLM, TensorRT-LLM, AITER, symmetric memory, SGLang.
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>()",
        "multimem_all_reduce_kernel", "void aiter::cross_device_reduce_2stage<__half, 8>()"}) {
    EXPECT_TRUE(IsAllReduce(name)) << name;
  }
  for (const char* name :
       {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL()", "ncclDevKernel_AllGather_RING_LL()",
        "void at::native::reduce_kernel<>()", "moe_alltoall_oneshot_kernel"}) {
    EXPECT_FALSE(IsAllReduce(name)) << name;
  }
}

}  // namespace
}  // namespace layerscope::analysis
