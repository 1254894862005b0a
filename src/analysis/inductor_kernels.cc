#include "src/analysis/inductor_kernels.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace layerscope::analysis {
namespace {

using Site = model::InductorProvenance::Site;

/// The operator that a call of a library shows as: "aten::mm" for extern_kernels.mm and
/// torch.ops.aten.mm.default; empty: no such call.
std::string LibraryOp(std::string_view kernel) {
  constexpr std::string_view kExtern = "extern_kernels.";
  constexpr std::string_view kAten = "torch.ops.aten.";
  if (kernel.starts_with(kExtern)) {
    kernel.remove_prefix(kExtern.size());
  } else if (kernel.starts_with(kAten)) {
    kernel.remove_prefix(kAten.size());
  } else {
    return {};
  }
  return "aten::" + std::string(kernel.substr(0, kernel.find('.')));
}

bool SameContent(const Site& a, const Site& b) {
  return a.graph_nodes == b.graph_nodes && a.source_nodes == b.source_nodes && a.ops == b.ops &&
         a.modules == b.modules;
}

/// Adds the texts that are not there yet, in order.
class Union {
 public:
  explicit Union(std::vector<std::string>& into) : into_(into) {}
  void Add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (seen_.emplace(text, true).second) into_.push_back(text);
    }
  }

 private:
  std::vector<std::string>& into_;
  std::map<std::string, bool, std::less<>> seen_;
};

}  // namespace

InductorKernels::InductorKernels(const RankView& view)
    : view_(view), provenance_(view.input().inductor), regions_(view.trace()) {
  ParseNames();
  if (provenance_ == nullptr) return;
  NumberKernels();
  for (auto it = names_.begin(); it != names_.end(); ++it) {
    it.value().kernel = FindKernel(it->second.parsed);
  }
  site_of_row_.assign(view.activities().size(), kNone);
  MatchRegions();
  CollectSites();
}

void InductorKernels::ParseNames() {
  std::vector<uint8_t> seen(view_.trace().strings.size(), 0);
  for (const trace::StringId name : view_.activities().name) {
    if (std::exchange(seen[name.index()], 1) != 0) continue;
    auto parsed = model::ParseInductorKernelName(view_.trace().strings[name]);
    if (parsed) names_.emplace(name.index(), Name{*std::move(parsed), kNone, {}});
  }
}

void InductorKernels::NumberKernels() {
  for (uint32_t graph = 0; graph < provenance_->graphs.size(); ++graph) {
    first_site_.push_back(static_cast<uint32_t>(sites_.size()));
    for (const Site& site : provenance_->graphs[graph].sites) {
      const auto [kernel, is_new] =
          kernels_.emplace(site.kernel, static_cast<uint32_t>(graphs_of_kernel_.size()));
      if (is_new) graphs_of_kernel_.emplace_back();
      std::vector<uint32_t>& graphs = graphs_of_kernel_[kernel->second];
      if (graphs.empty() || graphs.back() != graph) graphs.push_back(graph);
      sites_.push_back(&site);
      kernel_of_site_.push_back(kernel->second);
    }
  }
}

uint32_t InductorKernels::EndOf(uint32_t graph) const {
  return graph + 1 < first_site_.size() ? first_site_[graph + 1]
                                        : static_cast<uint32_t>(sites_.size());
}

/// A name that was cut short means the one kernel that begins like it.
uint32_t InductorKernels::FindKernel(const model::InductorKernelName& name) const {
  auto found = kernels_.lower_bound(name.kernel);
  if (found == kernels_.end()) return kNone;
  if (found->first == name.kernel) return found->second;
  if (!name.truncated || !found->first.starts_with(name.kernel)) return kNone;
  const auto next = std::next(found);
  const bool is_only = next == kernels_.end() || !next->first.starts_with(name.kernel);
  return is_only ? found->second : kNone;
}

