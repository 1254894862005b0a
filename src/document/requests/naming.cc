#include "src/document/requests/naming.h"

#include <fmt/format.h>

#include <cstddef>

namespace layerscope::document {
namespace {

/// Requests of one model share more than this even where one has four times the other's layers.
constexpr int64_t kLeastSharedPercent = 10;

/// What one request has in common with the others.
struct Meeting {
  int64_t shared = 0;                     ///< of its modules those that another request has
  const AlignedModule* sample = nullptr;  ///< one that shows how it names modules
};

std::vector<Meeting> MeetingsOf(const AlignedTree& tree) {
  std::vector<Meeting> meetings(tree.modules_of.size());
  for (const AlignedModule& module : tree.modules) {
    for (const auto& [request, figures] : module.of_request) {
      Meeting& meeting = meetings[request];
      if (module.of_request.size() > 1) ++meeting.shared;
      // What lies below the root says more than the root, which has no name in paths.
      const bool is_root = module.parent == AlignedModule::kNone;
      const bool has_better =
          meeting.sample != nullptr && (is_root || meeting.sample->parent != AlignedModule::kNone);
      if (!has_better) meeting.sample = &module;
    }
  }
  return meetings;
}

}  // namespace

std::optional<table::HealthEntry> RequestsApart(const AlignedTree& tree,
                                                const std::vector<std::string>& names) {
  const std::vector<Meeting> meetings = MeetingsOf(tree);
  std::vector<size_t> named;
  std::vector<size_t> apart;
  for (size_t i = 0; i < meetings.size(); ++i) {
    if (tree.modules_of[i] == 0) continue;
    named.push_back(i);
    const bool meets = meetings[i].shared * 100 > tree.modules_of[i] * kLeastSharedPercent;
    if (!meets) apart.push_back(i);
  }
  if (apart.empty() || named.size() < 2) return std::nullopt;
  const size_t request = apart.back();
  const size_t other = named.front() == request ? named.back() : named.front();
  const int64_t shared = meetings[request].shared;
  const std::string what =
      shared == 0 ? fmt::format("No module of {} is in {}", names[request], names[other])
                  : fmt::format("Only {} of {} modules of {} are in another request", shared,
                                tree.modules_of[request], names[request]);
  return table::HealthEntry{
      "requests_not_aligned", table::Severity::kWarning, static_cast<int64_t>(apart.size()),
      fmt::format("{}: {} here, {} there. A model tree (--model-tree) or, of replayed graphs, "
                  "their capture (--capture-trace) names the modules of all requests alike.",
                  what, meetings[request].sample->path, meetings[other].sample->path)};
}

}  // namespace layerscope::document
