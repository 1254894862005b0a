#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/layers/layer_structure.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::tests {

/// A trace with a hand-built LayerStructure: rows are added in time order, each with its place.
class LayeredTrace {
 public:
  LayeredTrace() { structure_.types = {"A", "B"}; }

  /// Opens the next pass; rows follow.
  LayeredTrace& Pass(layers::PassKind kind, bool complete = true) {
    layers::Pass pass;
    pass.kind = kind;
    pass.complete = complete;
    pass.first_layer = static_cast<uint32_t>(structure_.layers.size());
    pass.confidence = 0.9;
    structure_.passes.push_back(pass);
    return *this;
  }
  /// Opens the next layer of the pass.
  LayeredTrace& Layer(int32_t index, uint32_t type = 0, uint8_t flags = 0) {
    layers::Layer layer;
    layer.pass = layers::PassId(structure_.passes.size() - 1);
    layer.index = index;
    layer.type = type;
    layer.flags = flags;
    structure_.layers.push_back(layer);
    ++structure_.passes.back().n_layers;
    return *this;
  }
  LayeredTrace& Head(std::string_view name, int64_t start_ns, int64_t dur_ns) {
    return Add(name, start_ns, dur_ns, layers::PassPart::kHead);
  }
  LayeredTrace& Tail(std::string_view name, int64_t start_ns, int64_t dur_ns) {
    return Add(name, start_ns, dur_ns, layers::PassPart::kTail);
  }
  LayeredTrace& Kernel(std::string_view name, int64_t start_ns, int64_t dur_ns,
                       uint8_t block = layers::kNoBlock) {
    return Add(name, start_ns, dur_ns, layers::PassPart::kLayer, block);
  }
  LayeredTrace& Copy(int64_t start_ns, int64_t dur_ns) {
    build_.Activity(trace::ActivityKind::kMemcpy, "Memcpy DtoD", start_ns, dur_ns, 0);
    return Place(layers::PassPart::kLayer, layers::kNoBlock);
  }
  LayeredTrace& Foreign(std::string_view name, int64_t start_ns, int64_t dur_ns) {
    build_.Kernel(name, start_ns, dur_ns, 0);
    Place(layers::PassPart::kLayer, layers::kNoBlock);
    structure_.pass.back() = {};
    structure_.part.back() = layers::PassPart::kOutside;
    structure_.evidence.back() = attribution::Evidence::kUnresolved;
    structure_.foreign.back() = 1;
    return *this;
  }
  LayeredTrace& Outside(std::string_view name, int64_t start_ns, int64_t dur_ns) {
    build_.Kernel(name, start_ns, dur_ns, 0);
    return Place(layers::PassPart::kOutside, layers::kNoBlock);
  }
  layers::LayerStructure& structure() { return structure_; }

 private:
  friend class LayeredRun;
  LayeredTrace& Add(std::string_view name, int64_t start_ns, int64_t dur_ns, layers::PassPart part,
                    uint8_t block = layers::kNoBlock) {
    build_.Kernel(name, start_ns, dur_ns, 0);
    return Place(part, block);
  }
  LayeredTrace& Place(layers::PassPart part, uint8_t block) {
    const bool in_pass = part != layers::PassPart::kOutside;
    const bool in_layer = part == layers::PassPart::kLayer;
    structure_.pass.push_back(in_pass ? layers::PassId(structure_.passes.size() - 1)
                                      : layers::PassId());
    structure_.layer.push_back(in_layer ? layers::LayerId(structure_.layers.size() - 1)
                                        : layers::LayerId());
    structure_.part.push_back(part);
    structure_.block.push_back(block);
    structure_.foreign.push_back(0);
    structure_.evidence.push_back(in_pass ? attribution::Evidence::kPeriodicity
                                          : attribution::Evidence::kUnresolved);
    return *this;
  }

  TraceBuilder build_;
  layers::LayerStructure structure_;
};

/// A run of such a trace.
class LayeredRun {
 public:
  explicit LayeredRun(LayeredTrace trace)
      : structure_(std::move(trace.structure_)), run_(std::move(trace.build_).Build()) {
    structure_.layers_per_pass = 2;
    analysis::RankInput rank = run_.rank();
    rank.layers = &structure_;
    ranks_.push_back(rank);
  }
  LayeredRun(const LayeredRun&) = delete;
  LayeredRun& operator=(const LayeredRun&) = delete;

  analysis::AnalysisInput input() const { return {ranks_, &run_.rules()}; }
  const analysis::RankInput& rank() const { return ranks_.front(); }
  analysis::RankView view() const { return {ranks_.front(), run_.rules()}; }
  const layers::LayerStructure& structure() const { return structure_; }

 private:
  layers::LayerStructure structure_;
  analysis::TestRun run_;
  std::vector<analysis::RankInput> ranks_;
};

/// Two passes of two layers. Pass 0: head 5; layer 0: 2 + 8 + 4 (all-reduce) = 14 over [10, 24);
/// layer 1: 2 + 10 + 6 (all-reduce) = 18 and a copy of 1 over [30, 49), a foreign kernel of 3; tail
/// 20. Then 7 outside. Pass 1 is cut: layer 1 of 9 over [100, 109), tail 20. All: 5 + 14 + 19 + 20
/// + 3 + 7 + 9 + 20 = 97.
inline LayeredTrace TwoPasses() {
  LayeredTrace trace;
  trace.Pass(layers::PassKind::kPrefill).Head("embed", 0, 5);
  trace.Layer(0, 0, layers::kLayerFirst)
      .Kernel("norm", 10, 2, 0)
      .Kernel("gemm", 12, 8, 0)
      .Kernel("nccl_all_reduce", 20, 4, 1);
  trace.Layer(1, 0, layers::kLayerFinal)
      .Kernel("norm", 30, 2, 0)
      .Kernel("gemm", 32, 10, 0)
      .Foreign("sample", 33, 3)
      .Kernel("nccl_all_reduce", 42, 6, 1)
      .Copy(48, 1);
  trace.Tail("gemm_head", 50, 20).Outside("prepare", 80, 7);
  trace.Pass(layers::PassKind::kDecode, false)
      .Layer(1, 1, layers::kLayerFinal | layers::kLayerCut)
      .Kernel("gemm", 100, 9);
  trace.Tail("gemm_head", 110, 20);
  return trace;
}

}  // namespace layerscope::tests
