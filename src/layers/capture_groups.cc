#include "src/layers/capture_groups.h"

#include <algorithm>
#include <utility>

namespace layerscope::layers {
namespace {

using attribution::CapturedCall;
using attribution::CapturedPiece;

bool IsLaunch(const CapturedCall& call) {
  return call.kind == CapturedCall::Kind::kKernel;
}

/// What tells the pieces of one forward from those of the next.
struct PieceSize {
  size_t n_launches = 0;
  size_t n_mixers = 0;
};

PieceSize SizeOf(const trace::Trace& trace, const CapturedPiece& piece, NameTraits& traits) {
  PieceSize size;
  for (const CapturedCall& call : piece.calls) {
    if (!IsLaunch(call)) continue;
    ++size.n_launches;
    const trace::StringId kernel = trace.calls.KernelOf(call.call);
    if (kernel.valid() && traits.Of(kernel).kind == KernelClass::kMixer) ++size.n_mixers;
  }
  return size;
}

/// How many pieces make one capture, where no annotation says it.
size_t PiecesPerCapture(std::span<const PieceSize> run) {
  if (run.size() == 1) return 1;
  const bool full = std::any_of(run.begin(), run.end(),
                                [](const PieceSize& piece) { return piece.n_mixers >= 2; });
  if (full) return 1;
  const auto size_of = [&](size_t i) { return run[i].n_launches; };
  // Captures of several batch sizes repeat the sizes of their pieces.
  for (size_t period = 2; period * 2 <= run.size(); ++period) {
    if (run.size() % period != 0 || size_of(0) == size_of(1)) continue;
    size_t i = period;
    while (i < run.size() && size_of(i) == size_of(i - period)) ++i;
    if (i == run.size()) return period;
  }
  const bool has_mixer = std::any_of(run.begin(), run.end(),
                                     [](const PieceSize& piece) { return piece.n_mixers > 0; });
  // The pieces between two attentions are alike, the first and the last are not.
  const size_t middle = size_of(run.size() / 2);
  const auto n_alike = static_cast<size_t>(std::count_if(
      run.begin(), run.end(), [&](const PieceSize& piece) { return piece.n_launches == middle; }));
  const bool ends_differ = size_of(0) != middle && size_of(run.size() - 1) != middle;
  const bool one = has_mixer || (run.size() >= 4 && ends_differ && n_alike * 2 > run.size());
  return one ? run.size() : 1;
}

Token TokenOf(const trace::Trace& trace, uint32_t call, NameTraits& traits) {
  const trace::StringId kernel = trace.calls.KernelOf(call);
  Token token;
  token.row = call;
  token.name = static_cast<uint32_t>((kernel.valid() ? kernel : trace.calls.name[call]).index());
  if (kernel.valid()) token.traits = traits.Of(kernel);
  return token;
}

PassGroup GroupOf(const trace::Trace& trace, std::span<const CapturedPiece> pieces,
                  NameTraits& traits) {
  PassGroup group;
  group.kind = PassKind::kCapture;
  group.thread = pieces.front().thread;
  for (const CapturedPiece& piece : pieces) {
    const size_t first = group.tokens.size();
    for (const CapturedCall& call : piece.calls) {
      if (IsLaunch(call)) group.tokens.push_back(TokenOf(trace, call.call, traits));
    }
    if (first > 0) group.tokens[first].seam_before = true;
  }
  group.start_ns = trace.calls.start_ns[group.tokens.front().row];
  return group;
}

}  // namespace

std::vector<CapturedForward> JoinPieces(const trace::Trace& trace,
                                        std::span<const CapturedPiece> pieces, NameTraits& traits) {
  std::vector<CapturedForward> forwards;
  for (size_t begin = 0; begin < pieces.size();) {
    const CapturedPiece& first = pieces[begin];
    std::vector<PieceSize> run;
    while (begin + run.size() < pieces.size()) {
      const CapturedPiece& piece = pieces[begin + run.size()];
      if (piece.thread != first.thread || piece.annotation != first.annotation) break;
      run.push_back(SizeOf(trace, piece, traits));
    }
    const size_t n_each = first.annotation.valid() ? run.size() : PiecesPerCapture(run);
    const size_t end = begin + run.size();
    for (; begin < end; begin += n_each) forwards.push_back({begin, std::min(end, begin + n_each)});
    begin = end;
  }
  return forwards;
}

void KeepLaunching(std::vector<CapturedPiece>& pieces) {
  std::erase_if(pieces, [](const CapturedPiece& piece) {
    return std::none_of(piece.calls.begin(), piece.calls.end(), IsLaunch);
  });
}

std::vector<PassGroup> BuildCaptureGroups(const trace::Trace& trace, trace::ProcessId process,
                                          NameTraits& traits) {
  std::vector<CapturedPiece> pieces = attribution::FindCapturedPieces(trace, process);
  KeepLaunching(pieces);
  std::vector<PassGroup> groups;
  for (const CapturedForward& forward : JoinPieces(trace, pieces, traits)) {
    groups.push_back(GroupOf(
        trace, std::span(pieces).subspan(forward.begin, forward.end - forward.begin), traits));
  }
  return groups;
}

bool NamesItsKernels(const trace::Trace& trace, const PassGroup& capture) {
  return std::all_of(capture.tokens.begin(), capture.tokens.end(),
                     [&](const Token& token) { return trace.calls.KernelOf(token.row).valid(); });
}

}  // namespace layerscope::layers
