#include "src/analysis/row_table.h"

namespace layerscope::analysis {

using table::ColumnSpec;

ColumnSpec Key(std::string name, std::string title) {
  ColumnSpec spec;
  spec.name = std::move(name);
  spec.title = std::move(title);
  spec.role = table::Role::kName;
  return spec;
}

ColumnSpec Nanoseconds(std::string name, std::string title, int priority) {
  ColumnSpec spec;
  spec.name = std::move(name);
  spec.title = std::move(title);
  spec.unit = table::Unit::kNanoseconds;
  spec.priority = priority;
  return spec;
}

ColumnSpec Count(std::string name, std::string title, int priority) {
  ColumnSpec spec = Nanoseconds(std::move(name), std::move(title), priority);
  spec.unit = table::Unit::kCount;
  return spec;
}

ColumnSpec Share(std::string name, std::string title, int64_t whole) {
  ColumnSpec spec = Nanoseconds(std::move(name), std::move(title));
  spec.role = table::Role::kShare;
  spec.share_of = whole;
  return spec;
}

ColumnSpec ForMachines(ColumnSpec spec) {
  spec.audience = table::Audience::kMachines;
  return spec;
}

}  // namespace layerscope::analysis
