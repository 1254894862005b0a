#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/attribution/evidence.h"
#include "src/attribution/step.h"
#include "src/attribution/step_name.h"
#include "src/base/id.h"
#include "src/table/result.h"
#include "src/trace/ids.h"

namespace layerscope::layers {

using PassId = base::Id<struct PassTag>;
using LayerId = base::Id<struct LayerTag>;

/// What one forward through all layers does. kCapture: launches recorded into a graph, no kernels
/// that ran. kUnknown: neither annotation nor a clear sign. All others are what a step does.
enum class PassKind : uint8_t {
  kUnknown,
  kPrefill,
  kDecode,
  kMixed,
  kDraft,
  kTargetVerify,
  kCapture,
};
/// "unknown", "prefill", …, "capture".
std::string_view ToString(PassKind kind);
PassKind KindOf(attribution::Phase phase);
/// kUnknown for a capture.
attribution::Phase PhaseOf(PassKind kind);

enum LayerFlag : uint8_t {
  kLayerFirst = 1,  ///< layer 0 of the model
  kLayerFinal = 2,  ///< its last layer
  kLayerCut = 4,    ///< only a part of it lies in the window
};

/// One layer of one pass. Sums and times are group-bys over the rows whose `layer` it is.
struct Layer {
  PassId pass;
  int32_t index = 0;             ///< in the model, counted from 0
  uint32_t type = 0;             ///< index into LayerStructure::types
  uint8_t flags = 0;             ///< LayerFlag
  std::optional<int64_t> ratio;  ///< the config's compress ratio
  /// Captures only: position of its first launch in the capture's list of launches, and how many.
  std::optional<int64_t> first_captured_launch;
  int64_t n_captured_launches = 0;
  /// Captures only: from the start of its first launch call to the end of the last one's.
  std::optional<int64_t> captured_start_ns, captured_end_ns;
};

struct Pass {
  PassKind kind = PassKind::kUnknown;
  attribution::StepId step;  ///< invalid without an annotation
  trace::DeviceId device;
  trace::ProcessId process;  ///< host side; may be invalid
  uint32_t first_layer = 0;  ///< its layers are contiguous in LayerStructure::layers
  uint32_t n_layers = 0;     ///< cut layers included
  bool complete = false;     ///< all layers of the model, none cut
  std::string note;          ///< "micro-batch 1 of 2", "first pass: began before the window", …
  std::optional<int64_t> batch;  ///< requests, where the step says; steady groups are by it
  int64_t n_captured_launches = 0;
  std::optional<int64_t> captured_start_ns, captured_end_ns;  ///< captures only, as in Layer
  double confidence = 0;  ///< of its cut into layers, 0 to 1; 0 when it has none
};

/// Where a row stands in its pass.
enum class PassPart : uint8_t { kOutside, kHead, kLayer, kTail };

inline constexpr uint8_t kNoBlock = 255;

/// How the layers were found.
struct AnchorUse {
  std::string pattern;  ///< as given, or the profile's; empty when repetition alone found them
  std::string kind;     ///< "boundary", "period", "repetition"
  std::vector<std::string> kernels;  ///< short names of what it matches, by first appearance
  bool of_profile = false;           ///< the profile's, not given by the user
  std::optional<int64_t> per_layer;  ///< anchors a layer
  std::optional<int64_t> offset;
  attribution::Evidence evidence = attribution::Evidence::kUnresolved;
  double confidence = 0;
};

/// How the layers agree with nn.Module scopes, where the trace has those.
struct ModuleAgreement {
  std::string module_class;  ///< "Qwen3DecoderLayer"
  int64_t n_layers = 0;      ///< layers compared
  int64_t n_agreeing = 0;    ///< whose own launched kernels are exactly those of one scope
  int64_t n_displaced = 0;  ///< kernels that stand in another layer, or none, than their scope says
  /// Kernels that the profile puts right before its anchor: launched in the scope that the anchor
  /// opens, by definition of the interval before (formats/profiles.md, "Rules"). Not displaced.
  int64_t n_helpers = 0;
};

/// The columns pass, layer, block and layer evidence of DESIGN.md section 2, beside those of
/// Attribution: one entry an activity. Passes are in time order, partial and draft ones included.
struct LayerStructure {
  std::vector<Pass> passes;
  std::vector<Layer> layers;       ///< by pass, then index
  std::vector<std::string> types;  ///< from the config; without one "A", "B", … by kernel sequence

  std::vector<PassId> pass;    ///< by row; invalid outside every pass
  std::vector<LayerId> layer;  ///< by row; invalid in head, tail and outside
  std::vector<PassPart> part;  ///< by row
  std::vector<uint8_t> block;  ///< by row: 0, 1, … within the layer; kNoBlock
  /// By row: 1 = launched outside the step, falls into the layer by time: shown as foreign, in no
  /// sum. Such a row has `layer` set, `part` kOutside and no `pass`.
  std::vector<uint8_t> foreign;
  std::vector<attribution::Evidence> evidence;  ///< by row
  std::vector<uint8_t> anchor_name;  ///< by StringId index: 1 = a name that the anchor matches

  AnchorUse anchor;
  std::optional<int64_t> layers_per_pass;  ///< of the model (the target's, not the draft's)
  std::optional<size_t> steady_pass;       ///< by the rule of formats/profiles.md, "Steady state"
  std::optional<ModuleAgreement> modules;
  std::optional<table::Abstention> abstained;  ///< then passes may be there, layers are not
  std::string profile;                         ///< name of the profile in use
  std::string profile_why;
  std::vector<table::HealthEntry> warnings;
};

}  // namespace layerscope::layers
