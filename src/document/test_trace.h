#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/attribution/attribution.h"
#include "src/base/check.h"
#include "src/document/trace_document.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_sink.h"
#include "src/io/byte_source.h"
#include "src/kernel_names/rule_set.h"
#include "src/layers/layer_structure.h"

namespace layerscope::document {

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

inline trace::Trace ReadText(const std::string& text) {
  const std::unique_ptr<io::ByteSource> source = io::OpenMemory(text);
  ingest::kineto::ReadOptions options;
  options.threads = 1;
  base::Result<trace::Trace> trace = ingest::kineto::ReadTrace(*source, options);
  LS_CHECK(trace.ok(), "a test's trace is readable");
  return *std::move(trace);
}

/// A trace given as text, read and attributed, for the tests of this folder.
class TestTrace {
 public:
  explicit TestTrace(std::string text)
      : text_(std::move(text)),
        rules_(*kernel_names::RuleSet::Build(
            {{.category = "gemm", .group = "GEMM", .patterns = {"gemm"}}})),
        trace_(ReadText(text_)),
        attribution_(attribution::Attribute(trace_, rules_)) {
    analysis::RankInput rank;
    rank.trace = &trace_;
    rank.attribution = &attribution_;
    rank.path = "test.json";
    ranks_.push_back(std::move(rank));
  }
  TestTrace(const TestTrace&) = delete;
  TestTrace& operator=(const TestTrace&) = delete;

  const trace::Trace& trace() const { return trace_; }
  const attribution::Attribution& attribution() const { return attribution_; }
  void SetLayers(const layers::LayerStructure* layers) { ranks_.front().layers = layers; }
  analysis::AnalysisInput input() const {
    analysis::AnalysisInput input;
    input.ranks = ranks_;
    input.rules = &rules_;
    return input;
  }
  /// The text of the document.
  std::string Write(const TraceDocument& document, CopyCounts* counts = nullptr) const {
    const std::unique_ptr<io::ByteSource> source = io::OpenMemory(text_);
    TextSink sink;
    base::Result<CopyCounts> copied = CopyTrace(*source, document.plan, {}, sink);
    LS_CHECK(copied.ok(), "a test's trace can be copied");
    if (counts != nullptr) *counts = *copied;
    return sink.text();
  }

 private:
  std::string text_;
  kernel_names::RuleSet rules_;
  trace::Trace trace_;
  attribution::Attribution attribution_;
  std::vector<analysis::RankInput> ranks_;
};

}  // namespace layerscope::document
