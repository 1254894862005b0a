#pragma once
// What a generated trace looks like. The command line fills this one struct.

#include <cstdint>
#include <string>
#include <vector>

namespace layerscope::gen {

enum class LaunchMode : uint8_t { kEager, kGraph, kPiecewise };
enum class StepNaming : uint8_t { kNone, kProfiler, kVllmOld, kVllmSquares, kVllm, kSglang };
enum class Layout : uint8_t { kTorch, kTorchLines, kCompact, kIndent };
enum class EventOrder : uint8_t { kPass, kFile, kShuffle };
enum class FieldOrder : uint8_t { kTorch, kSorted, kArgsFirst, kRandom };
enum class TimeText : uint8_t { kNanoseconds, kTrimmed, kString };
enum class Hidden : uint8_t { kNothing, kNorm, kMixer, kGemm, kFfn };
enum class Together : uint8_t { kNone, kDevices, kProcesses, kRanks };
enum class Expect : uint8_t { kByOptions, kExact, kAbstain, kReject };
enum class Ambiguity : uint8_t {
  kNone,
  kPostNorm,
  kLongcatOneStream,
  kAlternating,
  kHalves,
  kOneLayer
};

struct Options {
  uint64_t seed = 1;
  std::string output = "-";
  std::string truth;

  // Model (defaults: Qwen3-8B).
  int64_t layers = 0;  // until parsed: the model's own number
  int64_t hidden = 4096;
  int64_t heads = 32;
  int64_t kv_heads = 8;
  int64_t head_dim = 128;
  int64_t intermediate = 12288;
  int64_t vocab = 151936;
  int64_t tp = 1;

  // Work: of every `prefill_every` passes the first is a prefill (0: only the very first).
  int64_t passes = 4;
  int64_t repeat = 1;
  int64_t target_bytes = 0;
  int64_t target_events = 0;
  int64_t prefill_every = 0;
  int64_t prompt_tokens = 1024;
  int64_t requests = 8;
  bool mixed = false;
  int64_t eager_decodes = 0;

  // What is recorded.
  bool modules = true;
  bool stacks = false;
  bool shapes = true;
  bool memory_events = false;
  bool flows = true;
  bool cpu_only = false;
  bool sampler_outside = true;
  bool annotations = false;
  LaunchMode launch = LaunchMode::kEager;
  bool graph_in_scope = false;
  StepNaming steps = StepNaming::kVllm;
  int64_t side_streams = 0;
  bool dependent_launch = false;
  int64_t partial_first = 0;
  int64_t threads = 1;
  int64_t captures = 0;
  int64_t drop_activities = 0;
  int64_t drop_launches = 0;
  bool external_id_is_correlation = false;
  bool odd_names = false;

  // A model of another family (bench/gen/family.h) instead of the dense one, and what is odd in it.
  std::string family;
  std::string config;   // file for its config.json
  std::string pattern;  // letters of layer forms, repeated
  Ambiguity ambiguous = Ambiguity::kNone;
  bool amd = false;
  bool inductor = false;
  bool fused_all_reduce = false;
  int64_t cold = 0;
  int64_t foreign = 0;
  bool layer_copies = false;
  bool comm_stream = false;
  bool gpu_only = false;
  bool draft = false;
  bool micro_batches = false;
  int64_t partial_last = 0;
  Together together = Together::kNone;
  int64_t residue = 0;
  Hidden neutral = Hidden::kNothing;
  Expect expect = Expect::kByOptions;

  bool UsesFamily() const { return !family.empty() || ambiguous != Ambiguity::kNone; }

  // Counts an activity of padding is aimed at, in hundredths (0: none is added).
  int64_t frames_per_kernel = 0;
  int64_t ops_per_kernel = 0;
  int64_t calls_per_kernel = 0;

  // Document.
  int64_t ranks = 0;
  int64_t missing_rank = -1;
  bool old_format = false;
  bool bare_array = false;
  bool trailing_comma = false;
  bool string_tids = false;
  Layout layout = Layout::kTorch;
  EventOrder order = EventOrder::kPass;
  FieldOrder field_order = FieldOrder::kTorch;
  TimeText times = TimeText::kNanoseconds;
  int64_t start_ns = 4909914216204635;
};

// Fills `options` from arguments; on failure returns false and says in `error` what was wrong.
bool ParseOptions(const std::vector<std::string>& arguments, Options* options, std::string* error);

std::string HelpText();

}  // namespace layerscope::gen
