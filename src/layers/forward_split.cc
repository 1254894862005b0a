#include "src/layers/forward_split.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "src/base/checked_sum.h"
#include "src/base/hash.h"
#include "src/layers/pass_group.h"

namespace layerscope::layers {
namespace {

using base::AddClamped;

/// The next forward begins behind token `after` and at the latest at token `at_latest`.
struct Region {
  uint32_t after = 0;
  uint32_t at_latest = 0;
};

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kNoGraph = 0;

/// Which tokens are taken as signs that another forward begins.
struct Separators {
  bool embedding = false;
  bool sampler = false;
};

/// Collects what stands between two mixers.
class BetweenMixers {
 public:
  void Reset(uint32_t mixer) { *this = BetweenMixers(mixer); }
  explicit BetweenMixers(uint32_t mixer) : work_(mixer) {}

  void Add(uint32_t at, const Token& token, Separators separators) {
    switch (token.traits.kind) {
      case KernelClass::kEmbedding:
        if (separators.embedding) AddEmbedding(at);
        return;
      case KernelClass::kSampler:
        if (separators.sampler) AddSampler(at);
        return;
      case KernelClass::kFfn:
      case KernelClass::kGemm:
      case KernelClass::kNorm:
        if (first_embedding_ == kNone && sampler_ == kNone) work_ = at;
        if (sampler_ != kNone && work_after_ == kNone) work_after_ = at;
        return;
      default:
        return;
    }
  }

  std::optional<Region> Find(uint32_t next_mixer) const {
    if (sampler_ != kNone) {
      const uint32_t latest = embedding_ != kNone ? embedding_ : std::min(work_after_, next_mixer);
      return Region{sampler_, latest};
    }
    if (first_embedding_ == kNone) return std::nullopt;
    // Of several, the first may be the gather of the last hidden states.
    return Region{embedding_ == first_embedding_ ? work_ : first_embedding_, embedding_};
  }

 private:
  void AddEmbedding(uint32_t at) {
    if (first_embedding_ == kNone) first_embedding_ = at;
    // After a sampler its first one counts, else the last.
    if (sampler_ == kNone || embedding_ == kNone) embedding_ = at;
  }

  void AddSampler(uint32_t at) {
    sampler_ = at;
    embedding_ = kNone;
    work_after_ = kNone;
  }

  uint32_t work_;  // the last that surely belongs to the earlier forward
  uint32_t sampler_ = kNone;
  uint32_t first_embedding_ = kNone;
  uint32_t embedding_ = kNone;
  uint32_t work_after_ = kNone;  // the first norm or GEMM behind the sampler
};

class ForwardFinder {
 public:
  ForwardFinder(const trace::Activities& activities, const attribution::Attribution& attribution,
                std::span<const Token> tokens, SequenceEnds ends)
      : activities_(activities), attribution_(attribution), tokens_(tokens), ends_(ends) {
    CountMixers();
    FindGraphs();
  }

  std::vector<uint32_t> Find() const {
    std::vector<uint32_t> begins = {0};
    if (n_mixers_before_.back() < 2) return begins;
    for (const Separators separators :
         {Separators{true, true}, Separators{false, true}, Separators{true, false}}) {
      const std::vector<Region> regions = RegionsOf(separators);
      if (!AreForwards(regions)) continue;
      for (const Region& region : regions) begins.push_back(PlaceIn(region));
      return begins;
    }
    const std::vector<Region> regions = BetweenGraphs();
    if (!AreForwards(regions)) return begins;
    for (const Region& region : regions) begins.push_back(PlaceIn(region));
    return begins;
  }

 private:
  void CountMixers() {
    MixerRuns runs;
    n_mixers_before_.reserve(tokens_.size() + 1);
    n_mixers_before_.push_back(0);
    for (const Token& token : tokens_) {
      n_mixers_before_.push_back(n_mixers_before_.back() + (runs.Begins(token) ? 1 : 0));
    }
  }

  /// By token: which graph launch it is of. Without the call, kernels of one graph still share a
  /// correlation, and no other kernels do.
  void FindGraphs() {
    const auto correlation_of = [&](const Token& token) {
      const bool lost = !attribution_.launch[token.row].valid();
      return lost ? activities_.correlation[token.row] : trace::kNoCorrelation;
    };
    tsl::robin_map<uint64_t, uint32_t, base::MixHash> n_sharing;
    for (const Token& token : tokens_) {
      const int64_t correlation = correlation_of(token);
      if (correlation != trace::kNoCorrelation) ++n_sharing[static_cast<uint64_t>(correlation)];
    }
    graph_.reserve(tokens_.size());
    for (const Token& token : tokens_) {
      const auto correlation = static_cast<uint64_t>(correlation_of(token));
      if (attribution_.under_graph[token.row] != 0) {
        graph_.push_back(attribution_.launch[token.row].index() * uint64_t{2} + 2);
      } else if (correlation != trace::kNoCorrelation && n_sharing[correlation] > 1) {
        graph_.push_back(correlation * 2 + 1);
      } else {
        graph_.push_back(kNoGraph);
      }
    }
  }

