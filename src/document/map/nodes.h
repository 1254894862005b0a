#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/document/map/execution_map.h"
#include "src/document/map/folds.h"
#include "src/document/map/tree.h"
#include "src/table/value.h"

namespace layerscope::document {

/// One rank, resolved: everything that the document's parts are written from.
struct Execution {
  explicit Execution(ExecutionRank of, bool collapse);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  ExecutionRank rank;
  ModuleNames names;
  Forwards forwards;
  ExecutionTree tree;
  ModuleFolds folds;
  ExecutionMap map;
};

/// GPU and CPU time of modules by path, of another rank.
struct PathTimes {
  std::map<std::string, std::pair<int64_t, int64_t>, std::less<>> of_path;  ///< GPU ns, CPU ns
};

/// Writes modules and ops of a rank as values.
class NodeWriter {
 public:
  /// `ranks`: one entry a rank of the document, the execution's own included; empty for one rank.
  NodeWriter(const Execution& execution, const std::vector<PathTimes>& ranks)
      : execution_(execution), map_(execution.map), ranks_(ranks) {}

  /// A module with everything below it. `parent_path` is empty for a root.
  table::Object Module(uint32_t id, const std::string& parent_path) const;
  /// The module around several roots.
  table::Object Around(const std::vector<uint32_t>& roots) const;
  table::Array Ops(const std::vector<uint32_t>& ops) const;
  /// An op in a list of one layer's: without values by layer and without the ops below it.
  table::Object ListedOp(uint32_t id, const std::string& module) const;
  /// "Qwen3DecoderLayer_0..35", "layers.*".
  std::string NameOf(uint32_t id) const;
  std::string PathOf(uint32_t id, const std::string& parent_path) const;

 private:
  const ExecutionNode& First(const MapNode& node) const {
    return execution_.tree.nodes[node.members.front().node];
  }
  table::Object Op(uint32_t id) const;
  void AddFigures(const MapNode& node, table::Object& object) const;
  void AddKernels(const MapNode& node, table::Object& object) const;
  /// Where and how the longest run of a kernel was launched; what the trace does not say is absent.
  table::Object LongestRun(const KernelUse& kernel) const;
  void AddPasses(const MapNode& node, table::Object& object) const;
  void AddLayers(const MapNode& node, bool is_module, table::Object& object) const;
  void AddRanks(const MapNode& node, table::Object& object) const;
  void AddArguments(const MapNode& node, table::Object& object) const;
  std::string RoleOf(trace::StringId kernel) const;
  int64_t FirstCpu(const MapNode& node) const;
  int64_t FirstGpu(const MapNode& node) const;

  const Execution& execution_;
  const ExecutionMap& map_;
  const std::vector<PathTimes>& ranks_;
};

}  // namespace layerscope::document
