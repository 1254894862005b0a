#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace layerscope::session {

/// What reads an input.
enum class InputKind : uint8_t {
  kTrace,     ///< a PyTorch profiler trace, or whatever its reader refuses by name
  kDatabase,  ///< an SQLite database: an export of Nsight Systems
  kReport,    ///< a report of Nsight Systems, which `nsys export` turns into a database
};

/// By content, as far as a regular file has one that can be read; `-`, pipes and compressed files
/// are traces here. Of a report only the name tells: nobody but nsys reads its bytes.
InputKind KindOf(const std::string& path);

/// `.sqlite`, as nsys names its exports: a database may be in it.
bool IsDatabaseName(std::string_view file_name);
/// `.nsys-rep`, and `.qdrep` of versions before 2021.4.
bool IsReportName(std::string_view file_name);

}  // namespace layerscope::session