  std::vector<Region> RegionsOf(Separators separators) const {
    std::vector<Region> regions;
    BetweenMixers between(kNone);
    bool had_mixer = false;
    for (uint32_t i = 0; i < tokens_.size(); ++i) {
      if (!IsMixer(tokens_[i])) {
        if (had_mixer) between.Add(i, tokens_[i], separators);
        continue;
      }
      if (had_mixer) {
        if (const auto region = between.Find(i)) regions.push_back(*region);
      }
      had_mixer = true;
      between.Reset(i);
    }
    return regions;
  }

  std::vector<Region> BetweenGraphs() const {
    struct Extent {
      uint32_t first = 0;
      uint32_t last = 0;
      uint32_t n_mixers = 0;
    };
    tsl::robin_map<uint64_t, size_t, base::MixHash> index_of;
    std::vector<Extent> graphs;
    for (uint32_t i = 0; i < tokens_.size(); ++i) {
      if (graph_[i] == kNoGraph) continue;
      const auto [at, is_new] = index_of.try_emplace(graph_[i], graphs.size());
      if (is_new) graphs.push_back({i, i, 0});
      Extent& extent = graphs[at->second];
      extent.last = i;
      extent.n_mixers += MixersIn(i, i + 1);
    }
    std::vector<Region> regions;
    const Extent* previous = nullptr;
    for (const Extent& graph : graphs) {
      if (graph.n_mixers < 2) continue;
      if (previous != nullptr && previous->last < graph.first) {
        regions.push_back({previous->last, graph.first});
      }
      if (previous == nullptr || graph.last > previous->last) previous = &graph;
    }
    return regions;
  }

  uint32_t MixersIn(uint32_t begin, uint32_t end) const {
    return n_mixers_before_[end] - n_mixers_before_[begin];
  }

  bool AreForwards(const std::vector<Region>& regions) const {
    if (regions.empty()) return false;
    std::vector<uint32_t> n_mixers;
    uint32_t begin = 0;
    for (const Region& region : regions) {
      n_mixers.push_back(MixersIn(begin, region.at_latest));
      begin = region.at_latest;
    }
    n_mixers.push_back(MixersIn(begin, static_cast<uint32_t>(tokens_.size())));
    const uint32_t most = *std::max_element(n_mixers.begin(), n_mixers.end());
    if (most < 2) return false;
    bool had_whole = false;
    for (size_t i = 0; i < n_mixers.size(); ++i) {
      const bool free_end = (i == 0 && ends_.first_may_be_partial) ||
                            (i + 1 == n_mixers.size() && ends_.last_may_be_partial);
      const bool whole = n_mixers[i] == most;
      const bool draft = had_whole && uint64_t{n_mixers[i]} * 2 < most;
      if (!whole && !draft && !free_end) return false;
      had_whole = had_whole || whole;
    }
    return true;
  }

  int64_t IdleBefore(uint32_t token) const {
    const uint32_t row = tokens_[token].row;
    const uint32_t before = tokens_[token - 1].row;
    const int64_t end_ns = AddClamped(activities_.start_ns[before], activities_.dur_ns[before]);
    int64_t idle_ns = 0;
    if (__builtin_sub_overflow(activities_.start_ns[row], end_ns, &idle_ns)) {
      return std::numeric_limits<int64_t>::max();
    }
    return idle_ns;
  }

  uint32_t PlaceIn(const Region& region) const {
    uint32_t best = region.at_latest;
    bool best_is_change = false;
    int64_t best_idle_ns = std::numeric_limits<int64_t>::min();
    for (uint32_t i = region.after + 1; i <= region.at_latest; ++i) {
      const bool is_change = graph_[i] != graph_[i - 1];
      if (best_is_change && !is_change) continue;
      const int64_t idle_ns = IdleBefore(i);
      if ((is_change && !best_is_change) || idle_ns >= best_idle_ns) {
        best = i;
        best_idle_ns = idle_ns;
        best_is_change = is_change;
      }
    }
    return best;
  }

  const trace::Activities& activities_;
  const attribution::Attribution& attribution_;
  std::span<const Token> tokens_;
  SequenceEnds ends_;
  std::vector<uint32_t> n_mixers_before_;  // by token, and one past the last
  std::vector<uint64_t> graph_;            // by token; kNoGraph: launched one by one
};

}  // namespace

std::vector<uint32_t> FindForwards(const trace::Activities& activities,
                                   const attribution::Attribution& attribution,
                                   std::span<const Token> tokens, SequenceEnds ends) {
  return ForwardFinder(activities, attribution, tokens, ends).Find();
}

}  // namespace layerscope::layers
