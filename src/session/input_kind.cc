#include "src/session/input_kind.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "src/ingest/nsys/reader.h"

namespace layerscope::session {
namespace {

constexpr std::string_view kReportMagic = "NVIDIA_NSYS";

/// The first bytes; empty for what cannot be opened, or only once.
std::string Begin(const std::string& path) {
  std::error_code problem;
  if (path == "-" || !std::filesystem::is_regular_file(path, problem)) return {};
  std::array<char, 64> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<size_t>(file.gcount())};
}

bool IsJson(std::string_view begin) {
  const size_t first = begin.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (begin[first] == '{' || begin[first] == '[');
}

}  // namespace

InputKind KindOf(const std::string& path) {
  const std::string begin = Begin(path);
  if (begin.empty()) return InputKind::kTrace;
  if (ingest::nsys::IsDatabase(begin)) return InputKind::kDatabase;
  const bool is_report = begin.starts_with(kReportMagic) || (IsReportName(path) && !IsJson(begin));
  return is_report ? InputKind::kReport : InputKind::kTrace;
}

bool IsDatabaseName(std::string_view file_name) {
  return file_name.ends_with(".sqlite");
}

bool IsReportName(std::string_view file_name) {
  return file_name.ends_with(".nsys-rep") || file_name.ends_with(".qdrep");
}

}  // namespace layerscope::session
