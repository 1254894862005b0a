#include "src/replay/capture_recordings.h"

#include <charconv>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/attribution/captured_pieces.h"
#include "src/attribution/innermost_index.h"
#include "src/attribution/key_index.h"
#include "src/attribution/lane_order.h"
#include "src/layers/capture_groups.h"
#include "src/replay/stream_chains.h"

namespace layerscope::replay {
namespace {

using attribution::CapturedCall;
using attribution::CapturedPiece;

template <typename Rows>
attribution::InnermostIndex IndexOf(const trace::Trace& trace, const Rows& rows) {
  const attribution::Intervals intervals{rows.start_ns, rows.dur_ns};
  return {attribution::LaneOrder::Build(std::span<const trace::ThreadId>(rows.thread),
                                        trace.threads.size(), intervals),
          intervals};
}

class CaptureReader {
 public:
  explicit CaptureReader(const SideTrace& source)
      : source_(source), trace_(*source.trace), chains_(*source.trace) {}

  std::vector<Recording> Read() {
    std::vector<CapturedPiece> pieces = attribution::FindCapturedPieces(trace_, {});
    layers::KeepLaunching(pieces);
    if (pieces.empty()) return {};
    scopes_ = IndexOf(trace_, trace_.scopes);
    ops_ = IndexOf(trace_, trace_.ops);
    IndexExternalIds();
    layers::NameTraits traits(trace_);
    std::vector<Recording> recordings;
    for (const layers::CapturedForward& forward : layers::JoinPieces(trace_, pieces, traits)) {
      Recording& recording = recordings.emplace_back();
      recording.source = &source_;
      recording.batch = source_.batch;
      ReadAnnotation(pieces[forward.begin].annotation, recording);
      for (size_t i = forward.begin; i < forward.end; ++i) {
        recording.pieces.push_back(PieceOf(pieces[i]));
      }
    }
    return recordings;
  }

 private:
  void IndexExternalIds() {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < trace_.ops.size(); ++row) {
      if (trace_.ops.external_id[row] != trace::kNoExternalId) rows.push_back(row);
    }
    by_external_id_ = attribution::KeyIndex(trace_.ops.external_id, rows);
  }

  void ReadAnnotation(trace::AnnotationId around, Recording& recording) const {
    if (!around.valid()) return;
    const std::string_view name = trace_.strings[trace_.annotations.name[around.index()]];
    constexpr std::string_view kPrefix = "capture_";
    if (!name.starts_with(kPrefix)) return;
    const char* const end = name.data() + name.size();
    int64_t batch = 0;
    const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, batch);
    if (error != std::errc()) return;
    recording.batch = batch;
    if (rest != end) recording.mode.assign(rest + 1, end);
  }

  RecordedPiece PieceOf(const CapturedPiece& captured) {
    RecordedPiece piece;
    piece.names_kernels = true;
    std::vector<NodeLaunch> launches;
    for (const CapturedCall& call : captured.calls) {
      piece.nodes.push_back(NodeOf(captured.thread, call));
      launches.push_back({captured.thread, trace_.calls.start_ns[call.call], {}});
      const RecordedNode& node = piece.nodes.back();
      if (node.kind == NodeKind::kKernel && !node.kernel.valid()) piece.names_kernels = false;
    }
    chains_.Number(launches, piece);
    return piece;
  }

  RecordedNode NodeOf(trace::ThreadId thread, const CapturedCall& call) {
    RecordedNode node;
    node.row = call.call;
    if (call.kind == CapturedCall::Kind::kCopy) node.kind = NodeKind::kCopy;
    if (call.kind == CapturedCall::Kind::kSet) node.kind = NodeKind::kSet;
    node.kernel = trace_.calls.KernelOf(call.call);
    const int64_t t_ns = trace_.calls.start_ns[call.call];
    const uint32_t scope = scopes_.Find(thread.index(), t_ns);
    if (scope != attribution::kNoRow) node.scope = trace::ScopeId(scope);
    const uint32_t op = ops_.Find(thread.index(), t_ns);
    node.op = op != attribution::kNoRow ? trace::OpId(op) : OpByExternalId(thread, call.call);
    return node;
  }

  /// For calls that no op contains in time: an op of the same thread that the call names.
  trace::OpId OpByExternalId(trace::ThreadId thread, uint32_t call) const {
    const int64_t id = trace_.calls.external_id[call];
    if (id == trace::kNoExternalId) return {};
    const std::span<const uint32_t> found = by_external_id_.Find(id);
    if (found.empty() || trace_.ops.thread[found.back()] != thread) return {};
    return trace::OpId(found.back());
  }

  const SideTrace& source_;
  const trace::Trace& trace_;
  const StreamChains chains_;
  attribution::InnermostIndex scopes_;
  attribution::InnermostIndex ops_;
  attribution::KeyIndex by_external_id_;
};

}  // namespace

std::vector<Recording> FindCaptures(const SideTrace& source) {
  return CaptureReader(source).Read();
}

}  // namespace layerscope::replay
