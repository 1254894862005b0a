#pragma once

#include <string>
#include <string_view>

namespace layerscope::session {

/// Whether a JSON text is a document that layerscope or layerscope-capture wrote, by its first key:
/// "schema" of a value that begins with layerscope (serve_bench.json, layerscope_patch.json, the
/// envelope, …), "schema_version" (model_tree.json), or what DocumentNameOf knows. Such files lie
/// beside traces and are none. `begin` may be cut anywhere.
bool IsOwnDocumentText(std::string_view begin);

/// The same of a file, by its first bytes, unpacked; false for what cannot be opened.
bool IsOwnDocument(const std::string& path);

}  // namespace layerscope::session
