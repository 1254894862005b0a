#include "src/attribution/tree_match.h"

#include <fmt/format.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "src/attribution/path_parts.h"

namespace layerscope::attribution {
namespace {

constexpr int32_t kNone = TreeMatch::kNone;

/// Modules that hold others and are never called themselves.
constexpr std::array<std::string_view, 4> kContainers = {"ModuleList", "ModuleDict", "Sequential",
                                                         "ParameterList"};

/// Experts are called in the order in which tokens reach them: "mlp.experts.7", and what is in it.
bool IsChosenByData(std::string_view path) {
  constexpr std::string_view kExperts = "experts.";
  for (size_t at = path.find(kExperts); at != std::string_view::npos;
       at = path.find(kExperts, at + 1)) {
    const size_t number = at + kExperts.size();
    if (number < path.size() && path[number] >= '0' && path[number] <= '9') return true;
  }
  return false;
}

/// Is it a layer or in one: "layers.3.attn"?
bool IsInLayer(std::string_view path) {
  return FirstNumber(path).number >= 0;
}

class TreeMatcher {
 public:
  TreeMatcher(const model::ModelTree& tree, const trace::Trace& trace, const ModuleTree& modules)
      : tree_(tree), trace_(trace), of_trace_(modules), modules_(modules.modules) {
    match_.tree_of_module.assign(modules_.size(), kNone);
  }

  TreeMatch Match() {
    ReadClasses();
    FindOtherModels();
    FindInstances();
    FindMadeAnew();
    FindCalledParents();
    if (tree_.call_order.empty()) {
      MatchSiblings();
    } else {
      MatchNumbers();
    }
    CheckNesting();
    Count();
    return std::move(match_);
  }

 private:
  struct Class {
    std::vector<uint32_t> members;  ///< of the tree, in order of first call or of definition
    bool by_data = false;
    bool is_called = false;  ///< the trace has an instance of it
    bool is_container = false;
    bool holds_others = false;  ///< in the trace
    bool is_made_anew = false;  ///< a forward makes modules of it beside those of the tree
    int64_t n_called = 0;       ///< by the numbers of its instances
  };
  struct Instance {
    ModuleId first;  ///< the first module of that name
    int32_t class_id = kNone;
    int64_t number = 0;
    int32_t tree = kNone;
    bool fits = false;      ///< of its parents one fits
    bool is_other = true;   ///< every call of it lies in another model
    bool has_path = false;  ///< a range of the trace says which module it is
  };

  void ReadClasses() {
    class_of_tree_.resize(tree_.modules.size());
    for (size_t i = 0; i < tree_.modules.size(); ++i) {
      const model::ModelTree::Module& module = tree_.modules[i];
      const auto [at, is_new] =
          class_ids_.try_emplace(module.class_name, static_cast<int32_t>(classes_.size()));
      if (is_new) classes_.emplace_back();
      class_of_tree_[i] = at->second;
      Class& of = classes_[static_cast<size_t>(at->second)];
      of.by_data = of.by_data || IsChosenByData(module.path);
      of.is_container =
          std::find(kContainers.begin(), kContainers.end(), module.class_name) != kContainers.end();
      if (tree_.call_order.empty()) of.members.push_back(static_cast<uint32_t>(i));
    }
    for (const uint32_t i : tree_.call_order) ClassOfTree(i).members.push_back(i);
  }

  Class& ClassOfTree(size_t tree) { return classes_[static_cast<size_t>(class_of_tree_[tree])]; }

  /// The number of a module of the model's own class; -1: it is of another class.
  int64_t ModelNumber(size_t at) const {
    const InstanceName name = SplitInstance(trace_.strings[modules_[at].name]);
    const bool is_model = name.class_name == tree_.modules.front().class_name;
    return is_model && IsClassNamed(at) ? name.number : -1;
  }
  bool IsClassNamed(size_t at) const { return of_trace_.IsNamedByClass(ModuleId(at), trace_); }

  /// Beside the model others may run: a draft model, of its class or as a root of another one. The
  /// tree knows nothing of them.
  void FindOtherModels() {
    in_other_.assign(modules_.size(), 0);
    std::vector<uint8_t> holds_model(modules_.size(), 0);
    if (tree_.modules.empty()) return;
    bool has_model = false;
    for (size_t i = modules_.size(); i-- > 0;) {
      if (ModelNumber(i) == 0) {
        has_model = true;
        holds_model[i] = 1;
      }
      const ModuleId up = modules_[i].parent;
      if (up.valid() && holds_model[i] != 0) holds_model[up.index()] = 1;
    }
    for (size_t i = 0; has_model && i < modules_.size(); ++i) {
      const Module& module = modules_[i];
      const InstanceName name = SplitInstance(trace_.strings[module.name]);
      const bool is_known = module.path.valid() || class_ids_.contains(name.class_name);
      const bool is_root = !module.parent.valid() && !is_known && holds_model[i] == 0;
      const bool is_copy = ModelNumber(i) >= static_cast<int64_t>(ClassOfTree(0).members.size());
      const bool in_one = module.parent.valid() && in_other_[module.parent.index()] != 0;
      in_other_[i] = is_root || (is_copy && holds_model[i] == 0) || in_one ? 1 : 0;
    }
  }

