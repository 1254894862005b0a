#include "src/layers/layer_columns.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "src/base/checked_sum.h"

namespace layerscope::layers {
namespace {

using attribution::Evidence;
using base::AddClamped;
using trace::ActivityKind;

/// The time line of one pass: where its head, layers and tail begin.
struct PassTimes {
  PassId id;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  ///< end of its last kernel
  std::vector<int64_t> layer_begin_ns;
  int64_t tail_begin_ns = 0;
  uint32_t first_layer = 0;
};

class ColumnFiller {
 public:
  ColumnFiller(const trace::Trace& trace, const attribution::Attribution& attribution,
               const TargetRows& target, const std::vector<PlacedPass>& passes, LayerStructure& out)
      : trace_(trace),
        rows_(trace.activities),
        attribution_(attribution),
        target_(target),
        passes_(passes),
        out_(out) {}

  void Fill() {
    const size_t n_rows = attribution_.rows(trace_).size();
    out_.pass.resize(n_rows);
    out_.layer.resize(n_rows);
    out_.part.resize(n_rows, PassPart::kOutside);
    out_.block.resize(n_rows, kNoBlock);
    out_.foreign.resize(n_rows, 0);
    out_.evidence.resize(n_rows, Evidence::kUnresolved);
    for (const PlacedPass& pass : passes_) AddPass(pass);
    // Kernels first: a pass's time ends with its last kernel, side streams included.
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (!passes_[i].group->is_capture()) AddTimes(passes_[i], PassId(i));
    }
    SortTimes();
    PlaceWholeGraphs();
    SortTimes();
    PlaceTheRest();
  }

 private:
  void AddPass(const PlacedPass& placed) {
    const PassGroup& group = *placed.group;
    const PassId id(out_.passes.size());
    Pass& pass = out_.passes.emplace_back();
    pass.kind = group.kind;
    pass.step = group.step;
    pass.device = group.is_capture() ? trace::DeviceId() : target_.device;
    pass.process = ProcessOf(group);
    pass.first_layer = static_cast<uint32_t>(out_.layers.size());
    pass.n_layers = static_cast<uint32_t>(placed.layers.size());
    pass.complete = placed.complete;
    pass.note = placed.note;
    pass.batch = group.batch;
    pass.confidence = placed.layers.empty() ? 0 : placed.confidence;
    if (group.is_capture()) {
      pass.n_captured_launches = static_cast<int64_t>(group.tokens.size());
      std::tie(pass.captured_start_ns, pass.captured_end_ns) = CapturedTimes(group.tokens);
    }
    for (const PlacedLayer& layer : placed.layers) AddLayer(placed, layer, id);
    if (!group.is_capture()) PlaceTokens(placed, id);
  }

  trace::ProcessId ProcessOf(const PassGroup& group) const {
    if (group.is_capture()) return trace_.threads[group.thread.index()].process;
    return attribution_.host_process[group.tokens.front().row];
  }

  void AddLayer(const PlacedPass& placed, const PlacedLayer& source, PassId pass) {
    Layer layer;
    layer.pass = pass;
    layer.index = source.index;
    if (source.cut) layer.flags |= kLayerCut;
    if (placed.group->is_capture()) {
      layer.first_captured_launch = source.begin;
      layer.n_captured_launches = source.end - source.begin;
      std::tie(layer.captured_start_ns, layer.captured_end_ns) =
          CapturedTimes(std::span<const Token>(placed.group->tokens)
                            .subspan(source.begin, source.end - source.begin));
    }
    out_.layers.push_back(layer);
  }

  /// First start and last end of launch calls.
  std::pair<std::optional<int64_t>, std::optional<int64_t>> CapturedTimes(
      std::span<const Token> launches) const {
    std::optional<int64_t> start_ns;
    std::optional<int64_t> end_ns;
    for (const Token& token : launches) {
      const int64_t begin_ns = trace_.calls.start_ns[token.row];
      start_ns = std::min(start_ns.value_or(begin_ns), begin_ns);
      const int64_t until_ns = AddClamped(begin_ns, trace_.calls.dur_ns[token.row]);
      end_ns = std::max(end_ns.value_or(until_ns), until_ns);
    }
    return {start_ns, end_ns};
  }

  static Evidence EvidenceOf(const PlacedPass& pass) {
    if (pass.layers.empty()) return Evidence::kUnresolved;
    if (pass.kind == "template") return Evidence::kTemplate;
    return pass.kind == "repetition" ? Evidence::kPeriodicity : Evidence::kAnchorKernel;
  }

