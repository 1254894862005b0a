#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/module_tree.h"

namespace layerscope::attribution {

/// Renumbers the modules of a tree so that they stand in pre-order: roots by process, siblings as
/// `order` has them, which lists every module once. Parents may stand behind their children before.
/// Linear but for the roots. Returns the new number of each old one.
std::vector<ModuleId> PutInPreOrder(ModuleTree& tree, const std::vector<uint32_t>& order);

}  // namespace layerscope::attribution
