#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/attribution/innermost_index.h"
#include "src/base/id.h"
#include "src/trace/ids.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

using ModuleId = base::Id<struct ModuleTag>;

/// Modules are followed upwards, and paths shown, for so many levels. No real model nests deeper; a
/// hostile file may nest a million deep, and must not cost its square.
inline constexpr size_t kMaxModuleLevels = 64;

/// One module of one process: all calls of a `Class_k` under the same parent, on every thread.
struct Module {
  ModuleId parent;  ///< invalid: a root
  int depth = 1;    ///< root = 1
  trace::ProcessId process;
  /// "Qwen3DecoderLayer_7" as recorded; of a path its part below the parent's.
  trace::StringId name;
  /// The full path as recorded, of a `Class_k` by a range inside its scopes, or as the model tree
  /// has it; invalid: unknown.
  trace::StringId path;
  trace::StringId class_name;  ///< where it is not the class of `name`: of paths, by a model tree
  int64_t calls = 0;           ///< but for those that only recorded a graph
  int64_t cpu_ns = 0;          ///< sum of its scopes' lengths
  /// CPU-only traces: innermost-op time directly in it. Else cpu_ns without its scopes' direct
  /// child scopes.
  int64_t cpu_self_ns = 0;
  int64_t captured_calls = 0;  ///< that recorded a graph and ran nothing (captured_calls.h)
};

/// In pre-order: a parent stands before its children, a subtree is contiguous, subtree sums are one
/// reverse pass. Order of siblings = order of first call; roots by process first. 12 bytes a scope.
/// The trace's scopes come first; ids behind them are calls that a graph replayed (ModuleGraft):
/// they have a module and a parent, and no time of their own.
struct ModuleTree {
  std::vector<Module> modules;
  std::vector<ModuleId> module_of_scope;        ///< by trace::ScopeId
  std::vector<trace::ScopeId> parent_of_scope;  ///< the innermost scope around it on its thread
  std::vector<int> depth_of_scope;              ///< root = 1
  /// 1: the call recorded a graph and ran nothing. By the trace's own scopes, empty where none did:
  /// read it through IsCapture.
  std::vector<uint8_t> is_capture;
  bool IsCapture(trace::ScopeId scope) const {
    return scope.index() < is_capture.size() && is_capture[scope.index()] != 0;
  }

  /// Names from the root down, joined by ".": the class path that stands for the module path until
  /// a module tree gives it. Deeper than kMaxModuleLevels the middle is shortened to
  /// the number of levels left out.
  std::string Path(ModuleId id, const trace::Trace& trace) const;
  /// True of a `Class_k` as recorded, be its path known or not; false of a path or its part.
  bool IsNamedByClass(ModuleId id, const trace::Trace& trace) const;
  /// "Qwen3DecoderLayer"; of a path or a part of one without a known class its last part, without a
  /// number.
  std::string_view ClassOf(ModuleId id, const trace::Trace& trace) const;
};

/// The class of an instance name: "RMSNorm_12" -> "RMSNorm"; the number is -1 when there is none.
struct InstanceName {
  std::string_view class_name;
  int64_t number = -1;
};
InstanceName SplitInstance(std::string_view name);

/// Modules known by path are called by it until NamePathModules gives them the part below their
/// parent's. Nests the scopes of each thread by time (x contains t when start <= t < end; innermost
/// = latest start, then smallest end, then last in file) and merges calls into modules. Where
/// scopes cross, a scope's parent is the innermost one that contains its start. `innermost`, when
/// given, receives the index of scopes by thread.
ModuleTree BuildModuleTree(const trace::Trace& trace, InnermostIndex* innermost = nullptr);

}  // namespace layerscope::attribution