  void PlaceTokens(const PlacedPass& placed, PassId id) {
    const std::vector<Token>& tokens = placed.group->tokens;
    const Evidence evidence = EvidenceOf(placed);
    const uint32_t first_layer = out_.passes[id.index()].first_layer;
    size_t layer = 0;
    for (uint32_t i = 0; i < placed.n_tokens; ++i) {
      const uint32_t row = tokens[i].row;
      while (layer < placed.layers.size() && i >= placed.layers[layer].end) ++layer;
      const bool inside = layer < placed.layers.size() && i >= placed.layers[layer].begin;
      out_.pass[row] = id;
      out_.evidence[row] = evidence;
      out_.part[row] = inside                                                  ? PassPart::kLayer
                       : layer < placed.layers.size() || placed.layers.empty() ? PassPart::kHead
                                                                               : PassPart::kTail;
      if (!inside) continue;
      out_.layer[row] = LayerId(first_layer + layer);
      out_.block[row] = BlockAt(placed.layers[layer].block_begin, i);
    }
  }

  static uint8_t BlockAt(const std::vector<uint32_t>& begins, uint32_t token) {
    const auto after = std::upper_bound(begins.begin(), begins.end(), token);
    if (after == begins.begin()) return kNoBlock;
    return static_cast<uint8_t>(std::min<std::ptrdiff_t>(after - begins.begin() - 1, kNoBlock - 1));
  }

  int64_t StartOf(const PlacedPass& placed, uint32_t token) const {
    return rows_.start_ns[placed.group->tokens[token].row];
  }

  void AddTimes(const PlacedPass& placed, PassId id) {
    PassTimes times;
    times.id = id;
    times.first_layer = out_.passes[id.index()].first_layer;
    times.begin_ns = StartOf(placed, 0);
    times.end_ns = times.begin_ns;
    const auto extend = [&](uint32_t row) {
      times.begin_ns = std::min(times.begin_ns, rows_.start_ns[row]);
      times.end_ns = std::max(times.end_ns, AddClamped(rows_.start_ns[row], rows_.dur_ns[row]));
    };
    for (uint32_t i = 0; i < placed.n_tokens; ++i) extend(placed.group->tokens[i].row);
    for (const PlacedLayer& layer : placed.layers) {
      times.layer_begin_ns.push_back(StartOf(placed, layer.begin));
    }
    const uint32_t tail = placed.layers.empty() ? placed.n_tokens : placed.layers.back().end;
    times.tail_begin_ns =
        tail < placed.n_tokens ? StartOf(placed, tail) : std::numeric_limits<int64_t>::max();
    const std::vector<uint32_t> others = OwnOthers(placed, times);
    for (const uint32_t row : others) extend(row);
    for (const uint32_t row : others) PlaceByTime(times, row, placed);
    times_.push_back(std::move(times));
  }

  /// The side-stream kernels of a pass. Where no step says what is the pass's own, those are
  /// foreign that stand in under a fifth of the layers, or that are launched one by one when the
  /// pass is a graph (formats/layer_finding.md, rule 7).
  std::vector<uint32_t> OwnOthers(const PlacedPass& placed, const PassTimes& times) const {
    const std::vector<uint32_t>& others = placed.group->others;
    if (placed.group->step.valid() || placed.layers.empty() || others.empty()) return others;
    const PlacedLayer& middle = placed.layers[placed.layers.size() / 2];
    const bool is_graph = attribution_.under_graph[placed.group->tokens[middle.begin].row] != 0;
    struct Seen {
      size_t last_layer = std::numeric_limits<size_t>::max();
      size_t n_layers = 0;
    };
    std::map<trace::StringId, Seen> seen;
    for (const uint32_t row : others) {
      const size_t layer = LayerAt(times, rows_.start_ns[row]);
      Seen& name = seen[rows_.name[row]];
      if (layer == times.layer_begin_ns.size() || layer == name.last_layer) continue;
      name.last_layer = layer;
      ++name.n_layers;
    }
    std::vector<uint32_t> own;
    for (const uint32_t row : others) {
      const bool rare = seen[rows_.name[row]].n_layers * 5 < placed.layers.size();
      if (rare || (is_graph && attribution_.under_graph[row] == 0)) continue;
      own.push_back(row);
    }
    return own;
  }

  /// The layer in whose interval `t_ns` lies; the number of layers: in none.
  static size_t LayerAt(const PassTimes& times, int64_t t_ns) {
    const std::vector<int64_t>& begins = times.layer_begin_ns;
    if (t_ns >= times.tail_begin_ns) return begins.size();
    const auto after = std::upper_bound(begins.begin(), begins.end(), t_ns);
    return after == begins.begin() ? begins.size()
                                   : static_cast<size_t>(after - begins.begin() - 1);
  }

