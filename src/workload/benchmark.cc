#include "src/workload/benchmark.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/format_number.h"
#include "src/json/scanner.h"
#include "src/workload/run_reader.h"

namespace layerscope::workload {
namespace {

using Token = json::Scanner::Token;

base::Error Invalid(std::string message) {
  return {base::ErrorCode::kInvalidInput, std::move(message), std::string(kWhatIsRead)};
}

/// Walks over the objects of a file and makes runs of them.
class BenchmarkReader {
 public:
  explicit BenchmarkReader(std::string_view text) : text_(text), scanner_(text) {}

  base::Result<Benchmark> Read();

 private:
  /// The objects of a list; false at an error.
  bool ReadList();
  bool ReadObject(bool in_list);
  void AddRecord(Record record, bool in_list);
  base::Error Unreadable() const;
  /// Goes on with the next line that begins an object; false where none follows.
  bool NextLine();
  size_t offset() const { return base_ + scanner_.offset(); }

  std::string_view text_;
  json::Scanner scanner_;
  size_t base_ = 0;  ///< of scanner_'s text in text_
  size_t done_ = 0;  ///< where the last whole value ends
  /// After a fault the scanner sees one object at a time, from its line to this one, which begins
  /// the next (npos: to the end of the text): many with faults would cost the rest of the file
  /// each.
  std::optional<size_t> line_end_;
  Benchmark benchmark_;
  LossCounter losses_;
  std::vector<Request> requests_;  ///< of a file that has one object a request
  int64_t n_foreign_ = 0;
};

base::Result<Benchmark> BenchmarkReader::Read() {
  for (;;) {
    const Token token = scanner_.Next();
    if (token == Token::kEnd) {
      if (!line_end_ || !NextLine()) break;
      continue;
    }
    bool good = token == Token::kBeginObject || token == Token::kBeginArray;
    if (token == Token::kBeginObject) good = ReadObject(false);
    if (token == Token::kBeginArray) good = ReadList();
    if (good) {
      done_ = offset();
      continue;
    }
    const bool nothing_yet = benchmark_.runs.empty() && requests_.empty();
    if (nothing_yet && (token == Token::kError || scanner_.cut() || scanner_.depth() > 0)) {
      return Unreadable();
    }
    const bool at_end = line_end_.value_or(std::string_view::npos) == std::string_view::npos;
    const bool cut = scanner_.cut() && at_end;
    losses_.Add(cut ? "truncated" : "bad_run", true,
                cut ? "The file is cut off: its last run is left out."
                    : "A line of the file is no JSON object and is left out.");
    if (!NextLine()) break;
  }
  if (!requests_.empty()) {
    Run& run = benchmark_.runs.emplace_back();
    run.requests = std::move(requests_);
  }
  if (benchmark_.runs.empty()) return Invalid("this is " + ForeignName(text_));
  if (n_foreign_ > 0) {
    losses_.Add("foreign_objects", true,
                "Objects of the file are no runs of its kind and are left out.", n_foreign_);
  }
  benchmark_.losses = losses_.Take();
  return std::move(benchmark_);
}

base::Error BenchmarkReader::Unreadable() const {
  // Not even a bracket: what it is says more than where it stops being JSON.
  if (scanner_.depth() == 0) return Invalid("this is " + ForeignName(text_));
  const Kind kind = SniffKind(text_);
  return Invalid(fmt::format(
      "at byte {}: {}; so far it is {}", offset(), scanner_.what(),
      kind == Kind::kUnknown ? ForeignName(text_)
                             : fmt::format("a result ({}) without a whole run", ToString(kind))));
}

/// A run that is cut may have swallowed the beginning of those behind it, so what follows the fault
/// is no guide: the next line does.
bool BenchmarkReader::NextLine() {
  constexpr std::string_view kBegin = "\n{";
  // Further lines of an object are indented; one with a fault may be an element of a list.
  size_t begin = line_end_ ? *line_end_ : text_.find_first_not_of(" \t\r\n,[", done_);
  if (begin != std::string_view::npos) begin = text_.find(kBegin, begin);
  if (begin == std::string_view::npos) return false;
  base_ = done_ = begin + 1;
  line_end_ = text_.find(kBegin, base_);
  scanner_ = json::Scanner(text_.substr(base_).substr(0, *line_end_ - base_));
  return true;
}

bool BenchmarkReader::ReadList() {
  for (;;) {
    const Token token = scanner_.Next();
    if (token == Token::kEndArray) return true;
    if (token == Token::kBeginObject) {
      if (!ReadObject(true)) return false;
    } else if (token == Token::kBeginArray) {
      ++n_foreign_;
      if (!scanner_.LeaveContainer()) return false;
    } else if (token == Token::kError) {
      return false;
    } else {
      ++n_foreign_;
    }
  }
}

bool BenchmarkReader::ReadObject(bool in_list) {
  Record record;
  if (!ReadRecord(scanner_, record)) return false;
  AddRecord(std::move(record), in_list);
  done_ = offset();
  return true;
}

/// The first object decides the kind of the file.
void BenchmarkReader::AddRecord(Record record, bool in_list) {
  const Kind kind = in_list ? KindOfElementKeys(record.keys) : KindOfKeys(record.keys);
  Kind& file = benchmark_.kind;
  if (file == Kind::kUnknown) file = kind;
  const bool fits =
      kind != Kind::kUnknown && (kind == file || (kind != Kind::kInferencePerfRequests &&
                                                  file != Kind::kInferencePerfRequests));
  if (!fits) {
    ++n_foreign_;
    return;
  }
  if (kind == Kind::kInferencePerfRequests) {
    requests_.push_back(LifecycleRequest(record, losses_));
    return;
  }
  const bool of_2024 =
      kind == Kind::kSglangBench && !record.HasKey("p99_ttft_ms") && !record.HasKey("mean_ttft_ms");
  const Run& run = benchmark_.runs.emplace_back(RunOf(std::move(record), kind, losses_));
  if (of_2024) {
    benchmark_.version = run.requests.empty() ? "keys of 2024 (medians alone)" : "keys of 2024";
  }
}

}  // namespace

std::optional<int64_t> Request::DecodeNs() const {
  if (!e2e_ns || !ttft_ns || *e2e_ns < *ttft_ns) return std::nullopt;
  return *e2e_ns - *ttft_ns;
}

std::optional<int64_t> Request::TpotNs() const {
  const std::optional<int64_t> decode = DecodeNs();
  if (!decode || output_tokens.value_or(0) < 2) return std::nullopt;
  return base::DivideHalfEven(*decode, *output_tokens - 1);
}

base::Result<Benchmark> ParseBenchmark(std::string_view text) {
  return BenchmarkReader(text).Read();
}

}  // namespace layerscope::workload
