#pragma once

#include <string>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/model/model_tree.h"
#include "src/table/result.h"

namespace layerscope::attribution {

struct TreeNaming {
  std::vector<table::HealthEntry> health;
  std::string misfit;  ///< why nothing was taken from the tree; empty: it is of this model
};

/// Gives every module `Class_k` of the trace, replayed ones included, its path and class from the
/// model tree: the k-th module of that class in order of first call. Where the tree has no call
/// order, siblings of one class are matched in definition order, and only where their numbers
/// agree. The tree must fit: a trace with more instances of a class than the tree has, or nested
/// otherwise, or with more than a few modules inside the model that the tree does not have, is not
/// of that model or that engine; nothing is then changed and a warning says what does not fit. What
/// only another model calls that runs beside it (a draft model) keeps its class, and is counted.
TreeNaming ApplyModelTree(const model::ModelTree& tree, trace::Trace& trace,
                          Attribution& attribution);

}  // namespace layerscope::attribution
