#include "src/attribution/path_parts.h"

#include <algorithm>

#include "src/base/parse_number.h"

namespace layerscope::attribution {

int64_t PartNumber(std::string_view part) {
  const bool is_digit = !part.empty() && part.front() >= '0' && part.front() <= '9';
  return is_digit ? base::ParseWhole(part).value_or(-1) : -1;
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

NumberedPath SplitNumber(std::string_view path) {
  const std::string_view last = LastPart(path);
  const int64_t number = PartNumber(last);
  if (number < 0) return {path, -1};
  const size_t above = path.size() - last.size();
  return {path.substr(0, above == 0 ? 0 : above - 1), number};
}

std::string_view WithoutNumbers(std::string_view path) {
  for (NumberedPath split = SplitNumber(path); split.number >= 0 && !split.list.empty();
       split = SplitNumber(path)) {
    path = split.list;
  }
  return path;
}

NumberedPart FirstNumber(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const int64_t number = PartNumber(path.substr(begin, end - begin));
    if (number >= 0) return {begin, end, number};
    begin = end + 1;
  }
  return {};
}

}  // namespace layerscope::attribution
