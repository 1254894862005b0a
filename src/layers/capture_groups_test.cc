#include "src/layers/capture_groups.h"

#include <gtest/gtest.h>

#include "tests/support/decoder_trace.h"

namespace layerscope::layers {
namespace {

using Names = std::vector<std::string>;

/// Records captures: pieces between a begin and an end, with the calls around them.
class CaptureTrace {
 public:
  void Piece(const Names& names) {
    Call("hipStreamBeginCapture");
    for (const std::string& name : names) {
      build_.LaunchOf(thread(), "hipLaunchKernel", name, t_ns_ += 1'000, ++correlation_);
    }
    Call("hipStreamEndCapture");
    Call("hipGraphInstantiate");
  }
  void Annotate(std::string_view name, int64_t from_ns) {
    build_.Annotation(thread(), name, from_ns, t_ns_ - from_ns + 1);
  }
  int64_t now_ns() const { return t_ns_; }
  trace::ThreadId thread() { return build_.Thread(1, 1); }
  void Call(std::string_view name) { build_.Call(thread(), name, t_ns_ += 1'000, ++correlation_); }
  trace::Trace Build() { return std::move(build_).Build(); }

 private:
  tests::TraceBuilder build_;
  int64_t t_ns_ = 0;
  int64_t correlation_ = 0;
};

std::vector<PassGroup> CapturesOf(const trace::Trace& trace) {
  NameTraits traits(trace);
  return BuildCaptureGroups(trace, {}, traits);
}

/// The pieces of a piecewise capture of `n` layers: attention itself runs between them.
std::vector<Names> PiecesOf(size_t n) {
  std::vector<Names> pieces(1);
  for (const std::string& name : DecoderTrace::PassNames(n)) {
    if (name.find("flash") != std::string::npos) {
      pieces.emplace_back();
    } else {
      pieces.back().push_back(name);
    }
  }
  return pieces;
}

TEST(BuildCaptureGroups, MakesOneOfEveryFullGraph) {
  CaptureTrace of;
  of.Piece(DecoderTrace::PassNames(3));
  of.Call("hipLaunchKernel");  // outside of a capture
  of.Piece(DecoderTrace::PassNames(3));
  const trace::Trace trace = of.Build();
  const std::vector<PassGroup> captures = CapturesOf(trace);
  ASSERT_EQ(captures.size(), 2U);
  EXPECT_EQ(captures[0].tokens.size(), 28U) << "3 * 8 + 4";
  EXPECT_EQ(captures[1].tokens.size(), 28U);
  EXPECT_TRUE(NamesItsKernels(trace, captures[0]));
}

TEST(BuildCaptureGroups, JoinsThePiecesOfOneCapture) {
  CaptureTrace of;
  for (const Names& piece : PiecesOf(4)) of.Piece(piece);
  for (const Names& piece : PiecesOf(4)) of.Piece(piece);
  const trace::Trace trace = of.Build();
  const std::vector<PassGroup> captures = CapturesOf(trace);
  ASSERT_EQ(captures.size(), 2U) << "sizes 3, 7, 7, 7, 8 twice";
  EXPECT_EQ(captures[0].tokens.size(), 32U) << "4 * 7 + 4";
  size_t n_seams = 0;
  for (const Token& token : captures[0].tokens) n_seams += token.seam_before ? 1 : 0;
  EXPECT_EQ(n_seams, 4U) << "one for each attention";
}

TEST(BuildCaptureGroups, GoesByAnnotationsWhereThereAreSome) {
  CaptureTrace of;
  for (int i = 0; i < 2; ++i) {
    const int64_t from_ns = of.now_ns();
    of.Piece({"norm", "gemm"});
    of.Piece({"norm", "gemm"});
    of.Annotate("capture_8_PIECEWISE", from_ns);
    of.Call("hipDeviceSynchronize");
  }
  const trace::Trace trace = of.Build();
  const std::vector<PassGroup> captures = CapturesOf(trace);
  ASSERT_EQ(captures.size(), 2U);
  EXPECT_EQ(captures[0].tokens.size(), 4U);
}

TEST(BuildCaptureGroups, SurvivesCapturesThatNeverEndAndEndsThatNeverBegan) {
  CaptureTrace of;
  of.Call("hipStreamEndCapture");
  of.Call("hipStreamBeginCapture");
  of.Call("hipStreamBeginCapture");
  of.Call("hipLaunchKernel");
  const trace::Trace trace = of.Build();
  const std::vector<PassGroup> captures = CapturesOf(trace);
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_FALSE(NamesItsKernels(trace, captures[0]));
}

}  // namespace
}  // namespace layerscope::layers
