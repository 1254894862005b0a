#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/compiled_regions.h"
#include "src/analysis/rank_view.h"
#include "src/model/inductor_kernel_name.h"
#include "src/model/inductor_provenance.h"

namespace layerscope::analysis {

/// What kernels of TorchInductor come from.
struct FusedFrom {
  std::vector<std::string> ops;           ///< by the name; where it tells none, by the provenance
  std::vector<std::string> graph_ops;     ///< of the lowered graph: what the kernel computes
  std::vector<std::string> graph_nodes;   ///< of the lowered graph
  std::vector<std::string> source_nodes;  ///< of the traced graph
  std::vector<std::string> modules;       ///< that the source nodes name, from the compiled one
  bool by_provenance = false;             ///< false: by the name alone
};

/// What the debug output of torch.compile says of the kernels of one file.
struct ProvenanceUse {
  int64_t n_known = 0;  ///< names that it has
  int64_t n_told = 0;   ///< of those in the selection, the ones of which it says what they are
  /// It lists nodes or operators of one of these, at whichever place.
  bool has_nodes = false;
};

/// Finds the kernels of TorchInductor in one file and, with --inductor-debug, the places in the
/// generated code at which each was called.
///
/// A region that calls one compiled graph is matched as a whole: the kernels it ran, in order, must
/// be those of one graph of the debug output, so that each call has its place although names repeat
/// between graphs and within one. Library calls between them (aten::mm) have theirs when the region
/// made as many as the graph has. A kernel of no matched region has the places of its name, unless
/// several graphs have the name and nothing tells them apart: then its name alone counts.
class InductorKernels {
 public:
  explicit InductorKernels(const RankView& view);

  /// The selected activities of that name; nothing: no kernel of Inductor.
  std::optional<FusedFrom> Of(trace::StringId name) const;
  /// The same of single activities, by row; null: no kernel of Inductor. Equal ones are shared.
  std::vector<std::shared_ptr<const FusedFrom>> OfRows(const std::vector<uint32_t>& rows) const;
  /// The modules that the nodes of one activity name; empty: nothing tells.
  std::vector<std::string> ModulesOf(uint32_t row) const;
  bool IsFused(uint32_t row) const { return names_.count(NameOf(row).index()) != 0; }

  int64_t n_names() const { return static_cast<int64_t>(names_.size()); }
  /// Null without debug output.
  const model::InductorProvenance* provenance() const { return provenance_; }
  ProvenanceUse use() const;
  bool has_provenance() const { return provenance_ != nullptr; }
  const CompiledRegions& regions() const { return regions_; }

 private:
  using Graph = model::InductorProvenance::Graph;
  using Site = model::InductorProvenance::Site;
  static constexpr uint32_t kNone = 0xffffffffU;
  /// Graphs with the same kernels in the same order.
  struct Candidates {
    std::vector<uint32_t> graphs;
    bool alike = true;  ///< their nodes are the same too
  };
  using GraphsBySequence = std::map<std::vector<uint32_t>, Candidates>;

  struct Name {
    model::InductorKernelName parsed;
    uint32_t kernel = kNone;      ///< in the provenance
    std::vector<uint32_t> sites;  ///< of the selected activities, each once
  };

  trace::StringId NameOf(uint32_t row) const { return view_.activities().name[row]; }
  void ParseNames();
  void NumberKernels();
  uint32_t FindKernel(const model::InductorKernelName& name) const;
  GraphsBySequence Sequences() const;
  uint32_t ChooseGraph(const Candidates& candidates, std::optional<int64_t> id) const;
  void MatchRegions();
  void MatchRegion(const std::vector<uint32_t>& rows, const GraphsBySequence& graphs);
  void MatchLibraryCalls(const std::vector<uint32_t>& rows, uint32_t graph);
  std::vector<uint32_t> SitesByName(const Name& name) const;
  void CollectSites();
  FusedFrom FromSites(const Name& name, const std::vector<uint32_t>& sites) const;
  uint32_t EndOf(uint32_t graph) const;

  const RankView& view_;
  const model::InductorProvenance* provenance_;
  CompiledRegions regions_;
  tsl::robin_map<size_t, Name> names_;  ///< by StringId index
  /// Of the provenance: all sites in one row, where each graph's begin, and each site's kernel.
  std::vector<const Site*> sites_;
  std::vector<uint32_t> first_site_;
  std::vector<uint32_t> kernel_of_site_;
  std::map<std::string, uint32_t, std::less<>> kernels_;
  std::vector<std::vector<uint32_t>> graphs_of_kernel_;
  std::vector<uint32_t> site_of_row_;  ///< kNone: not known; empty without provenance
};

}  // namespace layerscope::analysis
