#include "src/attribution/step_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace layerscope::attribution {
namespace {

using Number = std::optional<int64_t>;

/// Beyond this JSON readers lose digits, and no engine counts that far.
constexpr int64_t kMaxNumber = int64_t{1} << 53;

/// What the engines' own int32 holds: no step serves more requests.
constexpr int64_t kMaxRequests = (int64_t{1} << 31) - 1;

/// Reads a name from left to right. What does not match is left where it is.
class NameCursor {
 public:
  explicit NameCursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool done() const { return rest_.empty(); }
  int64_t n_out_of_range() const { return n_out_of_range_; }

  bool Take(std::string_view literal) {
    if (rest_.substr(0, literal.size()) != literal) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  /// Takes an integer; false when there is none. `number` stays absent when it is out of range.
  bool TakeNumber(Number& number) {
    const bool negative = !rest_.empty() && rest_.front() == '-';
    const size_t first = negative ? 1 : 0;
    const size_t end = std::min(rest_.find_first_not_of("0123456789", first), rest_.size());
    if (end == first) return false;
    int64_t value = 0;
    const auto error = std::from_chars(rest_.data() + first, rest_.data() + end, value).ec;
    rest_.remove_prefix(end);
    if (error != std::errc() || negative || value > kMaxNumber) {
      ++n_out_of_range_;
    } else {
      number = value;
    }
    return true;
  }
  /// Takes everything up to one of `stops` or the end, which must be an integer as a whole: "1e3"
  /// is none. `number` stays absent and is counted where it is none or out of range.
  void TakeField(Number& number, std::string_view stops) {
    NameCursor field(TakeUntil(stops));
    Number value;
    if (field.TakeNumber(value) && field.done() && value) {
      number = value;
    } else {
      Drop(number);
    }
  }
  /// A count of requests, at least `least`.
  void TakeRequests(StepFields& fields, int64_t least, std::string_view stops) {
    TakeField(fields.requests, stops);
    if (fields.requests && (*fields.requests < least || *fields.requests > kMaxRequests)) {
      Drop(fields.requests);
    }
    fields.requests_dropped = !fields.requests;
  }
  /// Takes everything up to one of `stops` or the end.
  std::string_view TakeUntil(std::string_view stops) {
    const size_t end = std::min(rest_.find_first_of(stops), rest_.size());
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }
  bool AtAny(std::string_view characters) const {
    return !done() && characters.find(rest_.front()) != std::string_view::npos;
  }
  void SkipAny(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }
  /// Drops a number that another one proves wrong.
  void Drop(Number& number) {
    number.reset();
    ++n_out_of_range_;
  }

 private:
  std::string_view rest_;
  int64_t n_out_of_range_ = 0;
};

Number Sum(const Number& a, const Number& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

/// One half of a vLLM name: the requests still in their prompt, or those generating.
struct Half {
  Number requests;
  Number q;    ///< sum of query lengths = tokens
  Number kv;   ///< sum of key lengths
  Number q2;   ///< sum of squared query lengths
  Number qkv;  ///< sum of query × key lengths
};

/// A sum of products of lengths is at most the product of their sums; what lies above has wrapped
/// around in the writer.
void CheckProduct(NameCursor& cursor, Number& product, const Number& a, const Number& b) {
  if (!product || !a || !b) return;
  const double most = static_cast<double>(*a) * static_cast<double>(*b);
  if (static_cast<double>(*product) > most) cursor.Drop(product);
}

/// Lengths are whole numbers, so their squares add up to at least their sum.
void CheckSquares(NameCursor& cursor, Half& half) {
  CheckProduct(cursor, half.q2, half.q, half.q);
  if (half.q2 && half.q && *half.q2 < *half.q) cursor.Drop(half.q2);
}

/// `(6)`, `(888_788544)` or `(sq1sk2sqsq3sqsk4)`.
bool TakeHalf(NameCursor& cursor, Half& half) {
  if (!cursor.TakeNumber(half.requests) || !cursor.Take("(")) return false;
  if (cursor.Take("sq")) {
    const bool complete = cursor.TakeNumber(half.q) && cursor.Take("sk") &&
                          cursor.TakeNumber(half.kv) && cursor.Take("sqsq") &&
                          cursor.TakeNumber(half.q2) && cursor.Take("sqsk") &&
                          cursor.TakeNumber(half.qkv);
    if (!complete) return false;
    CheckProduct(cursor, half.qkv, half.q, half.kv);
  } else {
    if (!cursor.TakeNumber(half.q)) return false;
    if (cursor.Take("_") && !cursor.TakeNumber(half.q2)) return false;
    if (half.requests == 0) half.q2 = half.q2.value_or(0);
  }
  CheckSquares(cursor, half);
  return cursor.Take(")");
}

Phase PhaseOfRequests(const Number& context, const Number& generation) {
  if (!context || !generation) return Phase::kUnknown;
  const bool prefills = *context > 0;
  const bool generates = *generation > 0;
  if (prefills && generates) return Phase::kMixed;
  if (prefills) return Phase::kPrefill;
  return generates ? Phase::kDecode : Phase::kUnknown;
}

/// After `execute_`. A name in another form leaves all fields unknown.
StepFields VllmFields(NameCursor cursor) {
  StepFields fields;
  Number tokens;
  Half context;
  Half generation;
  if (!cursor.Take("context_") && !(cursor.TakeNumber(tokens) && cursor.Take("_context_"))) {
    return fields;
  }
  if (!TakeHalf(cursor, context) || !cursor.Take("_generation_") || !TakeHalf(cursor, generation)) {
    return fields;
  }
  fields.phase = PhaseOfRequests(context.requests, generation.requests);
  fields.requests = Sum(context.requests, generation.requests);
  fields.query_tokens = tokens ? tokens : Sum(context.q, generation.q);
  fields.context_requests = context.requests;
  fields.context_tokens = context.q;
  fields.generation_requests = generation.requests;
  fields.generation_tokens = generation.q;
  fields.sum_kv = Sum(context.kv, generation.kv);
  fields.sum_q2 = Sum(context.q2, generation.q2);
  fields.sum_qkv = Sum(context.qkv, generation.qkv);
  fields.n_out_of_range = cursor.n_out_of_range();
  return fields;
}

/// SGLang's ForwardMode names. Every mode with DRAFT drafts, every other EXTEND or PREFILL
/// prefills.
Phase SglangPhase(std::string_view mode) {
  const auto has = [mode](std::string_view word) {
    return mode.find(word) != std::string_view::npos;
  };
  if (has("TARGET_VERIFY")) return Phase::kTargetVerify;
  if (has("DRAFT")) return Phase::kDraft;
  if (has("MIXED")) return Phase::kMixed;
  if (has("DECODE")) return Phase::kDecode;
  if (has("EXTEND") || has("PREFILL")) return Phase::kPrefill;
  return Phase::kUnknown;
}

/// After `step[`: `DECODE bs=32]`, `EXTEND bs=15 toks=15360]`.
StepFields SglangFields(NameCursor cursor) {
  StepFields fields;
  Number tokens;
  fields.phase = SglangPhase(cursor.TakeUntil(" ]"));
  while (!cursor.done() && cursor.rest().front() != ']') {
    cursor.SkipAny(" ,");
    if (cursor.Take("bs=")) {
      cursor.TakeRequests(fields, 0, " ,]");  // an idle data-parallel rank serves none
    } else if (cursor.Take("toks=")) {
      cursor.TakeField(tokens, " ,]");
    } else {
      cursor.TakeUntil(" ,]");
    }
  }
  fields.n_out_of_range = cursor.n_out_of_range();
  fields.query_tokens = tokens;
  if (fields.phase == Phase::kDecode) {
    // Without a count each request decodes one token.
    fields.generation_requests = fields.requests;
    fields.generation_tokens = tokens ? tokens : fields.requests;
    fields.query_tokens = fields.generation_tokens;
  } else if (fields.phase == Phase::kPrefill) {
    fields.context_requests = fields.requests;
    fields.context_tokens = tokens;
  }
  return fields;
}

/// What a bench_step's own field may say.
Phase PhaseNamed(std::string_view name) {
  constexpr std::pair<std::string_view, Phase> kNames[] = {
      {"prefill", Phase::kPrefill},   {"extend", Phase::kPrefill},
      {"context", Phase::kPrefill},   {"decode", Phase::kDecode},
      {"generation", Phase::kDecode}, {"mixed", Phase::kMixed},
      {"draft", Phase::kDraft},       {"target_verify", Phase::kTargetVerify}};
  for (const auto& [known, phase] : kNames) {
    if (name == known) return phase;
  }
  return Phase::kUnknown;
}

/// After `bench_step::`: `3::bs::8::past::1024`, then perhaps further pairs of key and value.
StepFields BenchFields(NameCursor cursor) {
  StepFields fields;
  cursor.TakeField(fields.bench_number, ":");
  while (cursor.Take("::")) {
    const std::string_view key = cursor.TakeUntil(":");
    if (!cursor.Take("::")) break;
    if (key == "bs") {
      cursor.TakeRequests(fields, 1, ":");
    } else if (key == "past") {
      cursor.TakeField(fields.past, ":");
    } else {
      const std::string_view value = cursor.TakeUntil(":");
      if (key == "phase") fields.phase = PhaseNamed(value);
    }
  }
  fields.n_out_of_range = cursor.n_out_of_range();
  return fields;
}

/// After `[Executor] _forward_step`: ` 7: 1 ctx reqs, 512 ctx tks, 3 gen reqs`; without the number
/// and without tokens in older versions.
StepFields TensorRtFields(NameCursor cursor) {
  StepFields fields;
  cursor.SkipAny(" ");
  cursor.TakeNumber(fields.number);
  cursor.SkipAny(" :");
  Number generation_tokens;
  while (!cursor.done()) {
    Number count;
    if (!cursor.TakeNumber(count)) break;
    cursor.SkipAny(" ");
    const std::string_view what = cursor.TakeUntil(",");
    if (what == "ctx reqs") fields.context_requests = count;
    if (what == "ctx tks" || what == "ctx tokens") fields.context_tokens = count;
    if (what == "gen reqs") fields.generation_requests = count;
    if (what == "gen tks" || what == "gen tokens") generation_tokens = count;
    cursor.SkipAny(", ");
  }
  fields.n_out_of_range = cursor.n_out_of_range();
  if (!fields.context_requests || !fields.generation_requests) return fields;
  if (fields.context_requests == 0) fields.context_tokens = fields.context_tokens.value_or(0);
  // Without a count each request decodes one token.
  fields.generation_tokens = generation_tokens ? generation_tokens : fields.generation_requests;
  fields.phase = PhaseOfRequests(fields.context_requests, fields.generation_requests);
  fields.requests = Sum(fields.context_requests, fields.generation_requests);
  fields.query_tokens = Sum(fields.context_tokens, fields.generation_tokens);
  return fields;
}

StepFields ProfilerFields(NameCursor cursor) {
  StepFields fields;
  cursor.TakeField(fields.number, "");
  fields.n_out_of_range = cursor.n_out_of_range();
  return fields;
}

bool IsCapture(NameCursor cursor) {
  Number size;
  return cursor.TakeNumber(size) && (cursor.done() || cursor.Take("_"));
}

void FillUnknown(Number& inner, const Number& outer) {
  if (!inner) inner = outer;
}

}  // namespace

std::string_view ToString(Phase phase) {
  constexpr std::array<std::string_view, 6> kNames = {"",      "prefill", "decode",
                                                      "mixed", "draft",   "target_verify"};
  return kNames[static_cast<size_t>(phase)];
}

ParsedStep ParseStepName(std::string_view name) {
  NameCursor cursor(name);
  if (cursor.Take("execute_")) return {StepFamily::kVllm, VllmFields(cursor)};
  if (cursor.Take("step[")) return {StepFamily::kSglang, SglangFields(cursor)};
  if (cursor.Take("[Executor] _forward_step") && cursor.AtAny(" :")) {
    return {StepFamily::kTensorRt, TensorRtFields(cursor)};
  }
  if (cursor.Take("bench_step::")) return {StepFamily::kBench, BenchFields(cursor)};
  if (cursor.Take("ProfilerStep#")) return {StepFamily::kProfiler, ProfilerFields(cursor)};
  if (cursor.Take("capture_") && IsCapture(cursor)) return {StepFamily::kCapture, {}};
  return {};
}

void MergeFields(StepFields& inner, const StepFields& outer) {
  if (inner.phase == Phase::kUnknown) inner.phase = outer.phase;
  FillUnknown(inner.number, outer.number);
  FillUnknown(inner.bench_number, outer.bench_number);
  if (!inner.requests_dropped) {
    FillUnknown(inner.requests, outer.requests);
    inner.requests_dropped = !inner.requests && outer.requests_dropped;
  }
  FillUnknown(inner.query_tokens, outer.query_tokens);
  FillUnknown(inner.context_requests, outer.context_requests);
  FillUnknown(inner.context_tokens, outer.context_tokens);
  FillUnknown(inner.generation_requests, outer.generation_requests);
  FillUnknown(inner.generation_tokens, outer.generation_tokens);
  FillUnknown(inner.sum_kv, outer.sum_kv);
  FillUnknown(inner.sum_q2, outer.sum_q2);
  FillUnknown(inner.sum_qkv, outer.sum_qkv);
  FillUnknown(inner.past, outer.past);
  inner.n_out_of_range += outer.n_out_of_range;
}

}  // namespace layerscope::attribution
