#include "src/ingest/kineto/event_splitter.h"

#include <algorithm>

namespace layerscope::ingest::kineto {
namespace {

bool IsSeparator(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',' || c == '\0';
}

/// Does a backslash in front make `c` something else? It is the same inside and outside of strings,
/// as simdjson sees it; brackets stay brackets.
bool IsEscaped(char c) {
  return c == '"' || c == '\\';
}

/// Can `c` stand outside of strings? Brackets, separators, numbers, and the letters of true, false,
/// null, NaN and Infinity. Where a quote is missing, the letters of keys soon show it.
bool CanBeOutsideString(char c) {
  return IsSeparator(c) ||
         std::string_view("{}[]:0123456789+-.eEtrufalsnNIiy").find(c) != std::string_view::npos;
}

}  // namespace

void EventSplitter::Append(std::string_view text, int64_t offset) {
  const size_t done = start_ == kNone ? at_ : start_;
  buffer_.erase(0, done);
  if (buffer_.empty()) {
    base_ = offset;
  } else {
    base_ += static_cast<int64_t>(done);
  }
  at_ -= done;
  searched_ -= std::min(searched_, done);
  if (start_ != kNone) start_ = 0;
  text_ = {};
  buffer_.append(text);
}

void EventSplitter::SkipSeparators() {
  while (at_ < buffer_.size() && IsSeparator(buffer_[at_])) ++at_;
}

EventSplitter::Kind EventSplitter::Give(Kind kind, size_t begin, size_t end) {
  text_begin_ = begin;
  text_ = std::string_view(buffer_).substr(begin, end - begin);
  start_ = kNone;
  depth_ = 0;
  in_string_ = false;
  malformed_ = false;
  searched_ = 0;
  at_ = end;
  return kind;
}

void EventSplitter::Restart(size_t at) {
  start_ = kNone;
  depth_ = 0;
  in_string_ = false;
  malformed_ = false;
  searched_ = 0;
  at_ = at;
}

EventSplitter::Kind EventSplitter::Next() {
  if (skipping_ && !SkipToBoundary()) return Kind::kNeedMore;
  if (start_ == kNone) {
    SkipSeparators();
    if (at_ == buffer_.size()) return Kind::kNeedMore;
    if (buffer_[at_] == ']') return Give(Kind::kArrayEnd, at_, at_ + 1);
    start_ = at_;
  }
  return buffer_[start_] == '{' ? Scan() : ScanOther();
}

/// Quotes, escapes and what stands inside of strings; false: `c` stands outside.
bool EventSplitter::PassText(char c) {
  if (c == '\\') {
    at_ += IsEscaped(buffer_[at_ + 1]) ? 1 : 0;
    return true;
  }
  const bool was_in_string = in_string_;
  if (c == '"') in_string_ = !in_string_;
  return was_in_string || c == '"';
}

/// Counts brackets as simdjson does when it skips a value: kinds need not match.
EventSplitter::Kind EventSplitter::Scan() {
  for (; at_ < buffer_.size(); ++at_) {
    const char c = buffer_[at_];
    if (c == '\\' && at_ + 1 == buffer_.size()) break;
    if (PassText(c)) continue;
    if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      const size_t end = at_ + 1;
      const bool too_large = end - start_ > kMaxEventBytes;
      failures_before_object_ = failures_;
      failures_ = 0;
      return Give(too_large ? Kind::kTooLarge : Kind::kObject, start_, end);
    } else if (!CanBeOutsideString(c)) {
      malformed_ = true;
    }
  }
  return Unfinished();
}

EventSplitter::Kind EventSplitter::Unfinished() {
  const size_t length = buffer_.size() - start_;
  if (length <= kSuspiciousBytes) return Kind::kNeedMore;
  if (const auto boundary = FindBoundaryInside()) {
    ++failures_;
    return Give(Kind::kBroken, start_, boundary->next);
  }
  if (length <= kMaxEventBytes) return Kind::kNeedMore;
  skipping_ = true;
  return Give(Kind::kTooLarge, start_, buffer_.size());
}

/// More than a boundary takes, white space included: so much is looked at again when text is added.
constexpr size_t kBoundaryBytes = 256;

