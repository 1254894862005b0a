#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "src/attribution/lane_order.h"
#include "src/base/hash.h"
#include "src/document/map/tree.h"

namespace layerscope::document {

/// Which op encloses each op of a trace on its thread, and which module scope.
struct OpNesting {
  static constexpr uint32_t kNone = ExecutionNode::kNone;
  std::vector<uint32_t> order;   ///< all ops, parents before children, threads one by one
  std::vector<uint32_t> parent;  ///< by OpId
  std::vector<uint32_t> scope;   ///< by OpId
};
OpNesting NestOps(const trace::Trace& trace);

/// Merges ops into nodes: the k-th op of a name in a call of a module (or in an op, or outside in a
/// forward) is one node over all calls. Instances are told apart by `Frame`.
class OpMerger {
 public:
  explicit OpMerger(std::vector<ExecutionNode>& nodes) : nodes_(nodes) {}

  /// One call of what is around an op: kind and number of the call, and its node.
  struct Frame {
    enum class Kind : uint8_t { kScope, kOp, kOutside };
    Kind kind = Kind::kScope;
    uint64_t call = 0;
    uint32_t node = ExecutionNode::kNone;
  };
  /// The node of the next op of that name in the frame. `op` invalid: of a kernel without an op.
  uint32_t Add(const Frame& frame, trace::StringId op, trace::StringId kernel);

 private:
  struct Key {
    uint64_t around = 0;
    uint64_t what = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    uint64_t operator()(const Key& key) const noexcept {
      return base::Mix(base::Mix(key.around) + key.what);
    }
  };

  std::vector<ExecutionNode>& nodes_;
  tsl::robin_map<Key, uint32_t, KeyHash> count_;  ///< by frame and name: ops so far
  tsl::robin_map<Key, uint32_t, KeyHash> node_;   ///< by node around, name and occurrence
};

}  // namespace layerscope::document
