#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "src/document/map/rank.h"

namespace layerscope::document {

/// The forwards of a rank: the calls of the model's root module, recorded or replayed, in time
/// order. The root is the root module with the most time; of several roots of its class (layers
/// that are called without a model around them) the one that is called first.
class Forwards {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  struct Forward {
    int64_t start_ns = 0;
    int64_t end_ns = 0;    ///< of the root's call; of a replayed one its start
    int64_t opens_ns = 0;  ///< what the host does from here on belongs to it
    trace::ScopeId call;
    attribution::StepId step;  ///< of its first row; may be invalid
  };
  /// Where the host's time lies: in forward `index`, before or after the start of its root.
  struct Place {
    uint32_t index = kNone;  ///< kNone: there are no forwards
    bool before = true;
  };

  explicit Forwards(const ExecutionRank& rank);

  const std::vector<Forward>& list() const { return forwards_; }
  size_t size() const { return forwards_.size(); }
  attribution::ModuleId root() const { return root_; }
  /// Between two forwards what comes after a step has begun is the next one's; without a step
  /// between them it is the previous one's.
  Place At(int64_t t_ns) const;
  /// By the root's call around the row's scope, else by its launch; kNone where neither is known.
  uint32_t OfRow(const ExecutionRank& rank, uint32_t row) const;

 private:
  void FindRoot(const ExecutionRank& rank);
  void FindTopScopes(const ExecutionRank& rank);
  void CollectCalls(const ExecutionRank& rank);
  void OpenAtSteps(const ExecutionRank& rank);

  attribution::ModuleId root_;
  std::vector<Forward> forwards_;
  std::vector<uint32_t> top_of_scope_;      ///< by ScopeId: the outermost call around it
  std::vector<uint32_t> forward_of_scope_;  ///< by ScopeId; kNone unless a call of the root
};

}  // namespace layerscope::document
