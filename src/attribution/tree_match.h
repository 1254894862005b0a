#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/attribution/module_tree.h"
#include "src/base/hash.h"
#include "src/base/string_map.h"
#include "src/model/model_tree.h"

namespace layerscope::attribution {

/// Which module of a model tree each `Class_k` of a trace is. One instance, called under several
/// modules, is one module of the tree.
struct TreeMatch {
  static constexpr int32_t kNone = -1;

  /// By ModuleId: index of model::ModelTree::modules, or kNone.
  std::vector<int32_t> tree_of_module;
  int64_t n_matched = 0;    ///< instances with a module of the tree
  int64_t n_instances = 0;  ///< `Class_k` instances of the trace whose class the tree has
  int64_t n_foreign = 0;    ///< instances inside modules of the tree whose class the tree lacks
  std::string foreign;      ///< the name of the first of them
  int64_t n_other = 0;      ///< instances that only another model calls, as a draft model beside it
  std::string other;        ///< the name of the first such model
  int64_t n_by_data = 0;    ///< instances of classes whose first calls depend on the data (experts)
  int64_t n_made_anew =
      0;  ///< instances of childless classes of which more are called than the tree has
  std::string made_anew;  ///< the first such class and how many are called: "21 of SiLU"
  int64_t n_misfits = 0;  ///< instances that contradict the tree
  std::string misfit;     ///< the first of them: what does not fit, one clause
};

/// By number where the tree has a call order, else by definition order among like siblings.
TreeMatch MatchModelTree(const model::ModelTree& tree, const trace::Trace& trace,
                         const ModuleTree& modules);

}  // namespace layerscope::attribution
