#include "src/ingest/kineto/reader.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "src/ingest/kineto/document_head.h"
#include "src/ingest/kineto/metadata.h"
#include "src/ingest/kineto/slice_pipeline.h"
#include "src/ingest/kineto/sniff.h"

namespace layerscope::ingest::kineto {
namespace {

/// The head of the document, and what was read behind it.
struct Opening {
  DocumentHead head;
  std::string rest;
};

/// The head is read in pieces of one size, whatever the slices' is: what a refusal says must not
/// depend on it.
constexpr size_t kHeadPieceBytes = size_t{64} << 10;

base::Result<Opening> FindEventList(io::ByteSource& source) {
  Opening opening;
  std::string piece;
  while (opening.head.state() == DocumentHead::State::kScanning) {
    piece.resize(kHeadPieceBytes);
    auto read = source.Read(piece);
    if (!read.ok()) return std::move(read).error();
    if (*read == 0) break;
    piece.resize(*read);
    const int64_t before = opening.head.consumed();
    opening.head.Feed(piece);
    opening.rest = piece.substr(static_cast<size_t>(opening.head.consumed() - before));
  }
  return opening;
}

/// A list must hold objects; what its first element begins with is enough to refuse it. White space
/// before it is dropped, and the rest's offset moves by as much.
base::Status CheckFirstElement(io::ByteSource& source, std::string& rest, int64_t& offset) {
  size_t first = rest.find_first_not_of(" \t\r\n");
  while (first == std::string::npos) {
    offset += static_cast<int64_t>(rest.size());
    rest.resize(kHeadPieceBytes);
    auto read = source.Read(rest);
    if (!read.ok()) return std::move(read).error();
    rest.resize(*read);
    if (rest.empty()) return {};
    first = rest.find_first_not_of(" \t\r\n");
  }
  if (rest[first] != '{' && rest[first] != ']') return DescribeForeignList();
  return {};
}

int ThreadCount(int asked) {
  if (asked > 0) return std::min(asked, 256);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

base::Status ReadTail(const DocumentHead& head, BatchMerger& merger, trace::Trace& trace) {
  const MetadataText text{std::string(head.members()), merger.tail()};
  const MetadataOutcome outcome = ReadMetadata(text, trace.metadata);
  if (outcome.is_viztracer) return DescribeVizTracer();
  for (trace::Process& process : trace.processes) {
    const auto rank = outcome.process_ranks.find(trace.LabelText(process.pid));
    if (rank != outcome.process_ranks.end()) process.rank = rank->second;
  }
  if (outcome.has_second_list) trace.ledger.Add(trace::LedgerCode::second_event_list);
  const bool complete = head.is_array() || head.members_complete();
  if (!outcome.readable || !complete) trace.ledger.Add(trace::LedgerCode::bad_metadata);
  return {};
}

}  // namespace

base::Result<trace::Trace> ReadTrace(io::ByteSource& source, const ReadOptions& options) {
  auto opening = FindEventList(source);
  if (!opening.ok()) return std::move(opening).error();
  const DocumentHead& head = opening->head;
  if (head.state() != DocumentHead::State::kEvents) {
    const std::string damage = source.damage();
    return damage.empty() ? DescribeForeign(head, opening->rest) : DescribeDamage(damage);
  }
  int64_t offset = head.consumed();
  if (base::Status first = CheckFirstElement(source, opening->rest, offset); !first.ok()) {
    return std::move(first).error();
  }
  const auto n_threads = static_cast<size_t>(ThreadCount(options.threads));
  SliceSource slices(source, std::move(opening->rest), offset, options.chunk_bytes);
  BatchMerger merger(n_threads);
  if (options.counts_only) merger.assembler().CountOnly();
  SlicePipeline pipeline(slices, merger, n_threads, options, source);
  if (base::Status status = pipeline.Run(); !status.ok()) return std::move(status).error();
  merger.Close(head.is_array());
  TraceAssembler& assembler = merger.assembler();
  if (assembler.n_events() > 0 && assembler.n_events() == assembler.n_without_ph()) {
    return DescribeForeignList();
  }
  if (const std::string damage = source.damage(); !damage.empty()) {
    assembler.ledger().AddSample(trace::LedgerCode::corrupt_compression, -1, damage);
  }
  trace::Trace trace = assembler.Finish();
  if (base::Status tail = ReadTail(head, merger, trace); !tail.ok()) {
    return std::move(tail).error();
  }
  return trace;
}

}  // namespace layerscope::ingest::kineto
