#include "src/replay/annotation_fit.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "src/attribution/path_parts.h"
#include "src/base/hash.h"
#include "src/layers/kernel_class.h"
#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {
namespace {

using layers::KernelClass;

/// Doubts beyond this share of the nodes say that the annotations are of something else: rights are
/// a few per cent (layer 0's plain norm, the last layer's communication).
constexpr double kTooManyDoubts = 0.25;
/// Of transitions between layers, and of modules whose kind is known by name.
constexpr double kTooManyContradictions = 0.02;

/// What a module does, where its name says so.
enum class NamedKind : uint8_t { kUnknown, kNorm, kProjection };
NamedKind KindOfModule(std::string_view path) {
  const std::string_view part = attribution::LastPart(path);
  const auto has = [&](std::string_view word) { return part.find(word) != std::string_view::npos; };
  if (has("norm") && !has("proj")) return NamedKind::kNorm;
  if (has("_proj") || has("lm_head")) return NamedKind::kProjection;
  return NamedKind::kUnknown;
}

/// Fused kernels make most combinations possible; these are not.
bool Contradicts(NamedKind module, const layers::KernelTraits& kernel) {
  const KernelClass kind = kernel.kind;
  if (module == NamedKind::kNorm) {
    return kind == KernelClass::kGemm || kind == KernelClass::kMixer || kind == KernelClass::kFfn;
  }
  if (module == NamedKind::kProjection) {
    if (kind == KernelClass::kNorm) return !kernel.fused_communication;
    return kind == KernelClass::kMixer || kind == KernelClass::kEmbedding ||
           kind == KernelClass::kSampler;
  }
  return false;
}

/// One annotated node of the graph; launches repeat it.
struct Node {
  trace::StringId kernel;
  uint32_t pattern = 0;
  int64_t layer = -1;
};

class FitTest {
 public:
  FitTest(const trace::Trace& trace, const model::GraphAnnotations& annotations,
          std::span<const GraphLaunch* const> launches)
      : trace_(trace), annotations_(annotations), launches_(launches) {}

  AnnotationFit Run() {
    for (const GraphLaunch* launch : launches_) CountLaunch(*launch);
    CountOrder();
    fit_.reason = Doubt();
    fit_.fits = fit_.reason.empty();
    return fit_;
  }

 private:
  /// One run of an annotated kernel.
  struct Visit {
    uint32_t node = 0;
    uint32_t launch = 0;
    trace::StreamId stream;
  };
  struct LastLayer {
    int64_t first = 0, last = -1;
  };

  void CountLaunch(const GraphLaunch& launch) {
    ++launch_;
    for (const uint32_t row : launch.rows) {
      const bool kernel = trace_.activities.kind[row] == trace::ActivityKind::kKernel;
      const int64_t id = trace_.activities.GraphNodeOf(row);
      if (id == trace::kNoGraphNode) {
        fit_.without_id += kernel ? 1 : 0;
        continue;
      }
      const model::GraphAnnotations::Node* const named = annotations_.Find(id);
      if (kernel) {
        ++fit_.kernels;
        fit_.found += named != nullptr ? 1 : 0;
        if (named == nullptr) missing_.insert(static_cast<uint64_t>(id));
      }
      if (named == nullptr || !kernel) continue;
      const uint32_t node = NodeOf(id, named->path, trace_.activities.name[row]);
      if (!launch.burst) order_.push_back({node, launch_, trace_.activities.stream[row]});
    }
  }

  uint32_t NodeOf(int64_t id, std::string_view path, trace::StringId kernel) {
    const auto next = static_cast<uint32_t>(nodes_.size());
    const auto [found, added] = node_of_.try_emplace(static_cast<uint64_t>(id), next);
    if (!added) {
      if (nodes_[found->second].kernel != kernel) ++changed_kernels_;
      return found->second;
    }
    LayeredPath layered = SplitLayer(path);
    const auto [pattern, is_new] =
        pattern_of_.try_emplace(layered.pattern, static_cast<uint32_t>(patterns_.size()));
    if (is_new) {
      patterns_.push_back({std::move(layered.pattern), KindOfModule(path)});
    }
    nodes_.push_back({kernel, pattern->second, layered.layer});
    CountKind(patterns_[pattern->second].kind, kernel);
    return next;
  }

  void CountKind(NamedKind module, trace::StringId kernel) {
    if (module == NamedKind::kUnknown) return;
    const auto [traits, added] = traits_of_.try_emplace(kernel.index());
    if (added) traits_of_[kernel.index()] = layers::ClassifyKernel(trace_.strings[kernel]);
    ++n_named_kinds_;
    if (Contradicts(module, traits_of_[kernel.index()])) ++n_contradicted_;
  }

  /// Along one stream of one launch layers follow each other; where several forwards are in a graph
  /// the number starts again at the first one. A module of which the graph holds one layer alone
  /// may serve them all (rotary embeddings) and says nothing.
  void CountOrder() {
    const std::vector<int64_t> n_layers = CountLayers();
    tsl::robin_map<uint64_t, LastLayer, base::MixHash> last;
    for (size_t i = 0; i < order_.size(); ++i) {
      const Visit& visit = order_[i];
      const Node& node = nodes_[visit.node];
      if (i > 0 && visit.launch != order_[i - 1].launch) last.clear();
      if (node.layer < 0 || n_layers[node.pattern] < 2) continue;
      const std::string_view pattern = patterns_[node.pattern].text;
      const size_t stack = std::hash<std::string_view>()(pattern.substr(0, pattern.find('*')));
      const auto [known, is_new] = last.try_emplace(base::Mix(stack) ^ visit.stream.index(),
                                                    LastLayer{node.layer, node.layer});
      LastLayer& order = known.value();
      if (is_new || node.layer == order.last) continue;
      ++n_transitions_;
      if (node.layer < order.last && node.layer != order.first) ++n_backwards_;
      order.last = node.layer;
    }
  }

