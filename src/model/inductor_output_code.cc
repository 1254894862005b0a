#include "src/model/inductor_output_code.h"

#include "src/base/parse_number.h"
#include "src/base/take_line.h"

namespace layerscope::model {
namespace {

constexpr std::string_view kSourceNodes = "Source Nodes: [";
constexpr std::string_view kOriginalAten = "], Original ATen: [";
constexpr std::string_view kHandle = "[Provenance debug handles] ";
constexpr std::string_view kAotId = "# AOT ID: ['";

/// "a, b, " -> {"a", "b"}: Inductor leaves an empty place for nodes without a source.
std::vector<std::string> SplitList(std::string_view list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at != std::string_view::npos;) {
    at = list.find(", ");
    if (at != 0 && !list.empty()) parts.emplace_back(list.substr(0, at));
    if (at != std::string_view::npos) list.remove_prefix(at + 2);
  }
  return parts;
}

/// The lists of a comment, until the call that they belong to is named.
struct Lists {
  std::vector<std::string> source_nodes;
  std::vector<std::string> ops;
};

Lists ParseLists(std::string_view line, size_t at) {
  Lists lists;
  line.remove_prefix(at + kSourceNodes.size());
  const size_t middle = line.find(kOriginalAten);
  if (middle == std::string_view::npos) return lists;
  lists.source_nodes = SplitList(line.substr(0, middle));
  line.remove_prefix(middle + kOriginalAten.size());
  for (const std::string& op : SplitList(line.substr(0, line.rfind(']')))) {
    lists.ops.push_back(op.substr(op.rfind('.') + 1));
  }
  return lists;
}

}  // namespace

void SplitHandle(std::string_view handle, std::string& kernel, int64_t& number) {
  const size_t colon = handle.rfind(':');
  kernel = handle;
  number = -1;
  if (colon == std::string_view::npos) return;
  const std::optional<int64_t> parsed = base::ParseWhole(handle.substr(colon + 1));
  if (!parsed) return;
  kernel = handle.substr(0, colon);
  number = *parsed;
}

OutputCode ParseOutputCode(std::string_view text) {
  OutputCode code;
  Lists lists;
  while (!text.empty()) {
    std::string_view line = base::TakeLine(text);
    if (line.starts_with(kAotId)) {
      line.remove_prefix(kAotId.size());
      code.graph = base::ParseWhole(line.substr(0, line.find_first_not_of("0123456789")));
      continue;
    }
    const size_t comment = line.find_first_not_of(' ');
    if (comment == std::string_view::npos || line[comment] != '#') {
      lists = {};
      continue;
    }
    if (const size_t at = line.find(kSourceNodes); at != std::string_view::npos) {
      lists = ParseLists(line, at);
    } else if (const size_t handle = line.find(kHandle); handle != std::string_view::npos) {
      OutputCodeCall call;
      SplitHandle(line.substr(handle + kHandle.size()), call.kernel, call.number);
      call.source_nodes = lists.source_nodes;
      call.ops = lists.ops;
      code.calls.push_back(std::move(call));
    }
  }
  return code;
}

}  // namespace layerscope::model
