#include "src/ingest/kineto/document_head.h"

#include "src/ingest/kineto/token.h"

namespace layerscope::ingest::kineto {
namespace {

constexpr size_t kMaxKeyBytes = 256;
constexpr size_t kMaxKeys = 64;

/// Keys that settle what a document is at once, however large it is.
bool IsForeignKey(std::string_view key) {
  return key == "rocprofiler-sdk-tool";
}

}  // namespace

std::string_view DocumentHead::members() const {
  return std::string_view(members_).substr(0, members_end_);
}

DocumentHead::State DocumentHead::Feed(std::string_view text) {
  if (begin_.size() < kMaxBegin) begin_.append(text.substr(0, kMaxBegin - begin_.size()));
  for (const char c : text) {
    if (state_ != State::kScanning) break;
    ++consumed_;
    Step(c);
  }
  return state_;
}

void DocumentHead::Step(char c) {
  if (!started_) {
    // A byte order mark or white space may stand in front.
    if (IsJsonSpace(c) || (consumed_ <= 3 && "\xEF\xBB\xBF"[consumed_ - 1] == c)) return;
    started_ = true;
    is_array_ = c == '[';
    state_ = is_array_ ? State::kEvents : c == '{' ? State::kScanning : State::kNotAnObject;
    depth_ = 1;
    expects_key_ = true;
    return;
  }
  if (members_.size() < kMaxMembers) members_ += c;
  if (!in_string_) return StepOutsideString(c);
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    return EndString();
  }
  if (string_.size() < kMaxKeyBytes) string_ += c;
}

void DocumentHead::EndString() {
  if (depth_ != 1 || !expects_key_) return;
  expects_key_ = false;
  if (string_ == "traceEvents") {
    after_events_key_ = true;
    return;
  }
  if (keys_.size() < kMaxKeys) keys_.push_back(string_);
  if (IsForeignKey(string_)) state_ = State::kForeign;
}

void DocumentHead::StepOutsideString(char c) {
  if (IsJsonSpace(c)) return;
  if (after_events_key_ && c != ':') {
    state_ = c == '[' ? State::kEvents : State::kNoEvents;
    if (state_ == State::kNoEvents) keys_.emplace_back("traceEvents");
    // What stands before the key, with the comma that parts it from the key.
    const size_t key_at = members_.rfind("\"traceEvents\"");
    members_end_ = key_at == std::string::npos ? 0 : key_at;
    return;
  }
  if (c == '"') {
    in_string_ = true;
    string_.clear();
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    if (--depth_ == 0) state_ = State::kNoEvents;
  } else if (c == ',' && depth_ == 1) {
    expects_key_ = true;
  }
}

}  // namespace layerscope::ingest::kineto
