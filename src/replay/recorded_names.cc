#include "src/replay/recorded_names.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace layerscope::replay {
namespace {

/// Names that only the recording has are numbered from here on: a trace holds fewer strings.
constexpr uint32_t kForeign = uint32_t{1} << 31;

}  // namespace

Element RecordedNames::ElementOf(const RecordedNode& node) {
  Element element;
  element.is_copy = node.kind != NodeKind::kKernel;
  element.symbol = node.kind == NodeKind::kSet ? kSetSymbol : kCopySymbol;
  if (element.is_copy) return element;
  if (!node.kernel.valid()) return {kUnnamed, 0, false};
  uint32_t& symbol = symbol_of_[node.kernel.index()];
  if (symbol == kUnmatched) {
    const std::string_view name = source_.trace->strings[node.kernel];
    const trace::StringId known = replayed_.strings.Find(name);
    symbol =
        static_cast<uint32_t>(known.valid() ? known.index() : kForeign | (node.kernel.index() + 1));
    if (KindOfName(name) == NodeKind::kCopy) symbol = kCopySymbol;
    if (KindOfName(name) == NodeKind::kSet) symbol = kSetSymbol;
  }
  return {symbol, 0, symbol == kCopySymbol || symbol == kSetSymbol};
}

RecordedSequence RecordedNames::Read(const RecordedPiece& piece) {
  RecordedSequence sequence;
  using Place = std::tuple<trace::ScopeId, trace::StringId, trace::ArgsId>;
  std::map<Place, uint32_t> places;
  for (const RecordedNode& node : piece.nodes) {
    Element element = ElementOf(node);
    element.chain = node.chain;
    if (!element.is_copy) sequence.sorted.push_back(element.symbol);
    sequence.elements.push_back(element);
    Place place{node.scope, {}, {}};
    if (node.op.valid()) {
      std::get<1>(place) = source_.attribution->OpName(*source_.trace, node.op);
      std::get<2>(place) = source_.attribution->OpArgs(*source_.trace, node.op);
    }
    const auto next = static_cast<uint32_t>(places.size());
    sequence.places.push_back(places.try_emplace(place, next).first->second);
  }
  std::sort(sequence.sorted.begin(), sequence.sorted.end());
  sequence.n_kernels = static_cast<int64_t>(sequence.sorted.size());
  return sequence;
}

}  // namespace layerscope::replay
