#include "src/analysis/module_range.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/attribution/module_tree.h"
#include "src/base/parse_number.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kDots = "..";
constexpr std::string_view kStep = " step ";
constexpr std::string_view kComma = ", ";
constexpr std::string_view kIrregular = ", …, ";
constexpr std::string_view kTimes = "×";
constexpr std::string_view kAnything = "*";

/// The class and number of "Layer_7"; a bare number, of a path, has no class.
attribution::InstanceName SplitPart(std::string_view text) {
  if (const std::optional<int64_t> number = base::ParseWhole(text)) return {{}, *number};
  return attribution::SplitInstance(text);
}

/// The distance between all neighbours; 0 when they differ.
int64_t StrideOf(const std::vector<int64_t>& numbers) {
  const int64_t stride = numbers[1] - numbers[0];
  for (size_t i = 2; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != stride) return 0;
  }
  return stride;
}

/// "0..35", "0..140 step 4", "1, 5", "1, …, 9"; a lone number stays one.
std::string RangeText(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() == 1) return fmt::format("{}", numbers.front());
  const int64_t stride = StrideOf(numbers);
  const int64_t first = numbers.front();
  const int64_t last = numbers.back();
  if (stride == 1) return fmt::format("{}{}{}", first, kDots, last);
  if (numbers.size() == 2) return fmt::format("{}{}{}", first, kComma, last);
  if (stride == 0) return fmt::format("{}{}{}", first, kIrregular, last);
  return fmt::format("{}{}{}{}{}", first, kDots, last, kStep, stride);
}

/// Parts of a path; the two dots of a range are no separator.
std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '.') continue;
    if (path.substr(i, kDots.size()) == kDots) {
      ++i;
      continue;
    }
    parts.push_back(path.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(path.substr(start));
  return parts;
}

std::string_view WithoutCount(std::string_view text) {
  if (!text.starts_with(kTimes)) return text;
  const size_t space = text.find(' ');
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

}  // namespace

std::string RangeName(std::string_view class_name, std::vector<int64_t> numbers) {
  return fmt::format("{}_{}", class_name, RangeText(std::move(numbers)));
}

std::string RangePath(const std::vector<std::string_view>& paths) {
  std::vector<std::vector<std::string_view>> parts;
  for (const std::string_view path : paths) {
    parts.push_back(SplitPath(path));
    if (parts.back().size() != parts.front().size()) return {};
  }
  std::vector<std::string> merged;
  for (size_t at = 0; at < parts.front().size(); ++at) {
    const auto same = [&](const auto& path) { return path[at] == parts.front()[at]; };
    if (std::all_of(parts.begin(), parts.end(), same)) {
      merged.emplace_back(parts.front()[at]);
      continue;
    }
    std::vector<int64_t> numbers;
    for (const std::vector<std::string_view>& path : parts) {
      if (const auto number = base::ParseWhole(path[at])) numbers.push_back(*number);
    }
    const bool all = numbers.size() == parts.size();
    merged.push_back(all ? RangeText(std::move(numbers)) : std::string(kAnything));
  }
  return fmt::format("{}", fmt::join(merged, "."));
}

std::optional<ModuleRange::Part> ModuleRange::ParsePart(std::string_view text, bool& irregular) {
  Part part;
  const size_t step = text.find(kStep);
  if (step != std::string_view::npos) {
    const std::optional<int64_t> stride = base::ParseWhole(text.substr(step + kStep.size()));
    if (!stride || *stride == 0) return std::nullopt;
    part.stride = *stride;
    text = text.substr(0, step);
  }
  const bool listed = text.find(kComma) != std::string_view::npos;
  if (text.find(kIrregular) != std::string_view::npos) irregular = true;
  const std::string_view between = irregular && listed ? kIrregular : listed ? kComma : kDots;
  const size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const attribution::InstanceName first = SplitPart(text.substr(0, at));
  const std::optional<int64_t> last = base::ParseWhole(text.substr(at + between.size()));
  if (first.number < 0 || !last || *last <= first.number) return std::nullopt;
  part.text = first.class_name;
  part.is_range = true;
  part.first = first.number;
  part.last = *last;
  if (listed) part.stride = part.last - part.first;
  return part;
}

std::optional<ModuleRange> ModuleRange::Parse(std::string_view text) {
  ModuleRange range;
  bool any = false;
  for (const std::string_view piece : SplitPath(WithoutCount(text))) {
    std::optional<Part> part = ParsePart(piece, range.irregular_);
    any = any || part.has_value();
    range.parts_.push_back(part ? *std::move(part) : Part{.text = std::string(piece)});
  }
  if (!any) return std::nullopt;
  return range;
}

bool ModuleRange::MatchesPart(const Part& part, std::string_view name) {
  const attribution::InstanceName instance = SplitPart(name);
  if (!part.is_range) return name == part.text || instance.class_name == part.text;
  return instance.class_name == part.text && part.first <= instance.number &&
         instance.number <= part.last && (instance.number - part.first) % part.stride == 0;
}

bool ModuleRange::Matches(
    const std::function<std::optional<std::string_view>(size_t)>& ancestor) const {
  for (size_t level = 0; level < parts_.size(); ++level) {
    const std::optional<std::string_view> name = ancestor(level);
    if (!name || !MatchesPart(parts_[parts_.size() - 1 - level], *name)) return false;
  }
  return true;
}

bool ModuleRange::MatchesPath(std::string_view path) const {
  const std::vector<std::string_view> names = SplitPath(path);
  if (names.size() < parts_.size()) return false;
  return std::equal(parts_.begin(), parts_.end(),
                    names.end() - static_cast<std::ptrdiff_t>(parts_.size()), MatchesPart);
}

}  // namespace layerscope::analysis
