#include "src/model/inductor_kernel_name.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "src/model/inductor_op_names.h"

namespace layerscope::model {
namespace {

constexpr std::string_view kFused = "fused";
/// Windows names: "fused_" and operators cut to 41 bytes, "_" and 8 digits of a hash.
constexpr size_t kHashDigits = 8;
constexpr size_t kMaxHashedBytes = 41 + 1 + kHashDigits;
/// Kernels are files' names too, so real lists are a few hundred bytes; longer ones are not split.
constexpr size_t kMaxListBytes = size_t{64} << 10;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f');
}

/// One reading of a stretch of the text: an operator, or a word that is none.
struct Piece {
  size_t begin = 0;
  size_t end = 0;
  bool known = false;
};

/// What a reading up to here costs, least first: unknown words, breaks of the order, pieces.
using Cost = std::tuple<int64_t, int64_t, int64_t>;

struct Step {
  Piece piece;
  Cost cost;
  int64_t before = -1;  ///< the step that it follows
};

/// Reads a list of operators as the cheapest sequence of pieces, from left to right. A piece ends
/// before a "_" or at the end of the text, and the next one starts behind that "_".
class FusedOps {
 public:
  explicit FusedOps(std::string_view text) : text_(text), ending_at_(text.size() + 1) {}

  /// Everything as one piece where no sequence of pieces reads it.
  std::vector<Piece> Read() {
    if (text_.empty()) return {};
    for (size_t begin = 0; begin < text_.size(); ++begin) {
      if (begin > 0 && (text_[begin - 1] != '_' || ending_at_[begin - 1].empty())) continue;
      AddPiecesFrom(begin);
    }
    std::vector<Piece> pieces = Best();
    if (pieces.empty()) pieces.push_back({0, text_.size(), false});
    return pieces;
  }

 private:
  std::string_view Text(const Piece& piece) const {
    return text_.substr(piece.begin, piece.end - piece.begin);
  }

  void AddPiecesFrom(size_t begin) {
    size_t end = begin;
    bool is_word = true;  // the shortest piece: what an operator that is not known may be
    for (int words = 0; words < kMaxInductorOpWords && end < text_.size(); ++words) {
      end = text_.find('_', end + 1);
      if (end == std::string_view::npos) end = text_.size();
      const std::string_view piece = text_.substr(begin, end - begin);
      if (IsInductorOpName(piece)) {
        AddPiece({begin, end, true});
      } else if (is_word && piece != "_") {
        AddPiece({begin, end, false});
      }
      if (piece != "_") is_word = false;
    }
  }

  void AddPiece(const Piece& piece) {
    Step best{piece, {}, -1};
    const int64_t unknown = piece.known ? 0 : 1;
    if (piece.begin == 0) {
      best.cost = {unknown, 0, 1};
    } else {
      bool first = true;
      for (const int64_t before : ending_at_[piece.begin - 1]) {
        const Step& step = steps_[static_cast<size_t>(before)];
        const bool breaks = piece.known && step.piece.known && Text(step.piece) >= Text(piece);
        const Cost cost = {std::get<0>(step.cost) + unknown,
                           std::get<1>(step.cost) + (breaks ? 1 : 0), std::get<2>(step.cost) + 1};
        if (!first && cost >= best.cost) continue;
        best.cost = cost;
        best.before = before;
        first = false;
      }
    }
    ending_at_[piece.end].push_back(static_cast<int64_t>(steps_.size()));
    steps_.push_back(best);
  }