  /// Layers of each pattern among the nodes of this graph.
  std::vector<int64_t> CountLayers() const {
    std::vector<std::pair<uint32_t, int64_t>> places;
    for (const Node& node : nodes_) {
      if (node.layer >= 0) places.emplace_back(node.pattern, node.layer);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::vector<int64_t> n_layers(patterns_.size());
    for (const auto& place : places) ++n_layers[place.first];
    return n_layers;
  }

  std::string Doubt() const {
    if (fit_.kernels == 0) return "its kernels carry no graph node ids";
    if (Below(fit_.found, fit_.kernels) && !MissingAreUnnamed()) {
      return fmt::format("the annotations name {} of the {} kernels with a graph node id",
                         fit_.found, fit_.kernels);
    }
    if (changed_kernels_ > 0) return "one node id stands for different kernels";
    if (Above(n_backwards_, n_transitions_, kTooManyContradictions)) {
      return fmt::format("the annotated layers go back and forth ({} of {} times)", n_backwards_,
                         n_transitions_);
    }
    if (Above(n_contradicted_, n_named_kinds_, kTooManyContradictions)) {
      return fmt::format("annotated norms and projections run other kernels ({} of {})",
                         n_contradicted_, n_named_kinds_);
    }
    const auto [n_odd, n_compared] = CountOdd();
    if (Above(n_odd, n_compared, kTooManyDoubts)) {
      return fmt::format("the annotated modules run other kernels in each layer ({} of {})", n_odd,
                         n_compared);
    }
    return {};
  }
  /// The file has entries without a name, and their ids are not kept: as many nodes may be missing,
  /// as long as most are there.
  bool MissingAreUnnamed() const {
    return static_cast<int64_t>(missing_.size()) <= annotations_.n_unnamed &&
           2 * fit_.found >= fit_.kernels;
  }
  static bool Below(int64_t part, int64_t all) {
    return static_cast<double>(part) < kEnoughAligned * static_cast<double>(all);
  }
  static bool Above(int64_t part, int64_t all, double limit) {
    return static_cast<double>(part) > limit * static_cast<double>(all);
  }

  /// Nodes whose kernel hardly any other layer runs in the module of that pattern, and all nodes of
  /// patterns that stand in three layers or more.
  std::pair<int64_t, int64_t> CountOdd() const {
    struct Use {
      uint32_t pattern;
      uint32_t kernel;
      int64_t layer;
    };
    std::vector<Use> uses;
    for (const Node& node : nodes_) {
      if (node.layer < 0) continue;
      uses.push_back({node.pattern, static_cast<uint32_t>(node.kernel.index()), node.layer});
    }
    const std::vector<int64_t> n_layers = CountLayers();
    const auto key = [](const Use& use) { return std::tuple(use.pattern, use.kernel, use.layer); };
    std::sort(uses.begin(), uses.end(),
              [&](const Use& a, const Use& b) { return key(a) < key(b); });
    int64_t n_odd = 0, n_compared = 0;
    for (size_t from = 0, to = 0; from < uses.size(); from = to) {
      int64_t n_with = 0;
      for (; to < uses.size() && uses[to].pattern == uses[from].pattern &&
             uses[to].kernel == uses[from].kernel;
           ++to) {
        n_with += to == from || uses[to].layer != uses[to - 1].layer ? 1 : 0;
      }
      const int64_t layers = n_layers[uses[from].pattern];
      if (layers < 3) continue;
      n_compared += static_cast<int64_t>(to - from);
      if (n_with * 5 <= layers || n_with == 1) n_odd += static_cast<int64_t>(to - from);
    }
    return {n_odd, n_compared};
  }

  struct Pattern {
    std::string text;
    NamedKind kind;
  };

  const trace::Trace& trace_;
  const model::GraphAnnotations& annotations_;
  std::span<const GraphLaunch* const> launches_;
  AnnotationFit fit_;
  std::vector<Node> nodes_;
  tsl::robin_map<uint64_t, uint32_t, base::MixHash> node_of_;
  std::vector<Pattern> patterns_;
  tsl::robin_map<std::string, uint32_t> pattern_of_;
  tsl::robin_set<uint64_t, base::MixHash> missing_;
  tsl::robin_map<uint64_t, layers::KernelTraits, base::MixHash> traits_of_;
  std::vector<Visit> order_;  ///< by launch, then time
  uint32_t launch_ = 0;
  int64_t changed_kernels_ = 0;
  int64_t n_transitions_ = 0, n_backwards_ = 0;
  int64_t n_named_kinds_ = 0, n_contradicted_ = 0;
};

}  // namespace

LayeredPath SplitLayer(std::string_view path) {
  const attribution::NumberedPart layer = attribution::FirstNumber(path);
  if (layer.number < 0) return {std::string(path), -1};
  return {std::string(path.substr(0, layer.begin)) + "*" + std::string(path.substr(layer.end)),
          layer.number};
}

AnnotationFit FitAnnotations(const trace::Trace& trace, const model::GraphAnnotations& annotations,
                             std::span<const GraphLaunch* const> launches) {
  return FitTest(trace, annotations, launches).Run();
}

}  // namespace layerscope::replay
