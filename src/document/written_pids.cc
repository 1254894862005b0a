#include "src/document/written_pids.h"

#include <fmt/format.h>

#include <set>

#include "src/base/string_map.h"
#include "src/document/trace_json.h"

namespace layerscope::document {
namespace {

constexpr uint64_t kBetweenSamePids = 1U << 24U;

}  // namespace

std::vector<std::string> WrittenPids(const trace::Trace& trace) {
  std::vector<std::string> pids;
  std::set<std::string> taken;
  for (const trace::Process& process : trace.processes) {
    pids.push_back(LabelJson(trace, process.pid));
    taken.insert(pids.back());
  }
  base::StringMap<uint64_t> n_of;
  for (size_t i = 0; i < pids.size(); ++i) {
    uint64_t& n = n_of[pids[i]];
    if (n == 0) {
      n = 1;
      continue;
    }
    const auto number = static_cast<uint64_t>(trace.processes[i].pid.number);
    std::string written;
    do {
      written = fmt::format("{}", static_cast<int64_t>(number + n++ * kBetweenSamePids));
    } while (!taken.insert(written).second);
    pids[i] = std::move(written);
  }
  return pids;
}

}  // namespace layerscope::document
