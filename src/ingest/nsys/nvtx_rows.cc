#include "src/ingest/nsys/nvtx_rows.h"

#include "src/ingest/nsys/nvtx_text.h"
#include "src/ingest/nsys/valid_text.h"

namespace layerscope::ingest::nsys {

std::optional<NvtxRange> RangeOfText(std::string_view text, bool is_plain, RowDictionary& names) {
  const NvtxText parts = ReadNvtxText(text);
  switch (parts.kind) {
    case NvtxKind::kModuleEnd:
      return std::nullopt;
    case NvtxKind::kModule:
      return NvtxRange{NvtxRowKind::kModule, names.Text(parts.name), {}};
    case NvtxKind::kAnnotation:
      return NvtxRange{is_plain ? NvtxRowKind::kPlainRange : NvtxRowKind::kAnnotation,
                       names.Text(parts.name),
                       {}};
    case NvtxKind::kOp:
      break;
  }
  ArgsKey args;
  if (!parts.sizes.empty()) args.sizes = names.Text(WithoutSpaces(parts.sizes));
  return NvtxRange{NvtxRowKind::kOp, names.Text(parts.name), names.Args(args)};
}

}  // namespace layerscope::ingest::nsys
