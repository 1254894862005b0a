#include "src/analysis/communication.h"

#include <string_view>

namespace layerscope::analysis {
namespace {

constexpr std::string_view kCommunication = "communication";

}  // namespace

bool IsCommunication(const RankView& view, uint32_t row) {
  const trace::StringId name = view.activities().name[row];
  const kernel_names::CategoryId category = view.attribution().category_of_name[name.index()];
  return view.rules().category(category).name == kCommunication;
}

}  // namespace layerscope::analysis
