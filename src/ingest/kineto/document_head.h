#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::ingest::kineto {

/// Finds the event list of a trace document that arrives in pieces: the `[` behind the top-level
/// key "traceEvents", or the document's own `[`.
class DocumentHead {
 public:
  enum class State : uint8_t {
    kScanning,     ///< needs more text
    kEvents,       ///< `consumed()` is one past the `[`
    kNotAnObject,  ///< neither `{` nor `[` begins the document
    kNoEvents,     ///< traceEvents is no list, or the object closed without it
    kForeign,      ///< a top-level key that no trace has: `keys().back()`
  };

  /// Looks at further text; to be called while scanning.
  State Feed(std::string_view text);
  State state() const { return state_; }
  bool is_array() const { return is_array_; }
  /// Bytes of all text that belong to the head.
  int64_t consumed() const { return consumed_; }
  /// Top-level keys in order.
  const std::vector<std::string>& keys() const { return keys_; }
  /// The members before traceEvents as they stand, without the opening brace; at most 16 MiB.
  std::string_view members() const;
  /// False: the head is larger than that, and `members()` is empty.
  bool members_complete() const { return members_.size() < kMaxMembers; }
  /// Everything seen so far, at most 4 KiB: for telling what the document is.
  std::string_view begin() const { return begin_; }

 private:
  static constexpr size_t kMaxMembers = size_t{16} << 20;
  static constexpr size_t kMaxBegin = size_t{4} << 10;
  void Step(char c);
  void StepOutsideString(char c);
  void EndString();

  State state_ = State::kScanning;
  bool is_array_ = false;
  bool started_ = false;
  int64_t consumed_ = 0;
  int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool expects_key_ = false;
  bool after_events_key_ = false;
  std::string string_;
  std::vector<std::string> keys_;
  std::string members_;
  size_t members_end_ = 0;
  std::string begin_;
};

}  // namespace layerscope::ingest::kineto
