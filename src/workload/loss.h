#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace layerscope::workload {

/// Something in a readable file that could not be used, or that its reader should know.
struct Loss {
  std::string code;  ///< a stable word: "truncated"
  /// Data was lost; false: it is only worth a word.
  bool data_loss = false;
  int64_t count = 0;
  std::string message;  ///< one sentence for the user
};

/// Counts causes; each stands once in `losses`, in order of first occurrence.
class LossCounter {
 public:
  /// `message` is kept from the first of its code.
  void Add(const std::string& code, bool data_loss, const std::string& message, int64_t count = 1) {
    for (Loss& loss : losses_) {
      if (loss.code != code) continue;
      loss.count += count;
      return;
    }
    losses_.push_back({code, data_loss, count, message});
  }
  std::vector<Loss> Take() { return std::move(losses_); }

 private:
  std::vector<Loss> losses_;
};

}  // namespace layerscope::workload
