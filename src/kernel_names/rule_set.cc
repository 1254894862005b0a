#include "src/kernel_names/rule_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "src/base/string_map.h"
#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/pattern.h"

namespace layerscope::kernel_names {

namespace {

constexpr std::string_view kOther = "other";
constexpr size_t kMaxCategories = 65000;  // CategoryId holds 16 bits

bool AnyMatches(const std::vector<Pattern>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const Pattern& pattern) { return pattern.Matches(name); });
}

base::Status CompileAll(const std::vector<std::string>& texts, bool ignore_case,
                        std::vector<Pattern>& patterns) {
  for (const std::string& text : texts) {
    base::Result<Pattern> pattern = Pattern::Compile(text, ignore_case);
    if (!pattern.ok()) return std::move(pattern).error();
    patterns.push_back(*std::move(pattern));
  }
  return {};
}

base::Error MissingKey(std::string_view key, std::string_view example) {
  return {base::ErrorCode::kUsage, fmt::format("no {}", key), fmt::format("write {}", example)};
}

std::string NameOf(const Rule& rule, size_t index) {
  return fmt::format("rule {} ('{}')", index + 1, rule.category);
}

/// The forms of a name that rules ask for, each made once and only when asked for.
class NameForms {
 public:
  explicit NameForms(std::string_view name) : name_(name) {}

  std::string_view Get(bool full_name, bool ignore_case) {
    std::string& form = forms_[full_name ? 1 : 0][ignore_case ? 1 : 0];
    if (form.empty() && !name_.empty()) {
      if (ignore_case) {
        form = ToLower(Get(full_name, false));
      } else {
        form = full_name ? Demangle(name_) : MatchName(name_);
        form.resize(std::min(form.size(), kMaxMatchBytes));
      }
    }
    return form;
  }

 private:
  std::string_view name_;
  std::string forms_[2][2];
};

}  // namespace

struct RuleSet::Compiled {
  CategoryId category;
  std::vector<Pattern> patterns;
  std::vector<Pattern> also;
  std::vector<Pattern> unless;
  bool ignore_case = false;
  bool full_name = false;

  static base::Result<Compiled> Of(const Rule& rule) {
    if (rule.category.empty()) return MissingKey("category", "category = \"gemm\"");
    if (rule.patterns.empty()) return MissingKey("pattern", "match = [\"gemm\"]");
    Compiled compiled;
    compiled.ignore_case = rule.ignore_case;
    compiled.full_name = rule.full_name;
    base::Status status = CompileAll(rule.patterns, rule.ignore_case, compiled.patterns);
    if (status.ok()) status = CompileAll(rule.also, rule.ignore_case, compiled.also);
    if (status.ok()) status = CompileAll(rule.unless, rule.ignore_case, compiled.unless);
    if (!status.ok()) return std::move(status).error();
    return compiled;
  }

  bool Matches(std::string_view name) const {
    return AnyMatches(patterns, name) && (also.empty() || AnyMatches(also, name)) &&
           !AnyMatches(unless, name);
  }
};

base::Result<RuleSet> RuleSet::Build(std::vector<Rule> rules) {
  RuleSet set;
  set.categories_.clear();
  std::vector<Compiled> compiled;
  compiled.reserve(rules.size());
  base::StringMap<CategoryId> known;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    base::Result<Compiled> line = Compiled::Of(rule);
    if (!line.ok()) return std::move(line).error().WithContext(NameOf(rule, i));
    if (set.categories_.size() >= kMaxCategories) {
      return base::Error{base::ErrorCode::kUsage, NameOf(rule, i) + ": too many categories", ""};
    }
    compiled.push_back(*std::move(line));
    if (rule.category == kOther) continue;
    const auto [at, is_new] = known.try_emplace(rule.category, set.categories_.size());
    compiled.back().category = at->second;
    if (is_new) set.categories_.push_back({rule.category, rule.group});
    std::string& group = set.categories_[at->second.index()].group;
    if (group.empty()) group = rule.group;
  }
  for (Category& category : set.categories_) {
    if (category.group.empty()) category.group = kOther;
  }
  set.categories_.push_back({std::string(kOther), std::string(kOther)});
  for (Compiled& line : compiled) {
    if (!line.category.valid()) line.category = set.other();
  }
  set.rules_ = std::make_shared<const std::vector<Compiled>>(std::move(compiled));
  return set;
}

CategoryId RuleSet::Match(std::string_view kernel_name) const {
  if (!rules_) return other();
  NameForms forms(kernel_name);
  for (const Compiled& rule : *rules_) {
    const std::string_view name = forms.Get(rule.full_name, rule.ignore_case);
    if (rule.Matches(name)) return rule.category;
  }
  return other();
}

}  // namespace layerscope::kernel_names
