#include "src/analysis/layers.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/analysis/kernels.h"
#include "src/analysis/layer_diff.h"
#include "src/analysis/layer_kernels.h"
#include "src/analysis/layer_variance.h"
#include "src/analysis/passes.h"
#include "src/analysis/ranges.h"
#include "src/analysis/report.h"

#include "tests/support/layered_run.h"

namespace layerscope::analysis {
namespace {

using tests::LayeredRun;
using tests::LayeredTrace;
using tests::TwoPasses;

const table::Value& At(const table::Object& object, std::string_view key) {
  static const table::Value kNone;
  for (const auto& [name, value] : object) {
    if (name == key) return value;
  }
  ADD_FAILURE() << "no key " << key;
  return kNone;
}

const table::Table& TableAt(const table::Object& object, std::string_view key) {
  return *std::get<std::shared_ptr<table::Table>>(At(object, key).variant());
}

const table::Object& ObjectAt(const table::Object& object, std::string_view key) {
  return *std::get<std::shared_ptr<table::Object>>(At(object, key).variant());
}

int64_t IntAt(const table::Object& object, std::string_view key) {
  return std::get<int64_t>(At(object, key).variant());
}

int64_t Cell(const table::Table& table, std::string_view column, size_t row) {
  return std::get<int64_t>(table.Find(column)->cell(row));
}

table::RankResult Only(base::Result<Output> output) {
  if (!output.ok()) {
    ADD_FAILURE() << output.error().message;
    return {};
  }
  return std::move(output->ranks.front());
}

TEST(Passes, AndOutsideAddUpToTheTotal) {
  const LayeredRun run(TwoPasses());
  const table::RankResult result = Only(ComputePasses(run.input(), {}));
  const table::Table& passes = TableAt(result.data, "passes");
  ASSERT_EQ(passes.n_rows, 2U);
  EXPECT_EQ(Cell(passes, "sum_ns", 0), 57);
  EXPECT_EQ(Cell(passes, "copy_ns", 0), 1);
  EXPECT_EQ(Cell(passes, "sum_ns", 1), 29);
  EXPECT_EQ(IntAt(ObjectAt(result.data, "outside"), "gpu_ns"), 10);
  EXPECT_EQ(result.coverage.total_ns, 97);
  EXPECT_EQ(result.coverage.layer, (table::CellMap{{"periodicity", 87}, {"unresolved", 10}}));
}

/// Whole passes of one layer of one kernel each.
LayeredTrace PassesOf(layers::PassKind kind,
                      const std::vector<std::pair<std::string, int64_t>>& kernels) {
  LayeredTrace trace;
  int64_t start_ns = 0;
  for (const auto& [name, dur_ns] : kernels) {
    trace.Pass(kind).Layer(0).Kernel(name, start_ns, dur_ns);
    start_ns += dur_ns + 1000;
  }
  return trace;
}

std::vector<std::string> NotesOf(LayeredTrace trace) {
  trace.structure().steady_pass = 1;
  const LayeredRun run(std::move(trace));
  const table::RankResult result = Only(ComputePasses(run.input(), {}));
  const table::Table& passes = TableAt(result.data, "passes");
  std::vector<std::string> notes;
  for (size_t row = 0; row < passes.n_rows; ++row) {
    notes.emplace_back(std::get<std::string_view>(passes.Find("note")->cell(row)));
  }
  return notes;
}

TEST(Passes, OneFarSlowerThanTheSteadyOneIsNotSteady) {
  using Notes = std::vector<std::string>;
  EXPECT_EQ(NotesOf(PassesOf(layers::PassKind::kDecode,
                             {{"gemm", 5000}, {"gemm", 1000}, {"gemm", 1040}, {"gemm", 1070}})),
            (Notes{"cold", "steady", "steady", "slower"}));
  // Nothing says that the first pass does what the others do: it may be a prefill.
  EXPECT_EQ(NotesOf(PassesOf(layers::PassKind::kUnknown,
                             {{"other", 5000}, {"gemm", 1000}, {"gemm", 1000}, {"gemm", 1000}})),
            (Notes{"", "steady", "steady", "steady"}));
}

TEST(Layers, AFirstLayerThatTakesFarLongerIsSaidAndDoesNotRank) {
  LayeredTrace trace;
  trace.Pass(layers::PassKind::kDecode);
  // Type A: 1000 and three of 100; type B: four of 150. By medians B takes longer.
  int64_t start_ns = 0;
  for (int32_t i = 0; i < 8; ++i) {
    const int64_t dur_ns = i == 0 ? 1000 : (i % 2 == 0 ? 100 : 150);
    trace.Layer(i, static_cast<uint32_t>(i % 2))
        .Kernel(i == 0 ? "first" : "gemm", start_ns, dur_ns);
    start_ns += dur_ns;
  }
  const LayeredRun run(std::move(trace));
  base::Result<PassLayers> layers = CollectPassLayers(run.view(), {});
  ASSERT_TRUE(layers.ok());
  EXPECT_EQ(layers->clusters[0].median_wall_ns, 100);
  EXPECT_EQ(FirstLayerText(layers->clusters), "layer 0 is 10.0x its type's median: host start-up");
  EXPECT_EQ(VariantsText(layers->clusters),
            "kernels differ within a type: layer 0 from the other 3 of A");
  const std::string text = BottleneckText(run.view(), layers->clusters, start_ns);
  EXPECT_TRUE(text.starts_with("type B (4 layers, ")) << text;
}

TEST(Layers, AllPassesAndOnePassExcludeEachOther) {
  const LayeredRun run(TwoPasses());
  LayersOptions options;
  options.all_passes = true;
  options.selection.passes = NumberRange(0, 0);
  EXPECT_EQ(ComputeLayers(run.input(), options).error().code, base::ErrorCode::kUsage);
}

TEST(Layers, OfOnePassWithHeadTailAndTotal) {
  const LayeredRun run(TwoPasses());
  const table::RankResult result = Only(ComputeLayers(run.input(), {}));
  EXPECT_EQ(IntAt(result.data, "pass"), 0);
  const table::Table& layers = TableAt(result.data, "layers");
  ASSERT_EQ(layers.n_rows, 2U);
  EXPECT_EQ(Cell(layers, "sum_ns", 0), 14);
  EXPECT_EQ(Cell(layers, "wall_ns", 1), 19);
  EXPECT_EQ(IntAt(ObjectAt(result.data, "head"), "sum_ns"), 5);
  EXPECT_EQ(IntAt(ObjectAt(result.data, "tail"), "n_kernels"), 1);
  EXPECT_EQ(IntAt(ObjectAt(result.data, "total"), "sum_ns"), 57);
  EXPECT_EQ(result.coverage.total_ns, 58);  // the pass alone
}

TEST(Layers, AnAbstentionHasNoRowsAndSaysWhy) {
  LayeredTrace trace;
  trace.Outside("gemm", 0, 10);
  trace.structure().abstained = table::Abstention{"no_pass", "no repetition", "give --config"};
  const LayeredRun run(std::move(trace));
  const table::RankResult result = Only(ComputeLayers(run.input(), {}));
  ASSERT_TRUE(result.abstained);
  EXPECT_EQ(result.abstained->how, "give --config");
  EXPECT_TRUE(Only(ComputePasses(run.input(), {})).abstained);
  EXPECT_TRUE(Only(ComputeRanges(run.input(), {})).abstained);
  EXPECT_TRUE(Only(ComputeReport(run.input(), {})).abstained);
}

TEST(LayerVariance, MarksALayerWhoseMedianIsFarFromItsType) {
  // Medians 100, 101, 99, 100, 130: the median of them is 100, deviations 0, 1, 1, 0, 30 have the
  // median 1, and 0.6745 × 30 is over 3.5. A cold pass of twice the time changes nothing.
  std::vector<LayerVariance> rows;
  for (const int64_t wall_ns : {100, 101, 99, 100, 130}) {
    LayerVariance row;
    row.type = "A";
    row.by_pass = {2 * wall_ns, wall_ns, std::nullopt, wall_ns};
    rows.push_back(std::move(row));
  }
  SummarizeVariance(rows);
  EXPECT_EQ(rows[0].mean_ns, 133);
  EXPECT_EQ(rows[0].median_ns, 100);
  EXPECT_EQ(rows[0].min_ns, 100);
  EXPECT_EQ(rows[0].max_ns, 200);
  EXPECT_EQ(rows[0].stddev_ns, 47);  // sqrt((67² + 2 × 33²) / 3) of 200, 100, 100
  EXPECT_FALSE(rows[0].outlier);
  EXPECT_TRUE(rows[4].outlier);
}

TEST(LayerVariance, WithoutAWholePassThereIsNothingToCompare) {
  LayeredTrace trace;
  trace.Pass(layers::PassKind::kDecode, false).Layer(0, 0, layers::kLayerCut).Kernel("gemm", 0, 5);
  const LayeredRun run(std::move(trace));
  LayersOptions options;
  options.all_passes = true;
  EXPECT_EQ(Only(ComputeLayers(run.input(), options)).abstained->code, "no_whole_pass");
}

TEST(Ranges, ListPassesAndTheLayersWanted) {
  const LayeredRun run(TwoPasses());
  RangesOptions options;
  options.layers = "1";
  const table::RankResult result = Only(ComputeRanges(run.input(), options));
  const table::Table& ranges = TableAt(result.data, "ranges");
  ASSERT_EQ(ranges.n_rows, 4U);  // pass 0, its layer 1, pass 1, its cut layer 1
  EXPECT_EQ(Cell(ranges, "start_ns", 1), 30);
  EXPECT_EQ(Cell(ranges, "end_ns", 1), 49);
  options.layers = "0..1,7";
  EXPECT_EQ(ComputeRanges(run.input(), options).error().hint, "there are layers 0 to 1");
  options.layers = "0..9";
  EXPECT_EQ(ComputeRanges(run.input(), options).error().code, base::ErrorCode::kNotFound);
  options.layers = "one";
  EXPECT_EQ(ComputeRanges(run.input(), options).error().code, base::ErrorCode::kUsage);
}

TEST(KernelsOfALayer, AreRankedAndKnowTheirPlace) {
  const LayeredRun run(TwoPasses());
  KernelsOptions options;
  options.selection.layer = "1";
  const table::RankResult result = Only(ComputeKernels(run.input(), options));
  const table::Table& rows = TableAt(result.data, "rows");
  ASSERT_EQ(rows.n_rows, 4U);
  EXPECT_EQ(Cell(rows, "sum_ns", 0), 10);
  EXPECT_EQ(Cell(rows, "ts_rel_ns", 0), 2);
  EXPECT_EQ(Cell(rows, "index", 0), 2);
  EXPECT_EQ(Cell(rows, "block", 1), 1);
  EXPECT_EQ(std::get<std::string_view>(rows.Find("block_name")->cell(1)), "ffn");
  EXPECT_EQ(IntAt(ObjectAt(result.data, "total"), "sum_ns"), 19);
}

TEST(Kernels, ByLayerSumOverAllPasses) {
  const LayeredRun run(TwoPasses());
  const std::vector<KernelRow> rows = RankActivities(run.view(), KernelsBy::kLayer);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].key, "[tail]");
  EXPECT_EQ(rows[0].group.sum_ns, 40);
  EXPECT_EQ(rows[1].key, "1");
  EXPECT_EQ(rows[1].group.sum_ns, 28);
  EXPECT_EQ(rows[2].name, "layer 0");
  EXPECT_EQ(rows[3].key, "[outside any pass]");
}