  void FindInstances() {
    instance_of_.assign(modules_.size(), kNone);
    near_.resize(modules_.size());
    tsl::robin_map<uint64_t, int32_t, base::MixHash> known;
    for (size_t i = 0; i < modules_.size(); ++i) {
      const Module& module = modules_[i];
      if (module.parent.valid()) {
        const size_t parent = module.parent.index();
        near_[i] = instance_of_[parent] == kNone ? near_[parent] : module.parent;
        if (instance_of_[parent] != kNone) ClassOf(instance_of_[parent]).holds_others = true;
      }
      const InstanceName name = SplitInstance(trace_.strings[module.name]);
      const auto found = class_ids_.find(name.class_name);
      if (!IsClassNamed(i)) continue;
      if (found == class_ids_.end()) {
        if (in_other_[i] == 0 && !module.path.valid()) CountForeign(module, near_[i]);
        continue;
      }
      Class& of = classes_[static_cast<size_t>(found->second)];
      of.is_called = of.is_called || in_other_[i] == 0;
      if (in_other_[i] == 0) of.n_called = std::max(of.n_called, name.number + 1);
      const uint64_t key = uint64_t{module.process.index()} << 32U | module.name.index();
      const auto [at, is_new] = known.try_emplace(key, static_cast<int32_t>(instances_.size()));
      if (is_new) instances_.push_back({ModuleId(i), found->second, name.number, kNone, false});
      if (module.path.valid()) instances_[static_cast<size_t>(at->second)].has_path = true;
      instance_of_[i] = at->second;
      if (in_other_[i] == 0) instances_[static_cast<size_t>(at->second)].is_other = false;
    }
    CountOthers();
  }

  Class& ClassOf(int32_t instance) {
    return classes_[static_cast<size_t>(instances_[static_cast<size_t>(instance)].class_id)];
  }

  /// Some forwards make an activation at each call. It holds nothing, so that no other class is
  /// counted otherwise; which of its class are the tree's cannot be told.
  void FindMadeAnew() {
    for (Class& of : classes_) {
      const auto n = static_cast<int64_t>(of.members.size());
      of.is_made_anew = n > 0 && of.n_called > n && !of.holds_others && !of.by_data;
    }
    for (const Instance& instance : instances_) {
      const Class& of = classes_[static_cast<size_t>(instance.class_id)];
      if (!of.is_made_anew || instance.is_other || instance.has_path) continue;
      if (match_.n_made_anew++ > 0) continue;
      match_.made_anew =
          fmt::format("{} of {}", of.n_called, tree_.modules[of.members[0]].class_name);
    }
  }

  void CountOthers() {
    for (const Instance& instance : instances_) {
      if (!instance.is_other || instance.has_path || match_.n_other++ > 0) continue;
      ModuleId top = instance.first;
      while (modules_[top.index()].parent.valid()) top = modules_[top.index()].parent;
      match_.other = trace_.strings[modules_[top.index()].name];
    }
  }

  /// A module whose class the tree lacks, where it lies inside the model.
  void CountForeign(const Module& module, ModuleId near) {
    if (!near.valid()) return;
    const uint64_t key = uint64_t{module.process.index()} << 32U | module.name.index();
    if (!foreign_.insert(key).second) return;
    if (match_.n_foreign++ == 0) match_.foreign = trace_.strings[module.name];
  }

  /// By module of the tree: the nearest one above whose class is called in the trace.
  void FindCalledParents() {
    called_parent_.assign(tree_.modules.size(), kNone);
    skips_module_.assign(tree_.modules.size(), 0);
    for (size_t i = 0; i < tree_.modules.size(); ++i) {
      const int32_t up = tree_.modules[i].parent;
      if (up < 0) continue;
      const auto parent = static_cast<size_t>(up);
      const Class& of = ClassOfTree(parent);
      called_parent_[i] = of.is_called ? up : called_parent_[parent];
      if (!of.is_called) skips_module_[i] = !of.is_container || skips_module_[parent] != 0 ? 1 : 0;
    }
  }

