#include "src/ingest/kineto/raw_event_reader.h"

#include <algorithm>

#include "src/ingest/kineto/strict_text.h"
#include "src/ingest/kineto/text_repair.h"
#include "src/json/document.h"

namespace layerscope::ingest::kineto {
namespace {

constexpr std::string_view kSpaceAndCommas = " \t\r\n,";

std::string_view Stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaceAndCommas);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaceAndCommas) - first + 1);
}

/// `members` when they are the inside of a JSON object without events of its own.
std::string CheckedMembers(std::string_view members) {
  if (members.empty()) return {};
  std::string document = "{";
  document += members;
  document += '}';
  const base::Result<json::Node> root = json::ParseDocument(document);
  if (!root.ok() || root->Find("traceEvents") != nullptr) return {};
  return std::string(members);
}

}  // namespace

RawEventReader::RawEventReader(io::ByteSource& source) : source_(source) {
  parser_.KeepFields(&fields_);
}

base::Status RawEventReader::ReadHead() {
  while (head_.state() == DocumentHead::State::kScanning) {
    base::Result<bool> more = ReadPiece();
    if (!more.ok()) return std::move(more).error();
    if (!*more) break;
    const int64_t before = head_.consumed();
    head_.Feed(piece_);
    const auto taken = static_cast<size_t>(head_.consumed() - before);
    if (head_.state() == DocumentHead::State::kEvents) {
      splitter_.Append(std::string_view(piece_).substr(taken), head_.consumed());
    }
  }
  if (head_.state() == DocumentHead::State::kEvents) return {};
  return base::Error{base::ErrorCode::kInvalidInput, "no list of trace events", {}};
}

base::Result<bool> RawEventReader::ReadPiece() {
  piece_.resize(kPieceBytes);
  base::Result<size_t> read = source_.Read(piece_);
  if (!read.ok()) return std::move(read).error();
  piece_.resize(*read);
  at_end_ = piece_.empty();
  offset_ += static_cast<int64_t>(piece_.size());
  return !at_end_;
}

base::Result<bool> RawEventReader::Next(RawEvent& event) {
  while (!list_ended_) {
    switch (at_end_ ? splitter_.NextAtEnd() : splitter_.Next()) {
      case EventSplitter::Kind::kObject:
        if (ParseObject(event)) return true;
        break;
      case EventSplitter::Kind::kOther:
      case EventSplitter::Kind::kBroken:
      case EventSplitter::Kind::kTooLarge:
        break;
      case EventSplitter::Kind::kArrayEnd:
        list_ended_ = true;
        tail_ = splitter_.rest().substr(0, kMaxTail + 1);
        break;
      case EventSplitter::Kind::kNeedMore: {
        if (at_end_) return false;
        const int64_t begin = offset_;
        base::Result<bool> more = ReadPiece();
        if (!more.ok()) return more;
        if (*more) splitter_.Append(piece_, begin);
        break;
      }
    }
  }
  while (!at_end_) {
    base::Result<bool> more = ReadPiece();
    if (!more.ok()) return more;
    tail_.append(
        std::string_view(piece_).substr(0, kMaxTail + 1 - std::min(kMaxTail + 1, tail_.size())));
  }
  return false;
}

bool RawEventReader::ParseObject(RawEvent& event) {
  const std::string_view text = splitter_.text();
  if (Parse(text, event)) {
    Mend(text, false, event);
    return true;
  }
  if (RepairText(text, repaired_) > 0 && Parse(repaired_, event)) {
    Mend(repaired_, true, event);
    return true;
  }
  splitter_.RejectObject();
  return false;
}

/// The parser looks at no escape and at no value that it does not need.
void RawEventReader::Mend(std::string_view text, bool repaired, RawEvent& event) {
  const bool mended = MakeStrict(text, strict_);
  event.repaired = repaired || mended;
  event.text = mended ? std::string_view(strict_) : text;
}

bool RawEventReader::Parse(std::string_view text, RawEvent& event) {
  padded_.assign(EventParser::kBytesBefore, ' ');
  padded_ += text;
  padded_.append(EventParser::kBytesAfter, ' ');
  batch_.Clear();
  const SliceOutcome outcome =
      parser_.Parse(padded_.data() + EventParser::kBytesBefore, text.size(), -1, batch_);
  if (!outcome.ok || outcome.array_end >= 0) return false;
  event.fields = fields_;
  event.kind = RowKind::kNone;
  const auto give = [&event](RowKind kind, const auto& columns, size_t& counter) {
    if (columns.size() == 0) return;
    event.kind = kind;
    event.row = counter++;
    event.start_ns = columns.start_ns.front();
    event.dur_ns = columns.dur_ns.front();
  };
  give(RowKind::kActivity, batch_.activities, n_activities_);
  give(RowKind::kCall, batch_.calls, n_calls_);
  give(RowKind::kOp, batch_.ops, n_ops_);
  give(RowKind::kScope, batch_.scopes, n_scopes_);
  give(RowKind::kAnnotation, batch_.annotations, n_annotations_);
  return true;
}

std::string RawEventReader::MembersBefore() const {
  if (is_array() || !head_.members_complete()) return {};
  return CheckedMembers(Stripped(head_.members()));
}

std::string RawEventReader::MembersAfter() {
  if (is_array() || !list_ended_ || tail_.size() > kMaxTail) return {};
  std::string_view after = Stripped(tail_);
  if (after.empty() || after.back() != '}') return {};
  after.remove_suffix(1);
  return CheckedMembers(Stripped(after));
}

}  // namespace layerscope::ingest::kineto
