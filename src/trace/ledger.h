#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/table/result.h"

namespace layerscope::trace {

/// Every way in which a readable file can hold bad or surprising data: name, severity, the sentence
/// that the user reads. One counter each; nothing is lost without one of these going up.
#define LAYERSCOPE_LEDGER(V)                                                                \
  V(truncated, kDataLoss,                                                                   \
    "The file ends inside the list of events; what stands before the end "                  \
    "was used.")                                                                            \
  V(corrupt_compression, kDataLoss,                                                         \
    "The compressed data is damaged or cut; what could be "                                 \
    "decompressed was used.")                                                               \
  V(bad_event, kDataLoss, "Events are not valid JSON objects and were left out.")           \
  V(event_too_large, kDataLoss, "Events larger than 64 MiB were left out.")                 \
  V(bad_time, kDataLoss, "Events have a ts or dur that is not a number and were left out.") \
  V(time_out_of_range, kDataLoss,                                                           \
    "Events lie outside of +-2^62 ns (less a day) or last longer than 24 hours "            \
    "and were left out.")                                                                   \
  V(missing_ts, kDataLoss, "Complete events (ph X) have no ts and were left out.")          \
  V(bad_metadata, kDataLoss, "Keys beside traceEvents could not be read and were ignored.") \
  V(second_event_list, kDataLoss,                                                           \
    "A second traceEvents key stands behind the first; its events were left out.")          \
  V(unclosed_array, kInfo, "The list of events is not closed; every event in it was read.") \
  V(repaired_text, kInfo,                                                                   \
    "Raw control characters, invalid UTF-8 or invalid escapes inside "                      \
    "strings were repaired.")                                                               \
  V(missing_dur, kInfo, "Complete events (ph X) have no dur; 0 is used.")                   \
  V(negative_dur, kWarning,                                                                 \
    "Events have a negative dur; it is kept as it stands in sums and covers "               \
    "no time.")                                                                             \
  V(sub_ns_time, kInfo,                                                                     \
    "Times have more than three decimals and were rounded to a nanosecond, "                \
    "ties to even.")                                                                        \
  V(ts_zero, kInfo,                                                                         \
    "Events have ts 0 while all others are more than an hour later; they do not "           \
    "set the start of the trace.")                                                          \
  V(begin_end_events, kInfo,                                                                \
    "Begin/end (B, E) events were counted but are no activities, "                          \
    "operators or modules.")                                                                \
  V(foreign_accelerator, kWarning,                                                          \
    "Events of an accelerator that is not a GPU (MTIA) were "                               \
    "counted but not attributed.")                                                          \
  V(damaged_database, kDataLoss,                                                            \
    "Parts of the database are damaged or cut off; what could be read was used.")           \
  V(unread_journal, kDataLoss,                                                              \
    "A journal with changes stands beside the database and was not read: the "              \
    "exporter may still be writing, or was stopped.")                                       \
  V(bad_value, kDataLoss,                                                                   \
    "Rows hold a value of the wrong type, or none where one is needed, and were left out.") \
  V(missing_column, kDataLoss,                                                              \
    "Tables lack a column without which their rows say nothing, and were left out.")        \
  V(unknown_name, kWarning,                                                                 \
    "Names refer to strings that the file does not hold; they are shown as [unknown].")     \
  V(unknown_process, kWarning,                                                              \
    "Activities name no process; they are shown under process 0 and cannot be tied to "     \
    "their launches.")                                                                      \
  V(open_range, kInfo, "NVTX ranges were never closed; they end with the capture.")         \
  V(profiler_warning, kWarning, "The profiler reported problems while it recorded.")        \
  V(no_kernels, kInfo,                                                                      \
    "The export holds no CUDA kernels; record with nsys profile --trace=cuda,nvtx.")        \
  V(no_calls, kInfo,                                                                        \
    "The export holds no CUDA API calls, so that nothing can be tied to its launch; "       \
    "record with nsys profile --trace=cuda,nvtx.")                                          \
  V(no_nvtx, kInfo,                                                                         \
    "The export holds no NVTX ranges, so that nothing names modules or steps; "             \
    "record with nsys profile --trace=cuda,nvtx.")

enum class LedgerCode : uint8_t {
#define LAYERSCOPE_LEDGER_ENUM(name, severity, message) name,
  LAYERSCOPE_LEDGER(LAYERSCOPE_LEDGER_ENUM)
#undef LAYERSCOPE_LEDGER_ENUM
      kCount,
};

/// Where an entry was seen first.
struct LedgerSample {
  int64_t offset = -1;  ///< byte of the decompressed document; -1 = unknown
  std::string text;     ///< at most 80 bytes of it, 400 of a sentence; "…" where it was cut
};

/// The import ledger of one file. Merging in file order keeps the samples deterministic.
class Ledger {
 public:
  static constexpr size_t kMaxSamples = 3;

  void Add(LedgerCode code, int64_t count = 1) { entries_[At(code)].count += count; }
  /// Adds one and keeps the sample when there is room.
  void AddSample(LedgerCode code, int64_t offset, std::string_view text);
  /// Adds all of `later`, whose samples come after this one's.
  void Merge(const Ledger& later);
  int64_t count(LedgerCode code) const { return entries_[At(code)].count; }
  const std::vector<LedgerSample>& samples(LedgerCode code) const {
    return entries_[At(code)].samples;
  }
  /// The entries with a count, as the envelope's `health`, in the order of the list above.
  std::vector<table::HealthEntry> ToHealth() const;

 private:
  struct Entry {
    int64_t count = 0;
    std::vector<LedgerSample> samples;
  };
  static constexpr size_t At(LedgerCode code) { return static_cast<size_t>(code); }
  std::array<Entry, static_cast<size_t>(LedgerCode::kCount)> entries_;
};

}  // namespace layerscope::trace