  void MatchNumbers() {
    for (Instance& instance : instances_) {
      const Class& of = classes_[static_cast<size_t>(instance.class_id)];
      if (of.by_data || of.is_made_anew || instance.is_other || IsOneTooMany(instance)) continue;
      instance.tree = static_cast<int32_t>(of.members[static_cast<size_t>(instance.number)]);
    }
  }

  /// A class of the tree that nobody called when its order was recorded has no order to be matched.
  bool IsOneTooMany(const Instance& instance) {
    const Class& of = classes_[static_cast<size_t>(instance.class_id)];
    if (static_cast<size_t>(instance.number) < of.members.size()) return false;
    if (!of.members.empty()) {
      Misfit(fmt::format("{} is called, and the tree has {} of that class",
                         trace_.strings[modules_[instance.first.index()].name], of.members.size()));
    }
    return true;
  }

  void Misfit(std::string what) {
    if (match_.n_misfits++ == 0) match_.misfit = std::move(what);
  }

  int32_t TreeOf(ModuleId module) const {
    if (!module.valid() || instance_of_[module.index()] == kNone) return kNone;
    return instances_[static_cast<size_t>(instance_of_[module.index()])].tree;
  }

  /// Is `above` the module `below` or around it?
  bool IsAround(int32_t above, int32_t below) const {
    if (above < 0) return true;
    const std::string& path = tree_.modules[static_cast<size_t>(above)].path;
    const std::string& inner = tree_.modules[static_cast<size_t>(below)].path;
    if (path.empty() || above == below) return true;
    return inner.size() > path.size() && inner.starts_with(path) && inner[path.size()] == '.';
  }

  /// Can the module `at` of the trace, which lies in that of `near_`, be `tree`? It is called in
  /// the module that holds it, in a part of that (siblings call each other), or past it: then the
  /// holder must be called elsewhere, as an outer model does that uses an inner one's embedding;
  /// nothing reaches past what holds it into a layer.
  bool Fits(size_t at, int32_t tree) const {
    const ModuleId near = near_[at];
    const int32_t holder = called_parent_[static_cast<size_t>(tree)];
    const bool unknown_between = modules_[at].parent.valid() && modules_[at].parent != near;
    if (unknown_between && skips_module_[static_cast<size_t>(tree)] != 0) return false;
    const int32_t around = TreeOf(near);
    if (near.valid() && around == kNone) return true;  // nothing known of what is around it
    if (near.valid() && IsAround(holder, around)) return true;
    const bool past = !near.valid() || IsAround(around, holder);
    if (!past || holder < 0) return past;
    const auto holds = static_cast<size_t>(holder);
    return is_matched_[holds] != 0 && !IsInLayer(tree_.modules[holds].path);
  }

  void CheckNesting() {
    is_matched_.assign(tree_.modules.size(), 0);
    for (const Instance& instance : instances_) {
      if (instance.tree != kNone) is_matched_[static_cast<size_t>(instance.tree)] = 1;
    }
    for (size_t i = 0; i < modules_.size(); ++i) {
      const int32_t tree = TreeOf(ModuleId(i));
      if (tree == kNone) continue;
      Instance& instance = instances_[static_cast<size_t>(instance_of_[i])];
      instance.fits = instance.fits || instance.has_path || Fits(i, tree);
    }
    for (const Instance& instance : instances_) {
      if (instance.tree != kNone && !instance.fits) Misfit(NestedOtherwise(instance));
    }
  }

  std::string NestedOtherwise(const Instance& instance) const {
    const ModuleId near = near_[instance.first.index()];
    return fmt::format("{} would be {}, but it is called {}",
                       trace_.strings[modules_[instance.first.index()].name],
                       tree_.modules[static_cast<size_t>(instance.tree)].path,
                       near.valid()
                           ? fmt::format("in {}", trace_.strings[modules_[near.index()].name])
                           : std::string("outside of every module of the tree"));
  }

  /// Instances of one class that are first called in one module, in order of their numbers.
  void MatchSiblings() {
    GroupTree();
    GroupInstances();
    for (const std::vector<uint32_t>& group : groups_) MatchGroup(group);
  }

  static uint64_t GroupKey(uint64_t above, int32_t class_id) {
    return (above + 1) << 32U | static_cast<uint32_t>(class_id);
  }

  void GroupTree() {
    for (size_t i = 0; i < tree_.modules.size(); ++i) {
      if (!ClassOfTree(i).is_called) continue;
      const auto above = static_cast<uint64_t>(static_cast<int64_t>(called_parent_[i]));
      const auto [at, is_new] =
          tree_group_of_.try_emplace(GroupKey(above, class_of_tree_[i]), tree_groups_.size());
      if (is_new) tree_groups_.emplace_back();
      tree_groups_[at->second].push_back(static_cast<uint32_t>(i));
    }
  }

