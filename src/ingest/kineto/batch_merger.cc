#include "src/ingest/kineto/batch_merger.h"

#include <algorithm>

#include "src/ingest/kineto/text_repair.h"

namespace layerscope::ingest::kineto {

using trace::LedgerCode;

void BatchMerger::Take(size_t parser, Slice& slice, const Batch& batch, SliceOutcome outcome) {
  assembler_.AddDelta(parser, batch.delta);
  if (list_ended_) return AddTail(slice.view());
  if (splitter_.Idle() && outcome.ok) {
    assembler_.AddRows(parser, batch);
    if (outcome.array_end < 0) return;
    list_ended_ = true;
    return AddTail(slice.view().substr(static_cast<size_t>(outcome.array_end) + 1));
  }
  splitter_.Append(slice.view(), slice.offset);
  SplitAll(Text::kGoesOn);
}

void BatchMerger::AddTail(std::string_view text) {
  tail_.append(text.substr(0, kMaxTail - std::min(kMaxTail, tail_.size())));
}

void BatchMerger::SplitAll(Text text) {
  trace::Ledger& ledger = assembler_.ledger();
  for (;;) {
    switch (text == Text::kGoesOn ? splitter_.Next() : splitter_.NextAtEnd()) {
      case EventSplitter::Kind::kNeedMore:
        return;
      case EventSplitter::Kind::kObject:
        ParseOne();
        break;
      case EventSplitter::Kind::kOther:
      case EventSplitter::Kind::kBroken:
        ledger.AddSample(LedgerCode::bad_event, splitter_.offset(), splitter_.text());
        break;
      case EventSplitter::Kind::kTooLarge:
        ledger.AddSample(LedgerCode::event_too_large, splitter_.offset(), splitter_.text());
        break;
      case EventSplitter::Kind::kArrayEnd:
        list_ended_ = true;
        AddTail(splitter_.rest());
        return;
    }
  }
}

void BatchMerger::ParseOne() {
  const int64_t offset = splitter_.offset();
  if (TryParse(splitter_.text(), offset, 0)) return;
  const int64_t n_repairs = RepairText(splitter_.text(), repaired_);
  if (n_repairs > 0 && TryParse(repaired_, offset, n_repairs)) return;
  splitter_.RejectObject();
  assembler_.ledger().AddSample(LedgerCode::bad_event, offset, splitter_.text());
}

bool BatchMerger::TryParse(std::string_view text, int64_t offset, int64_t n_repairs) {
  padded_.assign(EventParser::kBytesBefore, ' ');
  padded_ += text;
  padded_.append(EventParser::kBytesAfter, ' ');
  single_batch_.Clear();
  const SliceOutcome outcome =
      single_.Parse(padded_.data() + EventParser::kBytesBefore, text.size(), offset, single_batch_);
  single_.TakeDelta(single_batch_);
  assembler_.AddDelta(own_parser_, single_batch_.delta);
  if (!outcome.ok || outcome.array_end >= 0) return false;
  if (n_repairs > 0) {
    assembler_.ledger().AddSample(LedgerCode::repaired_text, offset, splitter_.text());
    assembler_.ledger().Add(LedgerCode::repaired_text, n_repairs - 1);
  }
  assembler_.AddRows(own_parser_, single_batch_);
  return true;
}

void BatchMerger::Close(bool document_is_array) {
  if (!list_ended_) SplitAll(Text::kIsComplete);
  if (list_ended_) return;
  const std::string_view unfinished = splitter_.unfinished();
  trace::Ledger& ledger = assembler_.ledger();
  if (!unfinished.empty()) {
    ledger.AddSample(LedgerCode::truncated, splitter_.unfinished_offset(), unfinished);
  } else {
    // A bare list may stay open (Chrome allows it); an object without its end was cut.
    ledger.Add(document_is_array ? LedgerCode::unclosed_array : LedgerCode::truncated);
  }
}

}  // namespace layerscope::ingest::kineto