  std::vector<Piece> Best() const {
    std::vector<Piece> pieces;
    int64_t at = -1;
    for (const int64_t step : ending_at_[text_.size()]) {
      if (at < 0 || steps_[static_cast<size_t>(step)].cost < steps_[static_cast<size_t>(at)].cost) {
        at = step;
      }
    }
    for (; at >= 0; at = steps_[static_cast<size_t>(at)].before) {
      pieces.push_back(steps_[static_cast<size_t>(at)].piece);
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
  }

  std::string_view text_;
  std::vector<Step> steps_;
  std::vector<std::vector<int64_t>> ending_at_;  ///< steps, by the end of their piece
};

/// "graph_0_cpp_fused_…" -> 0, and the name without it.
std::optional<int64_t> TakeGraph(std::string_view& name) {
  constexpr std::string_view kGraph = "graph_";
  constexpr size_t kMaxDigits = 9;
  if (!name.starts_with(kGraph)) return std::nullopt;
  size_t at = kGraph.size();
  int64_t graph = 0;
  for (; at < name.size() && IsDigit(name[at]) && at < kGraph.size() + kMaxDigits; ++at) {
    graph = graph * 10 + (name[at] - '0');
  }
  if (at == kGraph.size() || at == name.size() || name[at] != '_') return std::nullopt;
  name.remove_prefix(at + 1);
  return graph;
}

/// The kind of a name that begins like one of Inductor's, and what follows "…_fused".
std::optional<std::string_view> TakeKind(std::string_view& rest) {
  std::string_view kind;
  if (rest.starts_with("triton_")) {
    rest.remove_prefix(std::string_view("triton_").size());
    kind = rest.substr(0, rest.find('_'));
    const bool is_word = kind.size() == 3 && std::none_of(kind.begin(), kind.end(), IsDigit);
    if (!is_word) return std::nullopt;
  } else if (rest.starts_with("cpp_")) {
    kind = rest.substr(0, std::string_view("cpp").size());
  } else {
    return std::nullopt;
  }
  rest.remove_prefix(std::min(rest.size(), kind.size() + 1));
  if (!rest.starts_with(kFused)) return std::nullopt;
  rest.remove_prefix(kFused.size());
  if (!rest.empty() && rest.front() != '_') return std::nullopt;
  return kind;
}

/// The bytes of the number at the end, with its "_" and a signature ("_0d1d2de") behind the digits;
/// 0: there is none.
size_t NumberBytes(std::string_view text, size_t& signature) {
  const size_t at = text.rfind('_');
  if (at == std::string_view::npos || at + 1 == text.size() || !IsDigit(text[at + 1])) return 0;
  size_t end = at + 1;
  while (end < text.size() && IsDigit(text[end])) ++end;
  const auto is_signature = [](char c) { return IsDigit(c) || c == 'c' || c == 'd' || c == 'e'; };
  if (!std::all_of(text.begin() + static_cast<ptrdiff_t>(end), text.end(), is_signature)) return 0;
  signature = text.size() - end;
  return text.size() - at;
}

/// Takes the hash off the end of a name that Inductor shortened.
bool TakeHash(std::string_view& ops) {
  if (ops.size() <= kHashDigits || kFused.size() + 1 + ops.size() > kMaxHashedBytes) return false;
  const std::string_view hash = ops.substr(ops.size() - kHashDigits);
  const bool is_hash = ops[ops.size() - kHashDigits - 1] == '_' &&
                       std::all_of(hash.begin(), hash.end(), IsHex) &&
                       std::any_of(hash.begin(), hash.end(), IsDigit);
  if (is_hash) ops.remove_suffix(kHashDigits + 1);
  return is_hash;
}

}  // namespace

std::vector<std::string> SplitFusedOps(std::string_view text) {
  std::vector<std::string> ops;
  while (text.ends_with('_')) text.remove_suffix(1);
  if (text.size() > kMaxListBytes) return {std::string(text)};
  bool follows_unknown = false;
  for (const Piece& piece : FusedOps(text).Read()) {
    const std::string_view op = text.substr(piece.begin, piece.end - piece.begin);
    if (!piece.known && follows_unknown) {
      (ops.back() += '_') += op;
    } else {
      ops.emplace_back(op);
    }
    follows_unknown = !piece.known;
  }
  return ops;
}

std::optional<InductorKernelName> ParseInductorKernelName(std::string_view name) {
  InductorKernelName parsed;
  if (name.ends_with(".kd")) name.remove_suffix(std::string_view(".kd").size());
  parsed.graph = TakeGraph(name);
  parsed.kernel = name;
  std::string_view rest = name;
  const std::optional<std::string_view> kind = TakeKind(rest);
  if (!kind) return std::nullopt;
  parsed.kind = *kind;
  size_t signature = 0;
  const size_t number = NumberBytes(rest, signature);
  rest.remove_suffix(number);
  parsed.kernel.remove_suffix(signature);
  if (!rest.empty()) rest.remove_prefix(1);
  parsed.truncated = number == 0;
  if (TakeHash(rest)) parsed.truncated = true;
  parsed.ops = SplitFusedOps(rest);
  return parsed;
}

}  // namespace layerscope::model
