#pragma once

#include <string>

#include "src/model/model_config.h"
#include "src/model/profile.h"
#include "src/table/result.h"

namespace layerscope::analysis {

// The four answers of the verb `profiles`. They need no trace: each is one RankResult without rank,
// coverage or warnings, with `input` empty where no file was read.

/// `profiles list`: one row a built-in profile, `rows`[{name, anchor[], given, boundary,
/// blocks_per_layer, extra_anchors_per_pass, models, chosen_when[]}]. Main table: rows.
table::RankResult ComputeProfilesList();

/// `profiles show NAME|FILE`: everything one profile says: `profile`{…} with `identities`[] and
/// `rules`[]. Main table: identities.
table::RankResult ComputeProfilesShow(const model::Profile& profile);

/// `profiles infer --config FILE`: which profile a config gets and why, and what it says of the
/// model: `profile`, `why`, `num_layers`, `layers`[{index, type, flags, ratio}], `clusters`[{type,
/// n, layers}], `model`{…}. Main table: layers. People see equal neighbours as one row.
/// `choice` is ChooseProfile(&config), or the user's `--profile` with a `why` that says so.
table::RankResult ComputeProfilesInfer(const model::ModelConfig& config,
                                       const model::ProfileChoice& choice);

/// `profiles check FILE`: what a file that LoadProfile accepted holds: `file`, `valid` (true),
/// `profile` (its name) and counts. A file with a mistake never comes here: LoadProfile's error
/// names file, line and key.
table::RankResult ComputeProfilesCheck(const model::Profile& profile, const std::string& file);

}  // namespace layerscope::analysis
