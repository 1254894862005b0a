#include "src/session/read_input.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "src/ingest/kineto/reader.h"
#include "src/ingest/nsys/reader.h"
#include "src/io/byte_source.h"
#include "src/session/foreign_input.h"
#include "src/session/input_kind.h"
#include "src/session/nsys_export.h"

namespace layerscope::session {
namespace {

/// What a compressed trace grows to: 12 to 20 on real files.
constexpr int64_t kInflation = 16;
/// Kept rows against decompressed bytes: about a third of the events, of 250 bytes each, become
/// rows of 100 bytes; doubled for columns that grow.
constexpr int64_t kKeptPercent = 28;
/// A row of a database is about as large as what is kept of it, columns that grow included.
constexpr int64_t kKeptOfDatabasePercent = 100;
/// Reports are packed: their databases are several times as large.
constexpr int64_t kReportGrowth = 6;
constexpr int64_t kFixedBytes = int64_t{64} << 20;

base::Result<trace::Trace> ReadKineto(const InputFile& file, const ReadInputOptions& options) {
  base::Result<std::unique_ptr<io::ByteSource>> source = io::OpenFile(file.path);
  if (!source.ok()) return std::move(source).error();
  ingest::kineto::ReadOptions read;
  read.threads = options.threads;
  if (options.chunk_bytes > 0) read.chunk_bytes = options.chunk_bytes;
  read.stop = options.stop;
  read.progress = options.progress;
  return ingest::kineto::ReadTrace(**source, read);
}

base::Result<trace::Trace> ReadDatabase(const std::string& path, const ReadInputOptions& options) {
  return ingest::nsys::ReadTrace(path, {options.threads, options.stop, options.progress});
}

/// The bytes that are told are those of the report: nobody knows the database.
base::Result<trace::Trace> ReadReport(const InputFile& file, const ReadInputOptions& options) {
  base::Result<NsysExport> database = NsysExport::Make(file.path, options.stop);
  if (!database.ok()) return std::move(database).error();
  std::error_code problem;
  const auto size = std::filesystem::file_size(database->database(), problem);
  const double scale = problem || size == 0 || file.bytes < 0
                           ? 0.0
                           : static_cast<double>(file.bytes) / static_cast<double>(size);
  ReadInputOptions read = options;
  if (options.progress) {
    read.progress = [&options, scale](int64_t bytes) {
      options.progress(static_cast<int64_t>(static_cast<double>(bytes) * scale));
    };
  }
  return ReadDatabase(database->database(), read);
}

int64_t MemoryOf(const InputFile& file) {
  switch (KindOf(file.path)) {
    case InputKind::kDatabase:
      return file.bytes / 100 * kKeptOfDatabasePercent;
    case InputKind::kReport:
      return file.bytes / 100 * kReportGrowth * kKeptOfDatabasePercent;
    case InputKind::kTrace:
      break;
  }
  const bool packed = file.path.ends_with(".gz") || file.path.ends_with(".zst");
  return file.bytes * (packed ? kInflation : 1) / 100 * kKeptPercent;
}

base::Result<trace::Trace> ReadByKind(const InputFile& file, const ReadInputOptions& options) {
  switch (KindOf(file.path)) {
    case InputKind::kDatabase:
      return ReadDatabase(file.path, options);
    case InputKind::kReport:
      return ReadReport(file, options);
    case InputKind::kTrace:
      break;
  }
  return ReadKineto(file, options);
}

}  // namespace

base::Result<trace::Trace> ReadInput(const InputFile& file, const ReadInputOptions& options) {
  base::Result<trace::Trace> read = ReadByKind(file, options);
  if (read.ok()) return read;
  return NamedByKind(file.path, std::move(read).error());
}

int64_t EstimateMemory(const std::vector<InputFile>& files) {
  int64_t bytes = kFixedBytes;
  for (const InputFile& file : files) {
    if (file.bytes >= 0) bytes += MemoryOf(file);
  }
  return bytes;
}

}  // namespace layerscope::session
