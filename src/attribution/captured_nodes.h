#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/attribution/module_tree.h"
#include "src/base/hash.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Where one node of a graph was captured.
struct CapturedNode {
  enum class Origin : uint8_t {
    kUnknown,      ///< the file does not say: no row of it, or of a node that it is a clone of
    kConflicting,  ///< it has two originals, is a clone of itself, or was captured in two modules
    kCaptured,
  };
  Origin origin = Origin::kUnknown;
  trace::ScopeId scope;  ///< innermost at the capture, on its thread; invalid: outside every scope
  trace::OpId op;        ///< innermost at the capture; invalid: none, or two captures disagree
};

/// The graph nodes of an Nsight Systems trace, each followed from clone to original down to the
/// node that was captured (formats/nsys_schema.md, "Graph nodes"). Ids are of one process only, so
/// every key holds the process. Repeated rows of one node say the same thing once.
class CapturedNodes {
 public:
  /// What was open on a thread at a time.
  struct Open {
    trace::ScopeId scope;
    trace::OpId op;
  };
  using OpenAt = std::function<Open(trace::ThreadId, int64_t)>;

  CapturedNodes() = default;
  /// `open_at` is asked once for each row of a captured node, process after process.
  CapturedNodes(const trace::Trace& trace, const ModuleTree& modules, const OpenAt& open_at);

  /// A node that no row names is kUnknown.
  CapturedNode Find(trace::ProcessId process, int64_t node) const;
  bool empty() const { return nodes_.empty(); }

 private:
  struct Key {
    int64_t node = 0;
    trace::ProcessId process;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const noexcept {
      return base::Mix(static_cast<uint64_t>(key.node) ^ base::Mix(key.process.index()));
    }
  };
  class Builder;

  tsl::robin_map<Key, uint32_t, KeyHash> index_of_;
  std::vector<CapturedNode> nodes_;
};

}  // namespace layerscope::attribution
