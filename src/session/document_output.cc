#include "src/session/document_output.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "src/base/format_number.h"
#include "src/io/atomic_output.h"
#include "src/io/gzip_sink.h"
#include "src/table/or_null.h"

namespace layerscope::session {
namespace {

/// Endings that promise something else than the JSON that a document is: who finds such a file
/// would open it with the wrong program.
constexpr std::pair<std::string_view, std::string_view> kOtherKinds[] = {
    {".zst", "zstd"},
    {".sqlite", "a database"},
    {".sqlite3", "a database"},
    {".db", "a database"},
    {".nsys-rep", "a report of Nsight Systems"},
    {".csv", "CSV"},
    {".parquet", "Parquet"},
    {".arrow", "Arrow"},
    {".md", "Markdown"},
    {".html", "HTML"},
    {".pftrace", "Perfetto's binary form"},
    {".zip", "a zip archive"},
};

/// Counts what reaches the file.
class FileSink : public io::ByteSink {
 public:
  explicit FileSink(io::AtomicOutput& file) : file_(file) {}
  base::Status Write(std::string_view bytes) override {
    n_bytes_ += static_cast<int64_t>(bytes.size());
    return file_.Write(bytes);
  }
  int64_t n_bytes() const { return n_bytes_; }

 private:
  io::AtomicOutput& file_;
  int64_t n_bytes_ = 0;
};

}  // namespace

DocumentOutput::DocumentOutput(const OptionValues& options, io::ByteSink* standard_output)
    : path_(options.Text("output")),
      format_(options.Text("format")),
      gzip_(options.Flag("gzip") || (path_ && path_->ends_with(".gz"))),
      standard_output_(standard_output) {}

base::Status DocumentOutput::Check(std::string_view what) const {
  if (!path_ && format_.value_or("json") != "json") {
    return base::UsageError(
        fmt::format("--format {} goes with -o FILE: without it the {} itself goes to "
                    "standard output",
                    *format_, what),
        "give -o FILE");
  }
  if (!path_) return {};
  for (const auto& [ending, kind] : kOtherKinds) {
    if (!path_->ends_with(ending)) continue;
    return base::UsageError(fmt::format("-o {}: {}s are not written as {}", *path_, what, kind),
                            "what is written is JSON: name it .json or .json.gz");
  }
  return {};
}

base::Result<std::optional<int64_t>> DocumentOutput::Write(const Fill& fill,
                                                           const Verify& verify) const {
  if (!path_) {
    if (base::Status done = Pack(fill, *standard_output_); !done.ok()) {
      return std::move(done).error();
    }
    return std::optional<int64_t>();
  }
  base::Result<io::AtomicOutput> file = io::AtomicOutput::Create(*path_);
  if (!file.ok()) return std::move(file).error();
  FileSink sink(*file);
  if (base::Status done = Pack(fill, sink); !done.ok()) return std::move(done).error();
  base::Result<std::string> readable = file->ReadablePath();
  if (!readable.ok()) return std::move(readable).error();
  if (verify && !readable->empty()) {
    if (base::Status good = verify(*readable); !good.ok()) return std::move(good).error();
  }
  if (base::Status done = file->Commit(); !done.ok()) return std::move(done).error();
  return std::optional<int64_t>(sink.n_bytes());
}

base::Status DocumentOutput::Pack(const Fill& fill, io::ByteSink& sink) const {
  if (!gzip_) return fill(sink);
  io::GzipSink packed(sink);
  return fill(packed);
}

table::Object DocumentOutput::Describe(std::string_view document,
                                       std::optional<int64_t> n_bytes) const {
  return {{"document", document},
          {"path", table::TextOrNull(path_.value_or(""))},
          {"compression", gzip_ ? "gzip" : "none"},
          {"bytes", table::OrNull(n_bytes)}};
}

std::string DocumentOutput::Text(std::optional<int64_t> n_bytes) const {
  return path_.value_or("standard output") +
         (n_bytes ? ", " + base::FormatBytes(*n_bytes) : std::string());
}

}  // namespace layerscope::session
