#include "src/trace/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace layerscope::trace {
namespace {

using table::Severity;

struct Cause {
  std::string_view name;
  Severity severity;
  std::string_view message;
};

constexpr std::array<Cause, static_cast<size_t>(LedgerCode::kCount)> kCauses = {{
#define LAYERSCOPE_LEDGER_CAUSE(name, severity, message) {#name, Severity::severity, message},
    LAYERSCOPE_LEDGER(LAYERSCOPE_LEDGER_CAUSE)
#undef LAYERSCOPE_LEDGER_CAUSE
}};

/// Bytes of a file say what they are in one line; what the profiler says is a sentence.
constexpr size_t kMaxSampleBytes = 80;
constexpr size_t kMaxSentenceBytes = 400;

/// Control characters and bytes beyond ASCII are shown as \xNN: the sample goes to a terminal. A
/// cut text ends in "…".
std::string Printable(std::string_view text, size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  if (text.size() > most) out += "…";
  return out;
}

}  // namespace

void Ledger::AddSample(LedgerCode code, int64_t offset, std::string_view text) {
  Entry& entry = entries_[At(code)];
  ++entry.count;
  if (entry.samples.size() == kMaxSamples) return;
  const bool is_sentence = code == LedgerCode::profiler_warning;
  entry.samples.push_back(
      {offset, Printable(text, is_sentence ? kMaxSentenceBytes : kMaxSampleBytes)});
}

void Ledger::Merge(const Ledger& later) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& mine = entries_[i];
    mine.count += later.entries_[i].count;
    for (const LedgerSample& sample : later.entries_[i].samples) {
      if (mine.samples.size() < kMaxSamples) mine.samples.push_back(sample);
    }
  }
}

std::vector<table::HealthEntry> Ledger::ToHealth() const {
  std::vector<table::HealthEntry> health;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.count == 0) continue;
    std::string message(kCauses[i].message);
    for (const LedgerSample& sample : entry.samples) {
      message += sample.offset >= 0 ? fmt::format(" At byte {}: {}", sample.offset, sample.text)
                                    : fmt::format(" {}", sample.text);
    }
    health.push_back({std::string(kCauses[i].name), kCauses[i].severity, entry.count, message});
  }
  return health;
}

}  // namespace layerscope::trace
