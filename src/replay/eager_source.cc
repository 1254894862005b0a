#include "src/replay/eager_source.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>

#include "src/base/hash.h"
#include "src/replay/eager_forwards.h"

namespace layerscope::replay {
namespace {

/// Later forwards of a kind are like the first ones; more are not looked at.
constexpr size_t kMaxCompared = 512;

uint64_t HashOf(const std::vector<Element>& elements) {
  uint64_t hash = elements.size();
  for (const Element& element : elements) hash = base::Mix(hash * 31 + element.symbol + 1);
  return hash;
}

}  // namespace

EagerSource::EagerSource(const trace::Trace& replayed, const SideTrace& side)
    : side_(side),
      names_(replayed, side),
      forwards_(FindEagerForwards(side)),
      prepared_(forwards_.size()) {}

EagerSource::Prepared& EagerSource::Prepare(uint32_t index) {
  Prepared& prepared = prepared_[index];
  if (prepared.done) return prepared;
  prepared.done = true;
  prepared.sequence = names_.Read(forwards_[index].pieces.front());
  prepared.hash = HashOf(prepared.sequence.elements);
  return prepared;
}

std::vector<uint32_t> EagerSource::Candidates(const Wanted& wanted) {
  const auto key = [&](uint32_t index) {
    const Recording& forward = forwards_[index];
    const bool known = wanted.batch.has_value() && forward.batch.has_value();
    const int64_t away =
        known ? std::llabs(*wanted.batch - *forward.batch) : std::numeric_limits<int64_t>::max();
    return std::tuple(forward.mode != wanted.phase, away, index);
  };
  std::vector<uint32_t> order(forwards_.size());
  std::iota(order.begin(), order.end(), 0U);
  const size_t n_compared = std::min(order.size(), kMaxCompared);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_compared),
                    order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  order.resize(n_compared);
  std::vector<uint32_t> distinct;
  std::vector<uint64_t> seen;
  for (const uint32_t index : order) {
    const uint64_t hash = Prepare(index).hash;
    if (std::find(seen.begin(), seen.end(), hash) != seen.end()) continue;
    seen.push_back(hash);
    distinct.push_back(index);
    if (distinct.size() == kMaxCandidates) break;
  }
  return distinct;
}

RowPlacer& EagerSource::placer(attribution::ModuleGraft& graft) {
  if (placer_ == nullptr) placer_ = std::make_unique<RowPlacer>(graft, side_);
  return *placer_;
}

}  // namespace layerscope::replay
