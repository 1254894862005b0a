#pragma once

#include <string>

#include "src/base/stop_flag.h"

namespace layerscope::cli {

/// A person sits in front of it: a terminal, and a display that a browser could open on.
bool HasBrowser();

/// Opens an address in the desktop's browser, and waits for the program that does so. The address
/// is in no program's arguments, where others on the machine could read its token: the browser gets
/// a page of ours that leads there. Where that fails nothing happens: the address was printed.
void OpenBrowser(const std::string& url, const base::StopFlag& stop);

}  // namespace layerscope::cli