  void GroupInstances() {
    tsl::robin_map<uint64_t, size_t, base::MixHash> known;
    for (uint32_t i = 0; i < instances_.size(); ++i) {
      if (instances_[i].is_other) continue;
      const ModuleId near = near_[instances_[i].first.index()];
      const uint64_t above =
          near.valid() ? near.index() : (uint64_t{1} << 31U) + ProcessOf(instances_[i]).index();
      const auto [at, is_new] =
          known.try_emplace(GroupKey(above, instances_[i].class_id), groups_.size());
      if (is_new) groups_.emplace_back();
      groups_[at->second].push_back(i);
    }
    for (std::vector<uint32_t>& group : groups_) {
      std::sort(group.begin(), group.end(), [this](uint32_t a, uint32_t b) {
        return instances_[a].number < instances_[b].number;
      });
    }
  }

  trace::ProcessId ProcessOf(const Instance& instance) const {
    return modules_[instance.first.index()].process;
  }

  /// Groups come in order of first call, so that what is around a group is matched before it.
  void MatchGroup(const std::vector<uint32_t>& group) {
    const Instance& first = instances_[group.front()];
    const Class& of = classes_[static_cast<size_t>(first.class_id)];
    if (of.is_made_anew) return;
    for (const uint32_t i : group) {
      if (IsOneTooMany(instances_[i])) return;
    }
    if (of.members.size() == 1) {
      if (!IsChosenByData(tree_.modules[of.members.front()].path)) {
        instances_[group.front()].tree = static_cast<int32_t>(of.members.front());
      }
      return;
    }
    const ModuleId near = near_[first.first.index()];
    if (near.valid() && TreeOf(near) == kNone) return;
    const auto above = static_cast<uint64_t>(static_cast<int64_t>(TreeOf(near)));
    const auto found = tree_group_of_.find(GroupKey(above, first.class_id));
    if (found == tree_group_of_.end()) return;
    const std::vector<uint32_t>& members = tree_groups_[found->second];
    if (group.size() > members.size()) {
      return Misfit(
          fmt::format("{} calls {} of {}, and the tree has {} there",
                      near.valid() ? trace_.strings[modules_[near.index()].name] : "the trace",
                      group.size(), tree_.modules[members.front()].class_name, members.size()));
    }
    if (group.size() < members.size()) return;
    for (size_t i = 0; i < group.size(); ++i) {
      if (IsChosenByData(tree_.modules[members[i]].path)) return;
      instances_[group[i]].tree = static_cast<int32_t>(members[i]);
    }
  }

  void Count() {
    match_.n_instances = static_cast<int64_t>(instances_.size());
    for (const Instance& instance : instances_) {
      if (instance.tree != kNone || instance.has_path) ++match_.n_matched;
      const bool by_data = classes_[static_cast<size_t>(instance.class_id)].by_data;
      const bool is_left = instance.tree == kNone && !instance.is_other && !instance.has_path;
      if (by_data && is_left) ++match_.n_by_data;
    }
    for (size_t i = 0; i < modules_.size(); ++i) match_.tree_of_module[i] = TreeOf(ModuleId(i));
  }

  const model::ModelTree& tree_;
  const trace::Trace& trace_;
  const ModuleTree& of_trace_;
  const std::vector<Module>& modules_;
  TreeMatch match_;
  base::StringMap<int32_t> class_ids_;
  tsl::robin_set<uint64_t, base::MixHash> foreign_;
  std::vector<Class> classes_;
  std::vector<int32_t> class_of_tree_;  // by module of the tree
  std::vector<int32_t> called_parent_;  // by module of the tree
  std::vector<uint8_t> skips_module_;  // by module of the tree: one that is no container is between
  std::vector<uint8_t> is_matched_;    // by module of the tree
  std::vector<Instance> instances_;    // in order of first call
  std::vector<int32_t> instance_of_;   // by ModuleId
  std::vector<uint8_t> in_other_;      // by ModuleId: in another model than the tree's
  std::vector<ModuleId> near_;         // by ModuleId: the nearest module around it that is known
  std::vector<std::vector<uint32_t>> groups_;
  std::vector<std::vector<uint32_t>> tree_groups_;
  tsl::robin_map<uint64_t, size_t, base::MixHash> tree_group_of_;
};

}  // namespace

TreeMatch MatchModelTree(const model::ModelTree& tree, const trace::Trace& trace,
                         const ModuleTree& modules) {
  return TreeMatcher(tree, trace, modules).Match();
}

}  // namespace layerscope::attribution
