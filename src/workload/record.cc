#include "src/workload/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "src/workload/decimal.h"

namespace layerscope::workload {
namespace {

using Token = json::Scanner::Token;

/// A result nests three objects; what lies deeper, or has keys of pages, is nobody's figure.
constexpr size_t kMostLevels = 6;
constexpr size_t kLongestPath = 200;

/// Lists that hold a value of each request, and the unit they are written in.
struct KnownList {
  std::string_view path;
  int power;  ///< to nanoseconds; 0 = a count
  bool is_point_in_time = false;
};
constexpr std::array<KnownList, 10> kKnownLists = {{{"ttfts", kSeconds},
                                                    {"latencies", kSeconds},
                                                    {"e2e_latencies", kSeconds},
                                                    {"queue_times", kSeconds},
                                                    {"start_times", kSeconds, true},
                                                    {"info/output_token_times", kSeconds, true},
                                                    {"itls", kSeconds},
                                                    {"input_lens", 0},
                                                    {"output_lens", 0},
                                                    {"prompt_lens", 0}}};

const KnownList* FindKnown(std::string_view path) {
  const auto* const at = std::find_if(kKnownLists.begin(), kKnownLists.end(),
                                      [&](const KnownList& list) { return list.path == path; });
  return at == kKnownLists.end() ? nullptr : at;
}

int64_t ListNumber(std::string_view text, const KnownList& list) {
  const std::optional<int64_t> number = ScaledDecimal(text, list.power);
  if (!number) return kUnknown;
  if (list.is_point_in_time) return *number;
  // No time and no length is negative, but clocks of two threads may differ by a little.
  return *number >= 0 && *number <= kLongestNs ? *number : kUnknown;
}

class RecordReader {
 public:
  RecordReader(json::Scanner& scanner, Record& record) : scanner_(scanner), record_(record) {}

  bool ReadObject(const std::string& path, size_t level) {
    for (;;) {
      const Token token = scanner_.Next();
      if (token == Token::kEndObject) return true;
      if (token != Token::kKey) return false;
      const std::string key(scanner_.text());
      if (level == 0) record_.keys.push_back(key);
      if (path.size() + key.size() >= kLongestPath || level >= kMostLevels) {
        if (!scanner_.SkipValue()) return false;
        continue;
      }
      if (!ReadMember(path, key, level)) return false;
    }
  }

 private:
  bool ReadMember(const std::string& path, const std::string& key, size_t level) {
    std::string whole = path.empty() ? key : path + "/" + key;
    const Token token = scanner_.Next();
    switch (token) {
      case Token::kBeginObject:
        return ReadObject(whole, level + 1);
      case Token::kBeginArray:
        return ReadArray(whole);
      case Token::kNull:
        return Put(std::move(whole), {});
      case Token::kTrue:
      case Token::kFalse:
        return Put(std::move(whole),
                   {Scalar::Kind::kBool, token == Token::kTrue ? "true" : "false"});
      case Token::kNumber:
        return Put(std::move(whole), {Scalar::Kind::kNumber, std::string(scanner_.text())});
      case Token::kString:
        return Put(std::move(whole), {Scalar::Kind::kText, std::string(scanner_.text())});
      default:
        return false;
    }
  }

  bool Put(std::string path, Scalar scalar) {
    record_.scalars.emplace_back(std::move(path), std::move(scalar));
    return true;
  }

  bool ReadArray(const std::string& path) {
    if (path == "errors") return ReadErrors();
    const KnownList* const list = FindKnown(path);
    if (list == nullptr) return scanner_.LeaveContainer();
    if (path == "itls") return ReadItls(*list);
    std::vector<int64_t>& values = record_.lists[path];
    values.clear();
    return ReadNumbers(*list, values);
  }

  /// What is no number is kUnknown; an array in place of one is passed over.
  bool ReadNumbers(const KnownList& list, std::vector<int64_t>& values) {
    for (;;) {
      const Token token = scanner_.Next();
      if (token == Token::kEndArray) return true;
      if (!AddNumber(token, list, values)) return false;
    }
  }

  bool AddNumber(Token token, const KnownList& list, std::vector<int64_t>& values) {
    int64_t number = kUnknown;
    if (token == Token::kNumber) number = ListNumber(scanner_.text(), list);
    if (number == kUnknown && token != Token::kNull) ++record_.n_bad_numbers;
    values.push_back(number);
    return PassOver(token);
  }

  /// The rest of a value whose first token was read.
  bool PassOver(Token token) {
    if (token == Token::kBeginArray || token == Token::kBeginObject) {
      return scanner_.LeaveContainer();
    }
    return token != Token::kError && token != Token::kEnd;
  }

  bool ReadItls(const KnownList& list) {
    NestedList& itls = record_.itls;
    itls = {};
    for (;;) {
      const Token token = scanner_.Next();
      if (token == Token::kEndArray) return true;
      if (token == Token::kBeginArray) {
        if (!ReadNumbers(list, itls.values)) return false;
      } else if (token == Token::kNumber) {
        // One value a request: its mean, which is no list of times.
        ++record_.n_bad_numbers;
      } else if (!PassOver(token)) {
        return false;
      }
      itls.ends.push_back(itls.values.size());
    }
  }

  bool ReadErrors() {
    record_.errors.clear();
    for (;;) {
      const Token token = scanner_.Next();
      if (token == Token::kEndArray) return true;
      std::string& error = record_.errors.emplace_back();
      if (token == Token::kString) error = scanner_.text();
      if (token == Token::kBeginObject || token == Token::kBeginArray) error = "[no text]";
      if (!PassOver(token)) return false;
    }
  }

  json::Scanner& scanner_;
  Record& record_;
};

}  // namespace

bool Record::HasKey(std::string_view key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

const Scalar* Record::Find(std::string_view path) const {
  for (size_t i = scalars.size(); i > 0; --i) {
    if (scalars[i - 1].first == path) return &scalars[i - 1].second;
  }
  return nullptr;
}

std::optional<std::string_view> Record::Text(std::string_view path) const {
  const Scalar* const scalar = Find(path);
  if (scalar == nullptr || scalar->kind != Scalar::Kind::kText) return std::nullopt;
  return scalar->text;
}

std::optional<int64_t> Record::Number(std::string_view path, int power) const {
  const Scalar* const scalar = Find(path);
  return scalar == nullptr ? std::nullopt : ScaledDecimal(scalar->text, power);
}

std::optional<double> Record::Real(std::string_view path) const {
  const Scalar* const scalar = Find(path);
  if (scalar == nullptr) return std::nullopt;
  const std::optional<double> real = RealOf(scalar->text);
  return real && std::isfinite(*real) ? real : std::nullopt;
}

const std::vector<int64_t>& Record::List(std::string_view path) const {
  static const std::vector<int64_t> kNone;
  const auto found = lists.find(path);
  return found == lists.end() ? kNone : found->second;
}

bool ReadRecord(json::Scanner& scanner, Record& record) {
  return RecordReader(scanner, record).ReadObject({}, 0);
}

std::optional<double> RealOf(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double real = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, real);
  if (text.empty() || problem != std::errc() || stop != end) return std::nullopt;
  return real;
}

}  // namespace layerscope::workload
