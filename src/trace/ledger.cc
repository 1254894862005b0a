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

constexpr size_t kMaxSampleBytes = 80;

/// Control characters and bytes beyond ASCII are shown as \xNN: the sample goes to a terminal.
std::string Printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxSampleBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out;
}

}  // namespace

void Ledger::AddSample(LedgerCode code, int64_t offset, std::string_view text) {
  Entry& entry = entries_[At(code)];
  ++entry.count;
  if (entry.samples.size() < kMaxSamples) entry.samples.push_back({offset, Printable(text)});
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