TEST(CompareLayers, SplitsKernelsByWhereTheyRun) {
  const LayeredRun run(TwoPasses());
  KernelsOptions options;
  options.selection.layer = "0";
  options.compare_layer = 1;
  const table::RankResult result = Only(ComputeKernels(run.input(), options));
  EXPECT_EQ(IntAt(ObjectAt(result.data, "primary"), "sum_ns"), 14);
  EXPECT_EQ(IntAt(ObjectAt(result.data, "comparison"), "sum_ns"), 18);
  const table::Object& diff = ObjectAt(result.data, "kernel_diff");
  const auto rows = [&](std::string_view key) {
    return *std::get<std::shared_ptr<table::Array>>(At(diff, key).variant());
  };
  EXPECT_EQ(rows("both").size(), 3U);
  EXPECT_EQ(rows("only_comparison").size(), 1U);  // the copy
  EXPECT_TRUE(rows("only_primary").empty());
  options.selection.layer = "1";
  EXPECT_EQ(ComputeKernels(run.input(), options).error().code, base::ErrorCode::kUsage);
  options.selection.layer = "0..1";
  EXPECT_EQ(ComputeKernels(run.input(), options).error().code, base::ErrorCode::kUsage);
}

TEST(Report, HoldsAllNinePoints) {
  const LayeredRun run(TwoPasses());
  const table::RankResult result = Only(ComputeReport(run.input(), {}));
  std::string points;
  for (const table::Block& block : result.blocks) {
    const std::string& title = block.title.empty() ? block.table.title : block.title;
    if (title.size() > 2 && title[1] == '.' && title[2] == ' ') points += title[0];
  }
  EXPECT_EQ(points, "123456789");
}

}  // namespace
}  // namespace layerscope::analysis
