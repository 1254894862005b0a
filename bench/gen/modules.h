#pragma once
// Numbers module instances as PyTorch's profiler does: `Class_k`, k in order of first call.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace layerscope::gen {

struct Module {
  int id = 0;              // dense over all classes
  int64_t number = 0;      // k
  std::string event_name;  // "nn.Module: Class_k"
  std::string_view name() const { return std::string_view(event_name).substr(11); }
};

class ModuleTable {
 public:
  // `instance` distinguishes objects of one class; its value does not show.
  const Module& Called(const std::string& module_class, int64_t instance) {
    const auto key = std::pair(module_class, instance);
    const auto found = by_instance_.find(key);
    if (found != by_instance_.end()) return *found->second;
    const int64_t number = next_number_[module_class]++;
    modules_.push_back({static_cast<int>(modules_.size()), number,
                        "nn.Module: " + module_class + "_" + std::to_string(number)});
    by_instance_[key] = &modules_.back();
    return modules_.back();
  }

  const std::deque<Module>& all() const { return modules_; }
  int64_t classes() const { return static_cast<int64_t>(next_number_.size()); }

 private:
  std::deque<Module> modules_;
  std::map<std::pair<std::string, int64_t>, const Module*> by_instance_;
  std::map<std::string, int64_t> next_number_;
};

}  // namespace layerscope::gen