/// The first boundary inside the open element. What was searched is not searched again.
std::optional<Boundary> EventSplitter::FindBoundaryInside() {
  const size_t from = std::max(start_ + MinimumSkip(), searched_);
  const auto boundary = FindFirstBoundary(buffer_, from);
  if (!boundary && buffer_.size() > kBoundaryBytes) searched_ = buffer_.size() - kBoundaryBytes;
  return boundary;
}

/// Passes the rest of an event that is too large; false: its end is not in sight.
bool EventSplitter::SkipToBoundary() {
  if (const auto boundary = FindFirstBoundary(buffer_, at_)) {
    at_ = boundary->next;
    skipping_ = false;
    return true;
  }
  if (buffer_.size() > at_ + kBoundaryBytes) at_ = buffer_.size() - kBoundaryBytes;
  return false;
}

/// How far to go on behind the begin of a dropped object. The text from there on is scanned again,
/// so where one object after the other is dropped the steps grow: hostile text costs n log n, not
/// n².
size_t EventSplitter::MinimumSkip() const {
  constexpr size_t kPatience = 16;
  constexpr size_t kMostDoublings = 26;  // kMaxEventBytes
  if (failures_ < kPatience) return 1;
  return size_t{1} << std::min(failures_ - kPatience, kMostDoublings);
}

/// Is what follows a boundary inside an open object an event of its own, not an argument's item?
bool EventSplitter::SwallowsEvents(size_t boundary_at) const {
  constexpr size_t kLookAhead = 4096;
  if (malformed_) return true;
  const std::string_view event = std::string_view(buffer_).substr(boundary_at, kLookAhead);
  for (const std::string_view key : {"\"ph\"", "\"ts\"", "\"pid\""}) {
    if (event.find(key) == std::string_view::npos) return false;
  }
  return true;
}

EventSplitter::Kind EventSplitter::NextAtEnd() {
  const Kind kind = Next();
  if (kind != Kind::kNeedMore || start_ == kNone) return kind;
  const auto boundary = FindBoundaryInside();
  if (!boundary || !SwallowsEvents(boundary->next)) return kind;
  ++failures_;
  return Give(Kind::kBroken, start_, boundary->next);
}

/// An element that is no object ends at a comma or bracket outside of strings.
EventSplitter::Kind EventSplitter::ScanOther() {
  for (; at_ < buffer_.size(); ++at_) {
    const char c = buffer_[at_];
    if (c == '\\' && at_ + 1 == buffer_.size()) break;
    if (PassText(c)) continue;
    if (c == '[' || c == '{') {
      if (depth_ == 0 && at_ > start_) return Give(Kind::kOther, start_, at_);
      ++depth_;
    } else if ((c == ']' || c == '}') && depth_ > 0) {
      if (--depth_ == 0) return Give(Kind::kOther, start_, at_ + 1);
    } else if (depth_ == 0 && at_ > start_ && (IsSeparator(c) || c == ']')) {
      return Give(Kind::kOther, start_, at_);
    }
  }
  return Unfinished();
}

void EventSplitter::RejectObject() {
  const size_t begin = text_begin_;
  const size_t end = begin + text_.size();
  failures_ = failures_before_object_;
  // Only inside of the object: where many objects are rejected, looking further would be quadratic.
  const std::string_view object = std::string_view(buffer_).substr(0, end);
  const auto boundary = FindFirstBoundary(object, std::min(begin + MinimumSkip(), end));
  if (boundary) ++failures_;
  const size_t next = boundary ? boundary->next : end;
  Restart(next);
  text_ = std::string_view(buffer_).substr(begin, next - begin);
}

bool EventSplitter::Idle() const {
  if (skipping_) return false;
  if (start_ != kNone) return false;
  for (size_t i = at_; i < buffer_.size(); ++i) {
    if (!IsSeparator(buffer_[i])) return false;
  }
  return true;
}

std::string_view EventSplitter::unfinished() const {
  return start_ == kNone ? std::string_view() : std::string_view(buffer_).substr(start_);
}

}  // namespace layerscope::ingest::kineto
