#include "src/session/view_verb.h"

#include <set>
#include <utility>

#include "src/session/registry.h"
#include "src/session/shared_options.h"
#include "src/session/view_source.h"

namespace layerscope::session {
namespace {

ViewSpec Spec() {
  ViewSpec spec;
  spec.summary = "the viewer on a local port, until Ctrl-C";
  spec.usage = "INPUT…";
  OptionSpec port = IntegerOption("port", "N", "this port and no other; 0 = one the system has");
  port.fallback = "8787 or the next one that is free";
  spec.options =
      JoinOptions({{std::move(port), FlagOption("no-open", "open no browser")}, ViewOptions()});
  const std::set<std::string> wanted = {"quiet",        "rules", "strict",      "threads",
                                        "memory-limit", "stats", "no-progress", "chunk-size"};
  for (const OptionSpec& option : CommonOptions()) {
    if (wanted.count(option.name) != 0) spec.common_options.push_back(option);
  }
  spec.examples = {HelpExample("view", {}), HelpExample("view", "--port 0 --no-open")};
  return spec;
}

}  // namespace

const ViewSpec& View() {
  static const ViewSpec kSpec = Spec();
  return kSpec;
}

}  // namespace layerscope::session
