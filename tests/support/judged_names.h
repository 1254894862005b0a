#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "src/model/rules.h"

namespace layerscope::model {

inline const kernel_names::RuleSet& Universal() {
  static const kernel_names::RuleSet rules = [] {
    base::Result<kernel_names::RuleSet> loaded = LoadRuleSet("");
    EXPECT_TRUE(loaded.ok());
    return loaded.ok() ? *std::move(loaded) : kernel_names::RuleSet();
  }();
  return rules;
}

/// What the universal rules call a kernel.
inline std::string CategoryOf(std::string_view kernel) {
  return Universal().category(Universal().Match(kernel)).name;
}

/// A kernel's name and the category that was decided for it by hand.
struct JudgedName {
  std::string_view category;
  std::string_view kernel;
};

template <size_t N>
void ExpectAll(const std::array<JudgedName, N>& table) {
  for (const auto& [category, kernel] : table) EXPECT_EQ(CategoryOf(kernel), category) << kernel;
}

}  // namespace layerscope::model
