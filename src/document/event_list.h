#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/io/byte_sink.h"

namespace layerscope::document {

/// Puts the commas between events.
class EventList {
 public:
  explicit EventList(io::ByteSink& sink) : sink_(sink) {}
  base::Status Write(std::string_view event) {
    text_ = first_ ? "\n" : ",\n";
    first_ = false;
    text_ += event;
    return sink_.Write(text_);
  }

 private:
  io::ByteSink& sink_;
  bool first_ = true;
  std::string text_;
};

}  // namespace layerscope::document