InductorKernels::GraphsBySequence InductorKernels::Sequences() const {
  std::vector<uint8_t> is_fused(graphs_of_kernel_.size(), 0);
  for (const auto& [kernel, index] : kernels_) {
    is_fused[index] = model::ParseInductorKernelName(kernel) ? 1 : 0;
  }
  GraphsBySequence graphs;
  for (uint32_t graph = 0; graph < first_site_.size(); ++graph) {
    std::vector<uint32_t> sequence;
    for (uint32_t site = first_site_[graph]; site < EndOf(graph); ++site) {
      if (is_fused[kernel_of_site_[site]] != 0) sequence.push_back(kernel_of_site_[site]);
    }
    if (sequence.empty()) continue;
    Candidates& same = graphs[std::move(sequence)];
    same.graphs.push_back(graph);
    const std::vector<Site>& first = provenance_->graphs[same.graphs.front()].sites;
    const std::vector<Site>& other = provenance_->graphs[graph].sites;
    same.alike = same.alike &&
                 std::equal(first.begin(), first.end(), other.begin(), other.end(), SameContent);
  }
  return graphs;
}

/// Of graphs that all fit: the one with that id, else any when they are alike, else kNone.
uint32_t InductorKernels::ChooseGraph(const Candidates& candidates,
                                      std::optional<int64_t> id) const {
  uint32_t with_id = kNone;
  for (const uint32_t graph : candidates.graphs) {
    if (!id || provenance_->graphs[graph].id != id) continue;
    if (with_id != kNone) return kNone;  // several runs in one folder
    with_id = graph;
  }
  if (with_id != kNone) return with_id;
  return candidates.alike ? candidates.graphs.front() : kNone;
}

void InductorKernels::MatchRegions() {
  if (regions_.empty() || names_.empty()) return;
  const GraphsBySequence graphs = Sequences();
  /// The inner annotations say which kernels one call of a graph ran; a region may make several.
  const CompiledRegions calls = CompiledRegions::GraphCalls(view_.trace());
  std::vector<std::pair<uint32_t, uint32_t>> rows;  // call, row
  std::vector<int64_t> start_ns(view_.activities().size(), 0);
  for (uint32_t row = 0; row < view_.activities().size(); ++row) {
    const HostStart start = HostStartOf(view_.trace(), view_.attribution(), row);
    const uint32_t call = calls.Find(start.thread, start.time_ns);
    start_ns[row] = start.time_ns;
    if (call != CompiledRegions::kNone) rows.emplace_back(call, row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&start_ns](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return start_ns[a.second] < start_ns[b.second];
  });
  std::vector<uint32_t> of_call;
  for (size_t i = 0; i < rows.size(); ++i) {
    of_call.push_back(rows[i].second);
    if (i + 1 < rows.size() && rows[i + 1].first == rows[i].first) continue;
    MatchRegion(of_call, graphs);
    of_call.clear();
  }
}

void InductorKernels::MatchRegion(const std::vector<uint32_t>& rows,
                                  const GraphsBySequence& graphs) {
  std::vector<uint32_t> sequence;
  std::vector<std::pair<uint32_t, uint32_t>> positions;  // row, position in the sequence
  std::optional<int64_t> id;
  trace::OpId last_op;
  for (const uint32_t row : rows) {
    const auto name = names_.find(NameOf(row).index());
    if (name == names_.end()) continue;
    // The rows of one CPU op are one call.
    const trace::OpId op = view_.attribution().op[row];
    const bool same_call = view_.cpu_only() && !sequence.empty() && op.valid() && op == last_op;
    if (!same_call) sequence.push_back(name->second.kernel);
    if (name->second.parsed.graph) id = name->second.parsed.graph;
    positions.emplace_back(row, static_cast<uint32_t>(sequence.size() - 1));
    last_op = op;
  }
  const auto found = graphs.find(sequence);
  if (found == graphs.end()) return;
  const uint32_t graph = ChooseGraph(found->second, id);
  if (graph == kNone) return;
  std::vector<uint32_t> sites;
  size_t at = 0;
  for (uint32_t site = first_site_[graph]; site < EndOf(graph) && at < sequence.size(); ++site) {
    if (kernel_of_site_[site] != sequence[at]) continue;
    sites.push_back(site);
    ++at;
  }
  for (const auto& [row, position] : positions) site_of_row_[row] = sites[position];
  MatchLibraryCalls(rows, graph);
}

