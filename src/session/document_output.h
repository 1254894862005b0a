#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/io/byte_sink.h"
#include "src/session/option.h"
#include "src/table/result.h"

namespace layerscope::session {

/// Where a document goes: to -o, written aside and renamed when it is complete, or to standard
/// output; compressed with --gzip or by the name.
class DocumentOutput {
 public:
  /// `standard_output` is used without -o and must outlive this.
  DocumentOutput(const OptionValues& options, io::ByteSink* standard_output);

  /// kUsage for names and forms of output that no document has; `what` is the document in words.
  base::Status Check(std::string_view what) const;

  /// Writes the document and finishes the sink.
  using Fill = std::function<base::Status(io::ByteSink& sink)>;
  /// Reads what was written before it appears under its name; an error drops it.
  using Verify = std::function<base::Status(const std::string& readable_path)>;
  /// The size of the file, absent on standard output. `verify` may be empty; it is not called for
  /// what cannot be read again (standard output, a pipe).
  base::Result<std::optional<int64_t>> Write(const Fill& fill, const Verify& verify) const;

  const std::optional<std::string>& path() const { return path_; }  ///< absent: standard output
  /// `document`, `path`, `compression`, `bytes`: what the envelope says of every document.
  table::Object Describe(std::string_view document, std::optional<int64_t> n_bytes) const;
  /// "out.json, 12.3 MB": the same for people.
  std::string Text(std::optional<int64_t> n_bytes) const;

 private:
  base::Status Pack(const Fill& fill, io::ByteSink& sink) const;

  std::optional<std::string> path_;
  std::optional<std::string> format_;
  bool gzip_;
  io::ByteSink* standard_output_;
};

}  // namespace layerscope::session
