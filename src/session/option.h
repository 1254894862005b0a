#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/result.h"
#include "src/table/value.h"

namespace layerscope::session {

enum class OptionKind : uint8_t {
  kFlag,       ///< present or absent; with `negation` also the opposite
  kText,       ///< any text
  kTexts,      ///< any text, and the option may be given several times
  kInteger,    ///< a whole number that is not negative
  kDuration,   ///< a time literal with a unit, in nanoseconds
  kSize,       ///< a size literal with a unit, in bytes
  kChoice,     ///< one of `choices`
  kStepRange,  ///< N or FIRST..LAST
};

/// One option of the command line, as data: flags, help, the envelope's `options`, later the
/// server's parameters and the API's keywords come from it.
struct OptionSpec {
  std::string name;  ///< "memory-limit": the flag without dashes, and the key in `options`
  char letter = 0;   ///< 'n' for -n
  OptionKind kind = OptionKind::kText;
  std::string value_name;  ///< "SIZE"; empty for flags
  std::string help;        ///< one sentence without a full stop
  std::string fallback;    ///< what holds when it is absent, as help says it; may be empty
  std::vector<std::string> choices;
  std::string negation;     ///< "no-collapse"
  bool in_envelope = true;  ///< false: it does not change what is computed
  bool hidden = false;      ///< not in help (tests)
  /// Given twice with two values it is refused: the last would win, and what it names be missed.
  bool once = false;
  /// Its value may name a file, so only who started the program may give it, no visitor of a
  /// server.
  bool names_file = false;
};

/// The lists one behind the other; of options that stand in several the first.
std::vector<OptionSpec> JoinOptions(std::vector<std::vector<OptionSpec>> lists);

/// Between the values of an option that was given several times: no path of a sane file has it.
inline constexpr char kBetweenTexts = '\x1f';
std::vector<std::string> SplitTexts(const std::string& text);

/// Option values as the command line gives them, by name: text, "true" or "false" for flags,
/// several texts with kBetweenTexts between them.
using RawOptions = std::map<std::string, std::string>;

/// Checked values.
class OptionValues {
 public:
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  bool Flag(std::string_view name) const { return OptionalFlag(name).value_or(false); }
  std::optional<bool> OptionalFlag(std::string_view name) const;
  std::optional<std::string> Text(std::string_view name) const;
  std::string TextOr(std::string_view name, std::string fallback) const;
  /// Of kTexts; empty without the option.
  std::vector<std::string> Texts(std::string_view name) const;
  std::optional<int64_t> Number(std::string_view name) const;
  std::optional<std::pair<int64_t, int64_t>> Range(std::string_view name) const;
  /// The position of a choice's value among its choices.
  std::optional<size_t> Choice(std::string_view name) const;

 private:
  friend base::Result<OptionValues> ParseOptions(const std::vector<OptionSpec>&, const RawOptions&);
  struct ChoiceValue {
    size_t index = 0;
    std::string text;
  };
  using Value = std::variant<bool, int64_t, std::string, ChoiceValue, std::pair<int64_t, int64_t>,
                             std::vector<std::string>>;
  const Value* Find(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

/// Checks raw values against their specs. kUsage names the option, the value and what is wanted.
base::Result<OptionValues> ParseOptions(const std::vector<OptionSpec>& specs,
                                        const RawOptions& raw);

/// The options that were given and change what is computed: the envelope's `options`.
table::Object EnvelopeOptions(const std::vector<OptionSpec>& specs, const OptionValues& values);

}  // namespace layerscope::session
