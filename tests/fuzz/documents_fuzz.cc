// The documents of any trace that can be read: what `annotate` and `cut` write is strict JSON and
// reads back to as many events as were meant.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/check.h"
#include "src/document/annotate.h"
#include "src/document/cut.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_sink.h"
#include "src/io/byte_source.h"
#include "src/json/document.h"
#include "src/layers/find_layers.h"
#include "src/model/profile.h"
#include "src/model/rules.h"

#include "tests/fuzz/target.h"

namespace {

using namespace layerscope;

class TextSink : public io::ByteSink {
 public:
  base::Status Write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

base::Result<trace::Trace> Read(std::string_view text) {
  const auto source = io::OpenMemory(text);
  ingest::kineto::ReadOptions options;
  options.threads = 1;
  options.chunk_bytes = size_t{16} << 10;
  return ingest::kineto::ReadTrace(*source, options);
}

/// Deeper than json::ParseDocument goes?
bool IsDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') ++i;
    if (i < text.size() && text[i] == '"') in_string = !in_string;
    if (in_string || i >= text.size()) continue;
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '}' || text[i] == ']') --depth;
    if (depth >= json::kMaxDepth) return true;
  }
  return false;
}

void CheckCopy(std::string_view input, const document::TraceDocument& made) {
  const auto source = io::OpenMemory(input);
  TextSink sink;
  const auto counts = document::CopyTrace(*source, made.plan, {}, sink);
  LS_CHECK(counts.ok(), "a trace that was read can be copied");
  const std::string& text = sink.text();
  if (!IsDeep(text)) {
    const auto parsed = json::ParseDocument(text);
    LS_CHECK(parsed.ok(), "a document is strict JSON");
    const json::Node* const events = parsed->IsArray() ? &*parsed : parsed->Find("traceEvents");
    LS_CHECK(
        events != nullptr && static_cast<int64_t>(events->items().size()) == counts->n_written(),
        "a document holds the events that were written");
  }
  const auto back = Read(text);
  LS_CHECK(back.ok() && back->counts.n_events == counts->n_written(),
           "a document reads back to the events that were written");
}

/// Selections that take other paths; one is picked by the input's size.
std::vector<analysis::Selection> Selections() {
  std::vector<analysis::Selection> all(7);
  all[0].steps = {0, 0};
  all[1].passes = {0, 1};
  all[2].phase = "decode";
  all[3].from_ns = 0;
  all[3].to_ns = 50'000;
  all[4].without_communication = true;
  all[5].from_ns = 1;
  all[6].passes = {0, 1000};
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rules = model::LoadRuleSet("");
  LS_CHECK(rules.ok(), "the rules that are built in load");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto trace = Read(text);
  if (!trace.ok()) return 0;
  const attribution::Attribution attribution = attribution::Attribute(*trace, *rules);
  layers::LayerOptions options;
  options.profile = model::ChooseProfile(nullptr).profile;
  const auto layers = layers::FindLayers(*trace, attribution, options);
  analysis::RankInput rank;
  rank.trace = &*trace;
  rank.attribution = &attribution;
  rank.path = "fuzz.json";
  if (layers.ok()) rank.layers = &*layers;
  analysis::AnalysisInput input;
  input.ranks = {&rank, 1};
  input.rules = &*rules;
  input.profile = options.profile;
  document::AnnotateOptions annotate;
  annotate.modules = size % 2 == 0;
  const auto annotated = document::BuildAnnotation(input, annotate);
  LS_CHECK(annotated.ok(), "a trace with or without layers can be annotated");
  CheckCopy(text, *annotated);
  const std::vector<analysis::Selection> selections = Selections();
  const auto cut = document::BuildCut(input, selections[size / 2 % selections.size()]);
  if (cut.ok()) CheckCopy(text, *cut);
  return 0;
}
