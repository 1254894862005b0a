#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::analysis {

/// The name of a row that stands for several modules of a class: "Layer_0..35", with another
/// stride "RMSNorm_0..140 step 4", of two that are apart "RMSNorm_1, 5", without any order
/// "RMSNorm_1, …, 9". `numbers` in any order, doubles allowed, at least one.
std::string RangeName(std::string_view class_name, std::vector<int64_t> numbers);

/// Several paths as one: where a part differs it is the range of its numbers, "*" where it is no
/// number: "model.layers.0..35.mlp". Empty when the paths have different numbers of parts.
std::string RangePath(const std::vector<std::string_view>& paths);

/// A name of RangeName, alone or inside a path ("Model_0.Layer_0..35.MLP_0..35"), as an option
/// gives it.
class ModuleRange {
 public:
  /// Nullopt when no part of the path is a range; a "×36 " in front is ignored.
  static std::optional<ModuleRange> Parse(std::string_view text);

  /// True when the module and its ancestors are what the parts say, from the last to the first.
  /// `ancestor(n)` is the instance name n levels up, 0 = the module itself; nullopt above the root.
  bool Matches(const std::function<std::optional<std::string_view>(size_t)>& ancestor) const;

  /// True when the last parts of a path are what this says: "layers.0..35" or "Layer_0..35.MLP".
  bool MatchesPath(std::string_view path) const;

  /// True for "RMSNorm_1, …, 9": such a name does not say which modules it means.
  bool irregular() const { return irregular_; }

 private:
  struct Part {
    std::string text;  ///< an instance or class; of a range its class, empty of bare numbers
    bool is_range = false;
    int64_t first = 0;
    int64_t last = 0;
    int64_t stride = 1;
  };
  static std::optional<Part> ParsePart(std::string_view text, bool& irregular);
  static bool MatchesPart(const Part& part, std::string_view name);

  std::vector<Part> parts_;
  bool irregular_ = false;
};

}  // namespace layerscope::analysis