void InductorKernels::MatchLibraryCalls(const std::vector<uint32_t>& rows, uint32_t graph) {
  std::map<std::string, std::vector<uint32_t>> sites_of_op;
  for (uint32_t site = first_site_[graph]; site < EndOf(graph); ++site) {
    const std::string op = LibraryOp(sites_[site]->kernel);
    if (!op.empty()) sites_of_op[op].push_back(site);
  }
  const attribution::Attribution& attribution = view_.attribution();
  std::map<std::string_view, std::vector<trace::OpId>> calls;  // by operator
  for (const uint32_t row : rows) {
    const trace::OpId op = attribution.op[row];
    if (!op.valid() || site_of_row_[row] != kNone) continue;
    const std::string_view name = view_.trace().strings[attribution.OpName(view_.trace(), op)];
    std::vector<trace::OpId>& of_name = calls[name];
    if (of_name.empty() || of_name.back() != op) of_name.push_back(op);
  }
  std::map<size_t, uint32_t> site_of_call;
  for (auto& [name, ops] : calls) {
    const auto sites = sites_of_op.find(std::string(name));
    std::vector<trace::OpId> distinct = ops;  // an op whose rows others interrupt comes again
    std::sort(distinct.begin(), distinct.end(),
              [](const auto& a, const auto& b) { return a.index() < b.index(); });
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (sites == sites_of_op.end() || sites->second.size() != distinct.size()) continue;
    const std::vector<int64_t>& start_ns = view_.trace().ops.start_ns;
    if (std::any_of(distinct.begin(), distinct.end(),
                    [&](const auto& op) { return op.index() >= start_ns.size(); })) {
      continue;  // replayed: no time of their own
    }
    std::stable_sort(distinct.begin(), distinct.end(), [&](const auto& a, const auto& b) {
      return start_ns[a.index()] < start_ns[b.index()];
    });
    for (size_t i = 0; i < distinct.size(); ++i) {
      site_of_call[distinct[i].index()] = sites->second[i];
    }
  }
  for (const uint32_t row : rows) {
    const trace::OpId op = attribution.op[row];
    if (!op.valid() || site_of_row_[row] != kNone) continue;
    const auto site = site_of_call.find(op.index());
    if (site != site_of_call.end()) site_of_row_[row] = site->second;
  }
}

/// The places of a name where no region told them: those of its graph, when that is clear.
std::vector<uint32_t> InductorKernels::SitesByName(const Name& name) const {
  if (name.kernel == kNone) return {};
  std::vector<uint32_t> graphs = graphs_of_kernel_[name.kernel];
  const auto has_id = [&](uint32_t graph) {
    return name.parsed.graph && provenance_->graphs[graph].id == name.parsed.graph;
  };
  if (std::any_of(graphs.begin(), graphs.end(), has_id)) {
    std::erase_if(graphs, [&has_id](uint32_t graph) { return !has_id(graph); });
  }
  std::vector<uint32_t> sites;
  for (const uint32_t graph : graphs) {
    std::vector<uint32_t> of_graph;
    for (uint32_t site = first_site_[graph]; site < EndOf(graph); ++site) {
      if (kernel_of_site_[site] == name.kernel) of_graph.push_back(site);
    }
    const bool alike =
        std::equal(of_graph.begin(), of_graph.end(), sites.begin(), sites.end(),
                   [this](uint32_t a, uint32_t b) { return SameContent(*sites_[a], *sites_[b]); });
    if (!sites.empty() && !alike) return {};
    sites = std::move(of_graph);
  }
  return sites;
}

