#include "src/ingest/kineto/kind_counter.h"

#include <string>

#include "src/ingest/kineto/token.h"

namespace layerscope::ingest::kineto {
namespace {

size_t CacheSlot(std::string_view cat, size_t slots) {
  if (cat.empty()) return 0;
  const auto first = static_cast<unsigned char>(cat.front());
  const auto last = static_cast<unsigned char>(cat.back());
  return (cat.size() * 7 + first * 3U + last) % slots;
}

}  // namespace

const KindCounter::Cat& KindCounter::FindCat(std::string_view cat, Dictionary& dictionary) {
  const size_t slot = CacheSlot(cat, kCacheSlots);
  if (cache_[slot] != 0) {
    const auto& [text, entry] = cats_[cache_[slot] - 1];
    if (text == cat) return entry;
  }
  auto found = cat_ids_.find(cat);
  if (found == cat_ids_.end()) {
    std::string text;
    Unescape(cat, text);
    const std::string_view raw = dictionary.strings()[dictionary.String(cat)];
    cats_.push_back({raw, {dictionary.String(text), ClassifyCategory(text), cats_.size()}});
    found = cat_ids_.emplace(raw, cats_.size() - 1).first;
  }
  cache_[slot] = static_cast<uint32_t>(found->second + 1);
  return cats_[found->second].second;
}

size_t KindCounter::Combination(std::string_view ph, const Cat& cat, Dictionary& dictionary) {
  const trace::StringId ph_id = dictionary.String(ph);
  const uint64_t key = (static_cast<uint64_t>(ph_id.index()) << 32) | cat.name.index();
  const auto found = slow_.find(key);
  if (found != slow_.end()) return found->second;
  totals_.push_back({ph_id, cat.name, 0});
  slow_.emplace(key, totals_.size() - 1);
  return totals_.size() - 1;
}

void KindCounter::Count(std::string_view ph, const Cat& cat, Dictionary& dictionary) {
  const bool fast =
      ph.size() == 1 && static_cast<unsigned char>(ph[0]) < kFastPhs && cat.index < kFastCats;
  if (!fast) {
    ++totals_[Combination(ph, cat, dictionary)].n;
    return;
  }
  const size_t at = cat.index * kFastPhs + static_cast<unsigned char>(ph[0]);
  if (at >= fast_.size()) fast_.resize((cat.index + 1) * kFastPhs);
  if (fast_[at] == 0) fast_[at] = static_cast<uint32_t>(Combination(ph, cat, dictionary) + 1);
  ++totals_[fast_[at] - 1].n;
}

void KindCounter::Flush(Batch& batch) {
  for (Batch::KindCount& total : totals_) {
    if (total.n == 0) continue;
    batch.counts.push_back(total);
    total.n = 0;
  }
}

}  // namespace layerscope::ingest::kineto
