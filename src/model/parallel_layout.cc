#include "src/model/parallel_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "src/base/parse_number.h"

namespace layerscope::model {
namespace {

/// More than any deployment has; a larger number is a slip of the pen.
constexpr int64_t kMaxDegree = 65536;

struct Flag {
  std::string_view name;
  ParallelDegree ParallelLayout::*degree;
};

// vLLM's, SGLang's and TensorRT-LLM's spellings, with '_' read as '-'.
constexpr std::array<Flag, 17> kFlags = {{
    {"--tensor-parallel-size", &ParallelLayout::tp},
    {"--tp-size", &ParallelLayout::tp},
    {"--tp", &ParallelLayout::tp},
    {"-tp", &ParallelLayout::tp},
    {"--pipeline-parallel-size", &ParallelLayout::pp},
    {"--pp-size", &ParallelLayout::pp},
    {"--pp", &ParallelLayout::pp},
    {"-pp", &ParallelLayout::pp},
    {"--data-parallel-size", &ParallelLayout::dp},
    {"--dp-size", &ParallelLayout::dp},
    {"--dp", &ParallelLayout::dp},
    {"-dp", &ParallelLayout::dp},
    {"--expert-parallel-size", &ParallelLayout::ep},
    {"--moe-expert-parallel-size", &ParallelLayout::ep},
    {"--ep-size", &ParallelLayout::ep},
    {"--ep", &ParallelLayout::ep},
    {"-ep", &ParallelLayout::ep},
}};

/// White space, quotes, and what stands between the words of a list.
bool IsBetweenWords(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\' || c == '"' || c == '\'' ||
         c == ',' || c == '[' || c == ']';
}

/// Words of a shell command, or of a list of quoted words.
std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < text.size()) {
    if (IsBetweenWords(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !IsBetweenWords(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<int64_t> ParseDegree(std::string_view text) {
  const std::optional<int64_t> value = base::ParseWhole(text);
  return value && *value >= 1 && *value <= kMaxDegree ? value : std::nullopt;
}

}  // namespace

base::Result<ParallelLayout> ParseServerArguments(std::string_view text) {
  ParallelLayout layout;
  const std::vector<std::string_view> words = Words(text);
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    std::string name(words[i].substr(0, equals));
    std::replace(name.begin(), name.end(), '_', '-');
    const auto flag = std::find_if(kFlags.begin(), kFlags.end(),
                                   [&name](const Flag& known) { return known.name == name; });
    if (flag == kFlags.end()) continue;
    std::string_view value;
    if (equals != std::string_view::npos) {
      value = words[i].substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    }
    const std::optional<int64_t> size = ParseDegree(value);
    if (!size) {
      return base::Error{base::ErrorCode::kUsage,
                         fmt::format("the server's arguments give {} '{}', which is no size from "
                                     "1 to {}",
                                     flag->name, value.substr(0, 40), kMaxDegree),
                         "give the command line as it was, for example "
                         "--server-args '--tensor-parallel-size 8'"};
    }
    layout.*(flag->degree) = {size, fmt::format("--server-args: {}", flag->name)};
  }
  return layout;
}

void FillFromWorldSize(std::optional<int64_t> world_size, ParallelLayout& layout) {
  if (world_size != 1) return;
  for (ParallelDegree ParallelLayout::*degree :
       {&ParallelLayout::tp, &ParallelLayout::pp, &ParallelLayout::dp, &ParallelLayout::ep}) {
    ParallelDegree& known = layout.*degree;
    if (!known.size) known = {1, "world_size 1"};
  }
}

}  // namespace layerscope::model
