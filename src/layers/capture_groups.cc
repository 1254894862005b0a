#include "src/layers/capture_groups.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/attribution/step.h"
#include "src/base/checked_sum.h"

namespace layerscope::layers {
namespace {

enum class CallRole : uint8_t { kNone, kBegin, kEnd, kLaunch };

CallRole RoleOf(std::string_view name) {
  const auto has = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (has("StreamBeginCapture")) return CallRole::kBegin;
  if (has("StreamEndCapture")) return CallRole::kEnd;
  return has("Launch") && !has("GraphLaunch") ? CallRole::kLaunch : CallRole::kNone;
}

/// What was captured between one begin and its end.
struct Piece {
  std::vector<Token> tokens;
  trace::AnnotationId annotation;  ///< the capture annotation around it; may be invalid
  size_t n_mixers = 0;
};

class CaptureFinder {
 public:
  CaptureFinder(const trace::Trace& trace, trace::ProcessId process, NameTraits& traits)
      : trace_(trace), process_(process), traits_(traits) {}

  std::vector<PassGroup> Find() {
    if (!FindCalls()) return {};
    FindAnnotations();
    for (size_t begin = 0; begin < calls_.size();) {
      size_t end = begin + 1;
      const trace::ThreadId thread = ThreadOf(calls_[begin]);
      while (end < calls_.size() && ThreadOf(calls_[end]) == thread) ++end;
      AddThread(thread, begin, end);
      begin = end;
    }
    return std::move(groups_);
  }

 private:
  trace::ThreadId ThreadOf(uint32_t call) const { return trace_.calls.thread[call]; }

