#include "src/session/nsys_export.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/base/shell_quote.h"
#include "src/session/child_process.h"

namespace layerscope::session {
namespace {

namespace fs = std::filesystem;

/// Longer lines of a program that failed say no more.
constexpr size_t kMostSaid = 300;

/// Without --lazy: what it asks for has been the default since it exists, older versions refuse the
/// option, and the reader does not mind empty tables.
std::vector<std::string> Command(const std::string& report, const std::string& database) {
  return {"nsys", "export", "--type=sqlite", "--force-overwrite=true", "--output=" + database,
          report};
}

/// The command that a user runs, and the file that it makes.
std::string CommandText(const std::string& report) {
  const std::string database = fs::path(report).replace_extension(".sqlite").string();
  std::string text;
  for (const std::string& word : Command(report, database)) {
    text += (text.empty() ? "" : " ") + base::ShellQuoted(word);
  }
  return text;
}

/// A path that begins with a dash is no option.
std::string AsArgument(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

std::string LastLine(const std::string& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) last = line;
  }
  if (last.size() > kMostSaid) last.resize(kMostSaid);
  return last;
}

base::Error Absent(const std::string& report) {
  std::string hint =
      "run this where Nsight Systems is installed, and give the file that it makes: " +
      CommandText(report);
  const fs::path beside = fs::path(report).replace_extension(".sqlite");
  std::error_code problem;
  if (fs::is_regular_file(beside, problem)) {
    hint = fmt::format(
        "{} lies beside it: give that; or run this where Nsight Systems is "
        "installed: {}",
        beside.string(), CommandText(report));
  }
  return {base::ErrorCode::kInvalidInput,
          "this is an Nsight Systems report, and there is no nsys on PATH to export it",
          std::move(hint)};
}

base::Error Failed(const std::string& report, int status, const std::string& said) {
  return {base::ErrorCode::kInvalidInput,
          fmt::format("nsys could not export this report (exit {}){}{}", status,
                      said.empty() ? "" : ": ", said),
          "try it by hand: " + CommandText(report)};
}

}  // namespace

base::Result<NsysExport> NsysExport::Make(const std::string& report, const base::StopFlag* stop) {
  base::Result<TemporaryFolder> folder = TemporaryFolder::Create();
  if (!folder.ok()) return std::move(folder).error();
  std::string database = (fs::path(folder->path()) / "report.sqlite").string();
  const std::string log = (fs::path(folder->path()) / "nsys.log").string();
  base::Result<ChildExit> exit = RunChild(Command(AsArgument(report), database), log, stop);
  if (!exit.ok()) return std::move(exit).error();
  if (!exit->found) return Absent(report);
  std::error_code problem;
  if (exit->status != 0 || !fs::is_regular_file(database, problem)) {
    return Failed(report, exit->status, LastLine(log));
  }
  return NsysExport(*std::move(folder), std::move(database));
}

}  // namespace layerscope::session
