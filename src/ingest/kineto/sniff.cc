#include "src/ingest/kineto/sniff.h"

#include <algorithm>
#include <array>
#include <string>

namespace layerscope::ingest::kineto {
namespace {

constexpr std::string_view kReads =
    "layerscope reads PyTorch profiler (Kineto) traces (Chrome trace JSON with traceEvents; plain, "
    ".gz or .zst) and Nsight Systems exports (.sqlite)";

base::Error Refuse(std::string_view what, std::string_view hint = {}) {
  std::string message = "this is ";
  message += what;
  message += ", not a PyTorch profiler trace; ";
  message += kReads;
  return {base::ErrorCode::kInvalidInput, std::move(message), std::string(hint)};
}

bool Has(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view hint;
};

constexpr std::string_view kExportHint =
    "torch.profiler writes such a trace with prof.export_chrome_trace(\"trace.json.gz\")";

constexpr const char* kReportHint =
    "nsys export --type=sqlite --output=report.sqlite report.nsys-rep makes a file that is read";

/// A database or report that is a file of its own has a reader of its own; these came another way.
constexpr std::array<Magic, 8> kMagics = {{
    {"SQLite format 3", "an SQLite database that is packed or comes through a pipe",
     "unpack it, or save it to a file, and give that"},
    {"NVIDIA_NSYS", "an Nsight Systems report that is packed or comes through a pipe", kReportHint},
    {"\x7f"
     "ELF",
     "an executable", ""},
    {"PK\x03\x04", "a zip archive", "unpack it and give the trace inside"},
    {"\x80\x04", "a Python pickle (a PyTorch memory snapshot?)", kExportHint},
    {"\x80\x02", "a Python pickle (a PyTorch memory snapshot?)", kExportHint},
    {"# HELP", "Prometheus text", ""},
    {"# TYPE", "Prometheus text", ""},
}};

base::Error DescribeBytes(std::string_view begin) {
  for (const Magic& magic : kMagics) {
    if (begin.substr(0, magic.bytes.size()) == magic.bytes) return Refuse(magic.what, magic.hint);
  }
  const size_t first = begin.find_first_not_of(" \t\r\n");
  if (begin.front() == '\x0a' && begin.size() > 1 && begin[1] != '{' && begin[1] != '[' &&
      begin[1] != '\n' && begin[1] != '<') {
    return Refuse("a Perfetto protobuf trace",
                  "convert it with Perfetto's traceconv (traceconv json), or export a Chrome trace "
                  "from torch.profiler");
  }
  if (first != std::string_view::npos && begin[first] == '<') return Refuse("an HTML or XML page");
  if (begin.find('\0') != std::string_view::npos) return Refuse("a binary file of unknown kind");
  return Refuse("no JSON document");
}

base::Error DescribeObject(const DocumentHead& head, std::string_view rest) {
  const auto& keys = head.keys();
  const std::string_view begin = head.begin();
  if (Has(keys, "rocprofiler-sdk-tool")) {
    return Refuse("rocprofv3 results JSON (rocprofiler-sdk-tool)",
                  "record the same run with torch.profiler, or convert it with rocprofv3 "
                  "--output-format pftrace for Perfetto");
  }
  if (begin.find("speedscope.app/file-format-schema") != std::string_view::npos) {
    return Refuse("a speedscope profile",
                  "give the profiler's own trace from which it was converted");
  }
  if (Has(keys, "schema") && Has(keys, "nodes")) {
    return Refuse("a PyTorch execution trace (Chakra)",
                  "give the Kineto trace that was recorded beside it");
  }
  if (Has(keys, "viztracer_metadata")) return DescribeVizTracer();
  if (Has(keys, "model_type") || Has(keys, "architectures")) {
    return Refuse("a Hugging Face model config");
  }
  const size_t next = rest.find_first_not_of(" \t\r\n");
  if (next != std::string_view::npos && rest[next] == '{') {
    return Refuse(
        "JSON lines, one object a line (nsys export --type jsonlines, or a benchmark's log)",
        kReportHint);
  }
  if (Has(keys, "traceEvents")) return Refuse("a JSON object whose traceEvents is no list");
  return Refuse("a JSON object without traceEvents", kExportHint);
}

}  // namespace

base::Error DescribeEmpty() {
  return {base::ErrorCode::kInvalidInput, "the file is empty",
          "the profiler may not have finished writing it; record again and wait for export to end"};
}

base::Error DescribeDamage(std::string_view damage) {
  return {base::ErrorCode::kInvalidInput,
          "the compressed data ends before any event: " + std::string(damage),
          "the file is cut or damaged: copy it again, or record again"};
}

base::Error DescribeForeignList() {
  return Refuse("a JSON list whose elements are not events (PyTorch's memory timeline?)",
                kExportHint);
}

base::Error DescribeVizTracer() {
  return Refuse("a VizTracer trace", kExportHint);
}

base::Error DescribeForeign(const DocumentHead& head, std::string_view rest) {
  if (head.begin().empty()) return DescribeEmpty();
  switch (head.state()) {
    case DocumentHead::State::kNotAnObject:
      return DescribeBytes(head.begin());
    case DocumentHead::State::kScanning:
      if (head.begin().find_first_not_of(" \t\r\n\xEF\xBB\xBF") == std::string_view::npos) {
        return DescribeEmpty();
      }
      if (head.keys().empty()) return Refuse("a JSON object that ends before its first key");
      return Refuse("a JSON object that ends before its traceEvents",
                    "the file is cut: record again, or copy it again");
    default:
      return DescribeObject(head, rest);
  }
}

}  // namespace layerscope::ingest::kineto
