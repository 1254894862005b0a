#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/ingest/kineto/boundary.h"

namespace layerscope::ingest::kineto {

/// Takes an event list apart by brackets and quotes alone, for text that does not parse as it
/// stands. Text comes in pieces of any size; the state between pieces is kept, so that time stays
/// linear.
class EventSplitter {
 public:
  enum class Kind : uint8_t {
    kObject,    ///< `text()` is one object, from its `{` to the matching bracket
    kOther,     ///< `text()` is an element that is no object
    kArrayEnd,  ///< the list's `]`; `rest()` stands behind it
    kNeedMore,  ///< the text ends before the next element does
    kTooLarge,  ///< an object over 64 MiB is dropped; reading goes on at the next event boundary
    kBroken,    ///< `text()` is the begin of an object that swallows later events; it was dropped
  };

  /// Events above this are dropped and counted (DESIGN.md section 5).
  static constexpr size_t kMaxEventBytes = size_t{64} << 20;
  /// An unfinished object this large that contains what looks like other events has lost a quote or
  /// a bracket: waiting for its end would swallow the rest of the file.
  static constexpr size_t kSuspiciousBytes = size_t{8} << 20;

  /// Adds text that stands at `offset` of the document, directly behind what was added before.
  void Append(std::string_view text, int64_t offset);
  Kind Next();
  std::string_view text() const { return text_; }
  int64_t offset() const { return base_ + static_cast<int64_t>(text_begin_); }
  std::string_view rest() const { return std::string_view(buffer_).substr(at_); }
  /// The last kObject turned out not to be JSON: go on at the next event that begins inside it, if
  /// there is one; `text()` becomes what is dropped.
  void RejectObject();
  /// The text is complete: what was kNeedMore is judged once more. An unfinished object that is no
  /// JSON, or that holds what looks like whole events, is kBroken; else it was cut.
  Kind NextAtEnd();
  /// True when nothing but white space and commas is left.
  bool Idle() const;
  /// The unfinished element at the end of the text.
  std::string_view unfinished() const;
  int64_t unfinished_offset() const { return base_ + static_cast<int64_t>(start_); }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  void SkipSeparators();
  bool PassText(char c);
  Kind Scan();
  Kind ScanOther();
  Kind Unfinished();
  bool SwallowsEvents(size_t boundary_at) const;
  size_t MinimumSkip() const;
  std::optional<Boundary> FindBoundaryInside();
  bool SkipToBoundary();
  Kind Give(Kind kind, size_t begin, size_t end);
  void Restart(size_t at);

  std::string buffer_;
  int64_t base_ = 0;      ///< document offset of buffer_[0]
  size_t at_ = 0;         ///< next character to look at
  size_t start_ = kNone;  ///< begin of the element that is open
  size_t text_begin_ = 0;
  std::string_view text_;
  int64_t depth_ = 0;
  bool in_string_ = false;
  bool skipping_ = false;  ///< inside of an event that is too large, until the next boundary
  size_t searched_ = 0;    ///< up to here the open element has no boundary inside
  /// Objects dropped in a row, and how many that was when the last object was given.
  size_t failures_ = 0;
  size_t failures_before_object_ = 0;
  bool malformed_ = false;  ///< the open element has a character outside of strings that JSON lacks
};

}  // namespace layerscope::ingest::kineto
