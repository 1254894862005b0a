#pragma once

#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/base/stop_flag.h"

namespace layerscope::session {

/// How a program that we started ended.
struct ChildExit {
  bool found = true;  ///< false: there is no such program on PATH
  int status = 0;     ///< its exit status; 128 + the signal that ended it
};

/// Runs a program of PATH to its end, without a shell: `arguments` start with its name. It reads
/// nothing, and what it says goes to the file `log`. When `stop` is requested it and all that it
/// started are ended: kCancelled. kFailed when the system refuses to start it.
base::Result<ChildExit> RunChild(const std::vector<std::string>& arguments, const std::string& log,
                                 const base::StopFlag* stop);

}  // namespace layerscope::session