  void PlaceByTime(const PassTimes& times, uint32_t row, const PlacedPass& placed) {
    const int64_t t_ns = rows_.start_ns[row];
    const size_t layer = LayerAt(times, t_ns);
    out_.pass[row] = times.id;
    out_.evidence[row] = EvidenceOf(placed);
    if (layer == times.layer_begin_ns.size()) {
      out_.part[row] = t_ns >= times.tail_begin_ns ? PassPart::kTail : PassPart::kHead;
      return;
    }
    out_.part[row] = PassPart::kLayer;
    out_.layer[row] = LayerId(times.first_layer + layer);
    const PlacedLayer& source = placed.layers[layer];
    size_t block = 0;
    while (block < source.block_begin.size() &&
           StartOf(placed, source.block_begin[block]) <= t_ns) {
      ++block;
    }
    if (block > 0)
      out_.block[row] = static_cast<uint8_t>(std::min<size_t>(block - 1, kNoBlock - 1));
  }

  void SortTimes() {
    std::stable_sort(times_.begin(), times_.end(), [](const PassTimes& a, const PassTimes& b) {
      return a.begin_ns < b.begin_ns;
    });
  }

  /// A graph that was recorded as a whole is of the pass of its step, and no part of a layer. The
  /// pass's time holds it.
  void PlaceWholeGraphs() {
    for (const uint32_t row : target_.rows) {
      if (rows_.kind[row] != ActivityKind::kGraph) continue;
      PassTimes* const times = PassOfStep(row);
      if (times == nullptr) continue;
      const int64_t start_ns = rows_.start_ns[row];
      out_.pass[row] = times->id;
      out_.part[row] = start_ns >= times->tail_begin_ns ? PassPart::kTail : PassPart::kHead;
      times->begin_ns = std::min(times->begin_ns, start_ns);
      times->end_ns = std::max(times->end_ns, AddClamped(start_ns, rows_.dur_ns[row]));
    }
  }

  /// Of the passes of a row's step the last that has begun by then, else the first.
  PassTimes* PassOfStep(uint32_t row) {
    const attribution::StepId step = attribution_.step[row];
    if (!step.valid()) return nullptr;
    if (times_of_step_.empty()) {
      for (size_t i = 0; i < times_.size(); ++i) {
        const attribution::StepId of = out_.passes[times_[i].id.index()].step;
        if (of.valid()) times_of_step_[of].push_back(i);
      }
    }
    const auto found = times_of_step_.find(step);
    if (found == times_of_step_.end()) return nullptr;
    PassTimes* best = &times_[found->second.front()];
    for (const size_t i : found->second) {
      if (times_[i].begin_ns <= rows_.start_ns[row]) best = &times_[i];
    }
    return best;
  }

  /// Copies and sets inside a pass, and foreign kernels inside its layers.
  void PlaceTheRest() {
    for (const uint32_t row : target_.rows) {
      // One of no step's pass is of none.
      if (out_.pass[row].valid() || rows_.kind[row] == ActivityKind::kGraph) continue;
      const PassTimes* const times = PassAt(row);
      if (times == nullptr) continue;
      if (rows_.kind[row] != ActivityKind::kKernel) {
        PlaceByTime(*times, row, passes_[times->id.index()]);
        continue;
      }
      const size_t layer = LayerAt(*times, rows_.start_ns[row]);
      if (layer == times->layer_begin_ns.size()) continue;
      out_.foreign[row] = 1;
      out_.layer[row] = LayerId(times->first_layer + layer);
    }
  }

  /// The pass that runs when a row starts: of several its own step's, else the one that began last.
  const PassTimes* PassAt(uint32_t row) const {
    const int64_t t_ns = rows_.start_ns[row];
    auto at =
        std::upper_bound(times_.begin(), times_.end(), t_ns,
                         [](int64_t t, const PassTimes& times) { return t < times.begin_ns; });
    const PassTimes* found = nullptr;
    constexpr int kLooks = 4;
    for (int i = 0; i < kLooks && at != times_.begin(); ++i) {
      --at;
      if (t_ns >= at->end_ns) continue;
      const attribution::StepId step = attribution_.step[row];
      if (step.valid() && out_.passes[at->id.index()].step == step) return &*at;
      if (found == nullptr) found = &*at;
    }
    return found;
  }

  const trace::Trace& trace_;
  const trace::Activities& rows_;
  const attribution::Attribution& attribution_;
  const TargetRows& target_;
  const std::vector<PlacedPass>& passes_;
  LayerStructure& out_;
  std::vector<PassTimes> times_;  // by begin
  std::map<attribution::StepId, std::vector<size_t>> times_of_step_;
};

}  // namespace

void FillColumns(const trace::Trace& trace, const attribution::Attribution& attribution,
                 const TargetRows& target, const std::vector<PlacedPass>& passes,
                 LayerStructure& out) {
  ColumnFiller(trace, attribution, target, passes, out).Fill();
}

}  // namespace layerscope::layers
