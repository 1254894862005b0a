#pragma once
// The kernels of one pass of a family, in the order in which they are launched, each with the place
// that it has. Oddities (cuts, residues, micro-batches) are edits of that list.

#include <cstdint>
#include <vector>

#include "bench/gen/family.h"
#include "bench/gen/options.h"
#include "bench/gen/structure.h"

namespace layerscope::gen {

struct PlannedRow {
  const Row* row = nullptr;
  Place place;
  int64_t stream = 0;
  int64_t percent = 100;     // of the row's time
  int32_t scope_layer = -1;  // whose module launches it: of helpers before a layer the next one's
  int32_t scope_block = -1;
};

using PassPlan = std::vector<PlannedRow>;

class PassPlanner {
 public:
  PassPlanner(const Options& options, int64_t main_stream, int64_t side_stream);

  const Family& family() const { return family_; }
  const std::vector<const Form*>& forms() const { return forms_; }

  // Head, layers and tail on `stream`.
  PassPlan Whole(bool decode, bool cold, int64_t stream) const;
  // A model of one layer that drafts for this one.
  PassPlan Draft() const;
  // Another anchor in a middle layer, or one less.
  void AddResidue(PassPlan* plan) const;

  // The pass with its layers as truth; layers that lack rows of `whole` are cut, absent ones left
  // out. Renumbers the layers of `plan` to positions in the result.
  PassTruth Describe(const PassPlan& whole, PassPlan* plan, bool draft) const;

  // Two passes, half a layer of one after half a layer of the other.
  static PassPlan Interleave(const PassPlan& first, const PassPlan& second);

 private:
  struct Turn {
    int64_t layer, layers;
    bool decode, cold;
    int64_t stream;
  };
  bool Applies(const Row& row, const Turn& turn) const;
  void Append(Rows rows, const Turn& turn, const Place& place, int32_t scope_block,
              PassPlan* plan) const;
  void AppendLayer(const Form& form, const Turn& turn, PassPlan* plan) const;

  const Options& o_;
  const Family& family_;
  std::vector<const Form*> forms_;
  int64_t main_stream_, side_stream_;
};

}  // namespace layerscope::gen
