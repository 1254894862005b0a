#pragma once

#include <cstdint>
#include <vector>

#include "src/layers/halves.h"
#include "src/layers/outline.h"

namespace layerscope::layers {

/// What one layer is taken to be.
enum class ReadingKind : uint8_t {
  kPair,    ///< a run of mixers and the FFN behind it
  kBlock,   ///< one block: each mixer and each FFN has a layer of its own (Nemotron-H)
  kDouble,  ///< two pairs (LongCat-Flash)
};

/// Halves [first, end) lie in tokens [from, limit) with no embedding or sampler between them. Where
/// no FFN is in sight each half is a layer: a residual norm parts it from the next (pure Mamba).
struct Stretch {
  size_t first = 0;
  size_t end = 0;
  uint32_t from = 0;
  uint32_t limit = 0;
  bool has_ffn = false;
};

/// One way to cut a stretch of a pass into layers.
struct Reading {
  ReadingKind kind = ReadingKind::kPair;
  Stretch stretch;
  std::vector<uint32_t> begin;
  std::vector<size_t> first_half;  ///< by layer: index of its first half
  uint32_t end = 0;
  bool cut_first = false;
  bool cut_last = false;
  bool odd_last = false;
  bool tail_may_be_layer = false;  ///< layer_ends.h
};

/// Parts where few embeddings or samplers stand between the layers: a draft model's layers, two
/// towers, two passes.
std::vector<Stretch> FindStretches(const Outline& outline, const std::vector<Half>& halves);

Reading Read(const Outline& outline, const std::vector<Half>& halves, const Stretch& stretch,
             ReadingKind kind, const SegmentHints& hints);

/// The reading as a Segmentation: layers, blocks, cut ends; kind and confidence are the caller's.
Segmentation CutAsRead(const std::vector<Half>& halves, const Reading& reading);

/// A window may cut the reading's pass: it may have fewer layers than the model.
bool MayBeCut(const Reading& reading, const SegmentHints& hints);

}  // namespace layerscope::layers
