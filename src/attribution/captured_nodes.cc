#include "src/attribution/captured_nodes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace layerscope::attribution {
namespace {

using Origin = CapturedNode::Origin;

/// What stands for the original of a node, beside indices of nodes.
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kNotInFile = kNone - 1;
constexpr CapturedNode kConflict{Origin::kConflicting, {}, {}};

/// Two accounts of where one node was captured, made one.
CapturedNode Agree(const CapturedNode& a, const CapturedNode& b, const ModuleTree& modules) {
  if (a.origin == Origin::kConflicting || b.origin == Origin::kConflicting) {
    return kConflict;
  }
  if (a.origin == Origin::kUnknown) return b;
  if (b.origin == Origin::kUnknown) return a;
  const auto module_of = [&](trace::ScopeId scope) {
    return scope.valid() ? modules.module_of_scope[scope.index()] : ModuleId();
  };
  if (module_of(a.scope) != module_of(b.scope)) return kConflict;
  return {Origin::kCaptured, a.scope, a.op == b.op ? a.op : trace::OpId()};
}

}  // namespace

class CapturedNodes::Builder {
 public:
  Builder(const trace::Trace& trace, const ModuleTree& modules, const OpenAt& open_at,
          CapturedNodes& out)
      : rows_(trace.graph_nodes), modules_(modules), open_at_(open_at), out_(out) {}

  void Build() {
    SortRows();
    NumberNodes();
    for (size_t at = 0; at < order_.size();) at = ReadNode(at);
    state_.assign(original_.size(), State::kNew);
    for (uint32_t node = 0; node < original_.size(); ++node) Follow(node);
  }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };

  Key KeyOf(uint32_t row) const { return {rows_.node[row], rows_.process[row]}; }

  void SortRows() {
    order_.resize(rows_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    const auto key = [&](uint32_t row) {
      return std::tuple(rows_.process[row], rows_.node[row], row);
    };
    std::sort(order_.begin(), order_.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  }

  void NumberNodes() {
    uint32_t n_nodes = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i > 0 && KeyOf(order_[i]) == KeyOf(order_[i - 1])) continue;
      out_.index_of_.try_emplace(KeyOf(order_[i]), n_nodes++);
    }
    original_.assign(n_nodes, kNone);
    out_.nodes_.resize(n_nodes);
    next_ = 0;
  }

  /// All rows of one node; the place behind them.
  size_t ReadNode(size_t begin) {
    const uint32_t node = next_++;
    const Key key = KeyOf(order_[begin]);
    int64_t original = trace::kNoGraphNode;
    CapturedNode& result = out_.nodes_[node];
    size_t at = begin;
    for (; at < order_.size() && KeyOf(order_[at]) == key; ++at) {
      const uint32_t row = order_[at];
      if (rows_.original[row] == trace::kNoGraphNode) {
        if (!rows_.thread[row].valid()) continue;
        const Open open = open_at_(rows_.thread[row], rows_.start_ns[row]);
        result = Agree(result, {Origin::kCaptured, open.scope, open.op}, modules_);
      } else if (original == trace::kNoGraphNode) {
        original = rows_.original[row];
      } else if (original != rows_.original[row]) {
        result = kConflict;
      }
    }
    if (original != trace::kNoGraphNode) {
      const auto found = out_.index_of_.find(Key{original, key.process});
      original_[node] = found == out_.index_of_.end() ? kNotInFile : found->second;
    }
    return at;
  }

  /// Gives a node, and those on its way to the captured one, what that one has. A chain that comes
  /// back to itself has no captured node.
  void Follow(uint32_t node) {
    path_.clear();
    uint32_t at = node;
    while (at < kNotInFile && state_[at] == State::kNew) {
      state_[at] = State::kOpen;
      path_.push_back(at);
      at = original_[at];
    }
    CapturedNode below;
    if (at < kNotInFile) below = state_[at] == State::kDone ? out_.nodes_[at] : kConflict;
    for (size_t i = path_.size(); i-- > 0;) {
      CapturedNode& result = out_.nodes_[path_[i]];
      result = below = Agree(result, below, modules_);
      state_[path_[i]] = State::kDone;
    }
  }

  const trace::GraphNodes& rows_;
  const ModuleTree& modules_;
  const OpenAt& open_at_;
  CapturedNodes& out_;
  std::vector<uint32_t> order_;     // rows by (process, node, file order)
  std::vector<uint32_t> original_;  // by node: the node that it is a clone of
  std::vector<State> state_;        // by node
  std::vector<uint32_t> path_;
  uint32_t next_ = 0;
};

CapturedNodes::CapturedNodes(const trace::Trace& trace, const ModuleTree& modules,
                             const OpenAt& open_at) {
  Builder(trace, modules, open_at, *this).Build();
}

CapturedNode CapturedNodes::Find(trace::ProcessId process, int64_t node) const {
  const auto found = index_of_.find(Key{node, process});
  return found == index_of_.end() ? CapturedNode() : nodes_[found->second];
}

}  // namespace layerscope::attribution
