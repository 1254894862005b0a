#include "src/session/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace layerscope::session {

base::Result<TemporaryFolder> TemporaryFolder::Create() {
  std::error_code problem;
  const std::filesystem::path root = std::filesystem::temp_directory_path(problem);
  std::string path =
      ((problem ? std::filesystem::path("/tmp") : root) / "layerscope-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return base::Error{base::ErrorCode::kFailed,
                       fmt::format("no temporary folder can be made in {}: {}", root.string(),
                                   std::generic_category().message(errno)),
                       "set TMPDIR to a folder that can be written"};
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace layerscope::session
