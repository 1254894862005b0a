#pragma once
// One forward of a small decoder as a list of what happens: modules are called, kernels launched.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/nsys_options.h"
#include "bench/gen/nsys_rows.h"

namespace layerscope::gen {

// The modules of all processes, by path; a path's parent is the nearest known prefix.
class NsysModules {
 public:
  int32_t Id(std::string_view path);
  size_t size() const { return paths_.size(); }
  const std::string& path(int32_t id) const { return paths_[static_cast<size_t>(id)]; }
  int32_t parent(int32_t id) const { return parents_[static_cast<size_t>(id)]; }

 private:
  std::vector<std::string> paths_;
  std::vector<int32_t> parents_;
  std::map<std::string, int32_t, std::less<>> ids_;
};

struct NsysItem {
  enum class Kind : uint8_t { kOpen, kClose, kKernel, kNorm, kBeside, kComm, kCopy, kSet };
  Kind kind = Kind::kKernel;
  int32_t module = kNsysNone;  // kOpen
  int32_t name = kNsysNone;    // of the activity
  int32_t op = kNsysNone;      // the framework's op around it
  int64_t work_ns = 0;
  bool WorksOnGpu() const { return kind != Kind::kOpen && kind != Kind::kClose; }
};

// `tokens` of the batch pass through; a `graph` may hold copies.
std::vector<NsysItem> PlanNsysForward(const NsysOptions& options, int64_t tokens, bool graph,
                                      NsysNames* names, NsysModules* modules);

}  // namespace layerscope::gen
