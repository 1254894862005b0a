#pragma once

#include <string>
#include <utility>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/session/temporary_folder.h"

namespace layerscope::session {

/// A report of Nsight Systems (.nsys-rep) as a database, made by `nsys export`; the database goes
/// away with this.
class NsysExport {
 public:
  /// kInvalidInput when there is no nsys on PATH or it fails, with the command in the hint;
  /// kCancelled when stopped.
  static base::Result<NsysExport> Make(const std::string& report, const base::StopFlag* stop);

  const std::string& database() const { return database_; }

 private:
  NsysExport(TemporaryFolder folder, std::string database)
      : folder_(std::move(folder)), database_(std::move(database)) {}

  TemporaryFolder folder_;
  std::string database_;
};

}  // namespace layerscope::session