  /// The calls of threads that capture, by (thread, start, file order). False: nothing is captured.
  bool FindCalls() {
    const trace::Calls& calls = trace_.calls;
    std::vector<uint8_t> role_known(trace_.strings.size(), 0);
    role_.resize(trace_.strings.size(), CallRole::kNone);
    std::vector<uint8_t> captures(trace_.threads.size(), 0);
    bool any = false;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      const size_t name = calls.name[i].index();
      if (std::exchange(role_known[name], uint8_t{1}) == 0) {
        role_[name] = RoleOf(trace_.strings[calls.name[i]]);
      }
      if (role_[name] != CallRole::kBegin) continue;
      const trace::ThreadId thread = ThreadOf(i);
      if (process_.valid() && trace_.threads[thread.index()].process != process_) continue;
      captures[thread.index()] = 1;
      any = true;
    }
    if (!any) return false;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      if (captures[ThreadOf(i).index()] == 0) continue;
      if (role_[calls.name[i].index()] != CallRole::kNone) calls_.push_back(i);
    }
    std::sort(calls_.begin(), calls_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(ThreadOf(a), calls.start_ns[a], a) <
             std::tuple(ThreadOf(b), calls.start_ns[b], b);
    });
    return true;
  }

  void FindAnnotations() {
    const trace::Annotations& all = trace_.annotations;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (all.is_gpu[i] != 0) continue;
      const attribution::ParsedStep parsed =
          attribution::ParseStepName(trace_.strings[all.name[i]]);
      if (parsed.family == attribution::StepFamily::kCapture) annotations_.push_back(i);
    }
    std::sort(annotations_.begin(), annotations_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(all.thread[a], all.start_ns[a], a) <
             std::tuple(all.thread[b], all.start_ns[b], b);
    });
  }

  trace::AnnotationId AnnotationAt(trace::ThreadId thread, int64_t t_ns) const {
    const trace::Annotations& all = trace_.annotations;
    const auto after =
        std::upper_bound(annotations_.begin(), annotations_.end(), std::pair(thread, t_ns),
                         [&](const auto& wanted, uint32_t row) {
                           return wanted < std::pair(all.thread[row], all.start_ns[row]);
                         });
    if (after == annotations_.begin()) return {};
    const uint32_t row = *(after - 1);
    const int64_t end_ns = base::AddClamped(all.start_ns[row], all.dur_ns[row]);
    return all.thread[row] == thread && t_ns < end_ns ? trace::AnnotationId(row)
                                                      : trace::AnnotationId();
  }

  void AddThread(trace::ThreadId thread, size_t begin, size_t end) {
    const trace::Calls& calls = trace_.calls;
    std::vector<Piece> pieces;
    int open = 0;
    int64_t open_from_ns = 0;
    for (size_t i = begin; i < end; ++i) {
      const uint32_t call = calls_[i];
      const int64_t t_ns = calls.start_ns[call];
      switch (role_[calls.name[call].index()]) {
        case CallRole::kBegin:
          if (open++ > 0) break;
          open_from_ns = base::AddClamped(t_ns, calls.dur_ns[call]);
          pieces.emplace_back().annotation = AnnotationAt(thread, t_ns);
          break;
        case CallRole::kEnd:
          if (open > 0) --open;
          break;
        case CallRole::kLaunch:
          if (open > 0 && t_ns >= open_from_ns) AddLaunch(call, pieces.back());
          break;
        case CallRole::kNone:
          break;
      }
    }
    std::erase_if(pieces, [](const Piece& piece) { return piece.tokens.empty(); });
    Join(thread, pieces);
  }

  void AddLaunch(uint32_t call, Piece& piece) {
    const trace::StringId kernel = trace_.calls.KernelOf(call);
    Token token;
    token.row = call;
    token.name = static_cast<uint32_t>((kernel.valid() ? kernel : trace_.calls.name[call]).index());
    if (kernel.valid()) token.traits = traits_.Of(kernel);
    piece.n_mixers += IsMixer(token) ? 1 : 0;
    piece.tokens.push_back(token);
  }

  void Join(trace::ThreadId thread, std::vector<Piece>& pieces) {
    for (size_t begin = 0; begin < pieces.size();) {
      size_t end = begin + 1;
      const trace::AnnotationId around = pieces[begin].annotation;
      while (end < pieces.size() && pieces[end].annotation == around) ++end;
      const std::span<Piece> run(pieces.data() + begin, end - begin);
      const size_t n_each = around.valid() ? run.size() : PiecesPerCapture(run);
      for (size_t i = 0; i < run.size(); i += n_each) {
        AddCapture(thread, run.subspan(i, std::min(n_each, run.size() - i)));
      }
      begin = end;
    }
  }

  /// How many pieces make one capture, where no annotation says it.
  static size_t PiecesPerCapture(std::span<const Piece> run) {
    if (run.size() == 1) return 1;
    const bool full =
        std::any_of(run.begin(), run.end(), [](const Piece& piece) { return piece.n_mixers >= 2; });
    if (full) return 1;
    const auto size_of = [&](size_t i) { return run[i].tokens.size(); };
    // Captures of several batch sizes repeat the sizes of their pieces.
    for (size_t period = 2; period * 2 <= run.size(); ++period) {
      if (run.size() % period != 0 || size_of(0) == size_of(1)) continue;
      size_t i = period;
      while (i < run.size() && size_of(i) == size_of(i - period)) ++i;
      if (i == run.size()) return period;
    }
    const bool has_mixer =
        std::any_of(run.begin(), run.end(), [](const Piece& piece) { return piece.n_mixers > 0; });
    // The pieces between two attentions are alike, the first and the last are not.
    const size_t middle = size_of(run.size() / 2);
    const auto n_alike = static_cast<size_t>(std::count_if(
        run.begin(), run.end(), [&](const Piece& piece) { return piece.tokens.size() == middle; }));
    const bool ends_differ = size_of(0) != middle && size_of(run.size() - 1) != middle;
    const bool one = has_mixer || (run.size() >= 4 && ends_differ && n_alike * 2 > run.size());
    return one ? run.size() : 1;
  }

  void AddCapture(trace::ThreadId thread, std::span<Piece> pieces) {
    PassGroup group;
    group.kind = PassKind::kCapture;
    group.thread = thread;
    for (Piece& piece : pieces) {
      if (!group.tokens.empty()) piece.tokens.front().seam_before = true;
      group.tokens.insert(group.tokens.end(), piece.tokens.begin(), piece.tokens.end());
    }
    group.start_ns = trace_.calls.start_ns[group.tokens.front().row];
    groups_.push_back(std::move(group));
  }

  const trace::Trace& trace_;
  const trace::ProcessId process_;
  NameTraits& traits_;
  std::vector<CallRole> role_;         // by StringId index
  std::vector<uint32_t> calls_;        // by (thread, start, file order)
  std::vector<uint32_t> annotations_;  // of captures, by (thread, start, file order)
  std::vector<PassGroup> groups_;
};

}  // namespace

std::vector<PassGroup> BuildCaptureGroups(const trace::Trace& trace, trace::ProcessId process,
                                          NameTraits& traits) {
  return CaptureFinder(trace, process, traits).Find();
}

bool NamesItsKernels(const trace::Trace& trace, const PassGroup& capture) {
  return std::all_of(capture.tokens.begin(), capture.tokens.end(),
                     [&](const Token& token) { return trace.calls.KernelOf(token.row).valid(); });
}

}  // namespace layerscope::layers
