#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/hash.h"
#include "src/ingest/kineto/batch.h"
#include "src/ingest/kineto/dictionary.h"
#include "src/ingest/kineto/event_class.h"

namespace layerscope::ingest::kineto {

/// Counts events by ph and cat, and knows the class of each cat. A trace has a dozen of these pairs
/// and millions of events, so the usual path is two small array look-ups.
class KindCounter {
 public:
  struct Cat {
    trace::StringId name;
    EventClass event_class = EventClass::kOther;
    size_t index = 0;
  };

  /// `cat` is the text between the quotes; on first sight its escapes are resolved and it is
  /// interned.
  const Cat& FindCat(std::string_view cat, Dictionary& dictionary);
  void Count(std::string_view ph, const Cat& cat, Dictionary& dictionary);
  /// Appends the non-zero counts to the batch, in order of first sight, and starts again at zero.
  void Flush(Batch& batch);

 private:
  static constexpr size_t kCacheSlots = 64;
  static constexpr size_t kFastCats = 256;
  static constexpr size_t kFastPhs = 128;

  size_t Combination(std::string_view ph, const Cat& cat, Dictionary& dictionary);

  // Cats are stored in one vector of at most a few entries; a hostile file may have many.
  std::vector<std::pair<std::string_view, Cat>> cats_;
  tsl::robin_map<std::string_view, size_t> cat_ids_;
  std::array<uint32_t, kCacheSlots> cache_{};  ///< index + 1 into cats_

  std::vector<Batch::KindCount> totals_;
  std::vector<uint32_t> fast_;  ///< [cat index × 128 + ph] -> index + 1 into totals_
  tsl::robin_map<uint64_t, size_t, base::MixHash> slow_;
};

}  // namespace layerscope::ingest::kineto