void InductorKernels::CollectSites() {
  tsl::robin_map<size_t, bool> not_matched;
  for (const uint32_t row : view_.rows()) {
    const auto name = names_.find(NameOf(row).index());
    if (name == names_.end()) continue;
    if (site_of_row_[row] == kNone) {
      not_matched[name->first] = true;
    } else {
      names_.find(name->first).value().sites.push_back(site_of_row_[row]);
    }
  }
  for (auto it = names_.begin(); it != names_.end(); ++it) {
    std::vector<uint32_t>& sites = it.value().sites;
    if (not_matched.count(it->first) != 0) {
      const std::vector<uint32_t> more = SitesByName(it->second);
      sites.insert(sites.end(), more.begin(), more.end());
    }
    std::sort(sites.begin(), sites.end());
    sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  }
}

FusedFrom InductorKernels::FromSites(const Name& name, const std::vector<uint32_t>& sites) const {
  FusedFrom from;
  std::vector<std::string> ops;
  Union all_ops(ops);
  Union graph_ops(from.graph_ops);
  Union graph_nodes(from.graph_nodes);
  Union source_nodes(from.source_nodes);
  Union modules(from.modules);
  for (const uint32_t site : sites) {
    from.by_provenance = from.by_provenance || sites_[site]->tells();
    all_ops.Add(sites_[site]->ops);
    graph_ops.Add(sites_[site]->graph_ops);
    graph_nodes.Add(sites_[site]->graph_nodes);
    source_nodes.Add(sites_[site]->source_nodes);
    modules.Add(sites_[site]->modules);
  }
  const bool name_tells = !name.parsed.ops.empty() && !name.parsed.truncated;
  from.ops = name.parsed.ops;
  if (!name_tells && !ops.empty()) from.ops = std::move(ops);
  return from;
}

std::optional<FusedFrom> InductorKernels::Of(trace::StringId name) const {
  const auto found = names_.find(name.index());
  if (found == names_.end()) return std::nullopt;
  return FromSites(found->second, found->second.sites);
}

std::vector<std::shared_ptr<const FusedFrom>> InductorKernels::OfRows(
    const std::vector<uint32_t>& rows) const {
  std::map<std::pair<size_t, uint32_t>, std::shared_ptr<const FusedFrom>> known;
  std::vector<std::shared_ptr<const FusedFrom>> all;
  all.reserve(rows.size());
  for (const uint32_t row : rows) {
    const auto name = names_.find(NameOf(row).index());
    if (name == names_.end()) {
      all.emplace_back();
      continue;
    }
    const uint32_t site = site_of_row_.empty() ? kNone : site_of_row_[row];
    std::shared_ptr<const FusedFrom>& from = known[{name->first, site}];
    if (from == nullptr) {
      const std::vector<uint32_t> sites =
          site == kNone ? SitesByName(name->second) : std::vector<uint32_t>{site};
      from = std::make_shared<const FusedFrom>(FromSites(name->second, sites));
    }
    all.push_back(from);
  }
  return all;
}

std::vector<std::string> InductorKernels::ModulesOf(uint32_t row) const {
  if (site_of_row_.empty() || site_of_row_[row] == kNone) return {};
  return sites_[site_of_row_[row]]->modules;
}

ProvenanceUse InductorKernels::use() const {
  ProvenanceUse use;
  std::vector<uint8_t> is_known(graphs_of_kernel_.size(), 0);
  const auto tells = [this](uint32_t site) { return sites_[site]->tells(); };
  for (const auto& [name, known] : names_) {
    if (known.kernel == kNone) continue;
    ++use.n_known;
    is_known[known.kernel] = 1;
    use.n_told += std::any_of(known.sites.begin(), known.sites.end(), tells) ? 1 : 0;
  }
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    use.has_nodes = use.has_nodes || (is_known[kernel_of_site_[site]] != 0 && tells(site));
  }
  return use;
}

}  // namespace layerscope::analysis
