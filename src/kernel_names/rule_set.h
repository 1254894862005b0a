#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/id.h"
#include "src/base/result.h"

namespace layerscope::kernel_names {

using CategoryId = base::Id<struct CategoryTag, uint16_t>;

/// What one category is called and which group of columns it adds to.
struct Category {
  std::string name;   ///< "gemm_fp8"
  std::string group;  ///< "GEMM"
};

/// One line of a rules file: any of `patterns` matches, and any of `also` where there are some, and
/// none of `unless` -> the category. Patterns are text, text with `*`,
/// `^` and `$`, or `/regular expressions/` (pattern.h).
struct Rule {
  std::string category;
  std::string group;  ///< the first rule of a category that gives one decides; else "other"
  std::vector<std::string> patterns;
  std::vector<std::string> also = {};
  std::vector<std::string> unless = {};
  bool ignore_case = false;
  bool full_name = false;  ///< match on the whole name, template arguments included
};

/// Ordered rules, first match wins; matching is on MatchName (kernel_name.h): the kernel's own name
/// with its namespaces, template arguments and parameters set aside. The last category is always
/// `other`. A RuleSet without rules calls everything `other`. Copies share their rules; Match may
/// be called from several threads.
class RuleSet {
 public:
  /// kUsage, naming the rule by its number (counted from 1) and category, for a rule without
  /// category or pattern, an invalid pattern (pattern.h), or more than 65,000 categories.
  static base::Result<RuleSet> Build(std::vector<Rule> rules);
  /// Meant for unique names: costs some microseconds a name.
  CategoryId Match(std::string_view kernel_name) const;
  const Category& category(CategoryId id) const { return categories_[id.index()]; }
  /// In order of first rule; `other` last.
  const std::vector<Category>& categories() const { return categories_; }
  CategoryId other() const { return CategoryId(categories_.size() - 1); }

 private:
  struct Compiled;
  std::vector<Category> categories_ = {{"other", "other"}};
  std::shared_ptr<const std::vector<Compiled>> rules_;
};

}  // namespace layerscope::kernel_names
