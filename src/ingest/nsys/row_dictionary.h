#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/base/hash.h"
#include "src/trace/ids.h"
#include "src/trace/string_pool.h"

namespace layerscope::ingest::nsys {

/// What rows of StringIds are wanted for, as bits.
enum StringUse : uint8_t { kAsName = 1, kAsNvtxText = 2, kAsNodeEvent = 4 };

/// A stream of one context of one process. The device is that of the process's own counting.
struct StreamKey {
  trace::ProcessId process;
  int64_t device = 0;
  int64_t context = 0;
  int64_t stream = 0;
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

/// The arguments of a row: a kernel's extents, or the sizes of an op's inputs.
struct ArgsKey {
  static constexpr int64_t kAbsent = -1;
  std::array<int64_t, 3> grid{kAbsent, kAbsent, kAbsent};
  std::array<int64_t, 3> block{kAbsent, kAbsent, kAbsent};
  trace::StringId sizes;
  friend bool operator==(const ArgsKey&, const ArgsKey&) = default;
};

/// Everything that rows of a database refer to by id. Names that stand in the table StringIds are
/// known by their number there until all rows are read: only then is it known which are used. Such
/// an id has kFromTable set; the others are ids in `texts()`.
class RowDictionary {
 public:
  static constexpr uint32_t kFromTable = uint32_t{1} << 31;
  static bool IsFromTable(trace::StringId id) {
    return id.valid() && (id.index() & kFromTable) != 0;
  }
  static size_t Slot(trace::StringId id) { return id.index() & ~kFromTable; }

  trace::StringId Text(std::string_view text) { return texts_.Intern(text); }
  /// `use` is made of StringUse.
  trace::StringId TableString(int64_t number, uint8_t use);
  /// `global` is a globalPid, or a globalTid, whose process is meant.
  trace::ProcessId Process(int64_t global);
  trace::ThreadId Thread(int64_t global_tid);
  trace::StreamId Stream(const StreamKey& key);
  trace::ArgsId Args(const ArgsKey& key);

  const trace::StringPool& texts() const { return texts_; }
  trace::StringPool TakeTexts() { return std::move(texts_); }
  /// By slot.
  const std::vector<int64_t>& table_strings() const { return table_strings_; }
  const std::vector<uint8_t>& table_string_uses() const { return table_string_uses_; }
  /// By id: the global ids, the keys.
  const std::vector<int64_t>& processes() const { return processes_; }
  const std::vector<int64_t>& threads() const { return threads_; }
  const std::vector<StreamKey>& streams() const { return streams_; }
  const std::vector<ArgsKey>& args() const { return args_; }
  /// Invalid when no row names it.
  trace::ProcessId FindProcess(int64_t global) const;
  trace::ThreadId FindThread(int64_t global_tid) const;

 private:
  struct StreamHash {
    size_t operator()(const StreamKey& key) const noexcept;
  };
  struct ArgsKeyHash {
    size_t operator()(const ArgsKey& key) const noexcept;
  };
  template <typename V>
  using NumberMap = tsl::robin_map<int64_t, V, base::MixHash>;

  trace::StringPool texts_;
  std::vector<int64_t> table_strings_;
  std::vector<uint8_t> table_string_uses_;
  std::vector<int64_t> processes_;
  std::vector<int64_t> threads_;
  std::vector<StreamKey> streams_;
  std::vector<ArgsKey> args_;
  NumberMap<uint32_t> table_string_slots_;
  NumberMap<trace::ProcessId> process_ids_;
  NumberMap<trace::ThreadId> thread_ids_;
  tsl::robin_map<StreamKey, trace::StreamId, StreamHash> stream_ids_;
  tsl::robin_map<ArgsKey, trace::ArgsId, ArgsKeyHash> args_ids_;
  // Rows that follow each other mostly name the same.
  trace::StreamId last_stream_;
  trace::ArgsId last_args_;
};

/// The parts of globalPid and globalTid (formats/nsys_schema.md).
inline int64_t PidOf(int64_t global) {
  return static_cast<int64_t>((static_cast<uint64_t>(global) >> 24) & 0xffffff);
}
inline int64_t TidOf(int64_t global_tid) {
  return global_tid & 0xffffff;
}
inline int64_t GlobalPidOf(int64_t global_tid) {
  return static_cast<int64_t>(static_cast<uint64_t>(global_tid) & ~uint64_t{0xffffff});
}

}  // namespace layerscope::ingest::nsys
