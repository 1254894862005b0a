#include "src/session/layer_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/io/small_file.h"
#include "src/session/side_file_name.h"

namespace layerscope::session {
namespace {

/// A server's arguments are a command line; a file larger than this holds something else.
constexpr size_t kMaxServerArgsBytes = size_t{1} << 20;

/// The option's own text, or what stands in the file of that name.
base::Result<std::string> ServerArguments(const std::string& text_or_file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(text_or_file, error)) {
    const bool has_options =
        text_or_file.starts_with("-") || text_or_file.find(" -") != std::string::npos;
    if (has_options) return text_or_file;
    return base::UsageError(
        fmt::format("--server-args: '{}' is neither a file nor options such as --tp 4",
                    text_or_file),
        "give the server's command line, or the file that holds it");
  }
  base::Result<std::string> text = io::ReadSmallFile(
      text_or_file, kMaxServerArgsBytes, "a server's command line", "give the command line itself");
  if (!text.ok()) return std::move(text).error().WithContext("--server-args");
  return text;
}

base::Status SetDegree(const OptionValues& values, const char* name,
                       model::ParallelDegree& degree) {
  const std::optional<int64_t> size = values.Number(name);
  if (!size) return {};
  if (*size < 1) {
    return base::UsageError(fmt::format("--{} 0 is no parallel size", name),
                            "the smallest size is 1");
  }
  degree = {size, fmt::format("--{}", name)};
  return {};
}

base::Result<model::ParallelLayout> ParallelOf(const OptionValues& values) {
  model::ParallelLayout layout;
  if (const std::optional<std::string> given = values.Text("server-args")) {
    base::Result<std::string> text = ServerArguments(*given);
    if (!text.ok()) return std::move(text).error();
    base::Result<model::ParallelLayout> parsed = model::ParseServerArguments(*text);
    if (!parsed.ok()) return std::move(parsed).error();
    layout = *std::move(parsed);
  }
  const std::pair<const char*, model::ParallelDegree*> degrees[] = {
      {"tp", &layout.tp}, {"pp", &layout.pp}, {"dp", &layout.dp}, {"ep", &layout.ep}};
  for (const auto& [name, degree] : degrees) {
    if (base::Status set = SetDegree(values, name, *degree); !set.ok()) {
      return std::move(set).error();
    }
  }
  return layout;
}

base::Status SetProfile(const OptionValues& values, LayerContext& context) {
  if (const std::optional<std::string> name = values.Text("profile")) {
    base::Result<model::Profile> profile = model::LoadProfile(*name);
    if (!profile.ok()) return std::move(profile).error();
    context.profile = std::make_shared<const model::Profile>(*std::move(profile));
    context.options.profile_why = fmt::format("--profile {}", *name);
    return {};
  }
  const model::ProfileChoice choice = model::ChooseProfile(context.config.get());
  context.profile = std::make_shared<const model::Profile>(*choice.profile);
  context.options.profile_why = choice.why;
  return {};
}

base::Status CheckCounts(const layers::LayerOptions& options) {
  if (options.num_layers == 0) {
    return base::UsageError("--num-layers 0 leaves no layer", "give the number of decoder layers");
  }
  if (options.blocks_per_layer == 0) {
    return base::UsageError("--blocks-per-layer 0 leaves no block", "a layer has 1, 2 or 4 blocks");
  }
  if (options.anchor.empty() && options.anchor_is_boundary) {
    return base::UsageError("--anchor-boundary goes with --anchor-kernel",
                            "name the kernel that opens a block");
  }
  // A profile's candidates are tried on their own, not counted on.
  const model::ProfileAnchor& of_profile = options.profile->anchor;
  if (options.anchor.empty() && (of_profile.patterns.empty() || of_profile.given)) {
    const char* const alone = options.anchor_offset      ? "--anchor-offset"
                              : options.blocks_per_layer ? "--blocks-per-layer"
                                                         : nullptr;
    if (alone != nullptr) {
      return base::UsageError(fmt::format("{} counts anchors, and there is no anchor", alone),
                              fmt::format("give --anchor-kernel; profile {} has none of its own",
                                          options.profile->name));
    }
  }
  return {};
}

base::Result<std::string> ReadConfig(const std::string& path) {
  return io::ReadSmallFile(path, model::kMaxConfigBytes, "a config.json",
                           "give the config.json of the model");
}

/// The first that has not the text of the one in front; empty: all have it.
std::string FirstOther(const std::vector<std::string>& paths) {
  if (paths.size() < 2) return {};
  const base::Result<std::string> front = ReadConfig(paths.front());
  const auto other = std::find_if(paths.begin() + 1, paths.end(), [&front](const auto& path) {
    const base::Result<std::string> text = ReadConfig(path);
    return !front.ok() || !text.ok() || *text != *front;
  });
  return other == paths.end() ? std::string() : *other;
}

/// A config whose folder holds traces, so that the folder's name is not the model's.
base::Result<model::ModelConfig> LoadNameless(const std::string& path,
                                              std::optional<int64_t> num_layers) {
  base::Result<std::string> text = ReadConfig(path);
  if (!text.ok()) return std::move(text).error();
  base::Result<model::ModelConfig> config = model::ParseModelConfig(*text, kConfigName, num_layers);
  if (!config.ok()) return config;
  config->path = path;
  if (config->name.empty() && !config->architectures.empty()) {
    config->name = config->architectures.front();
  }
  return config;
}

/// A config that nobody named: used, or left out, and said in either case.
void TakeConfigBeside(const OptionValues& values, const std::vector<std::string>& found,
                      LayerContext& context) {
  if (found.empty()) return;
  const std::string& path = found.front();
  if (const std::string other = FirstOther(found); !other.empty()) {
    context.health.push_back(
        {"side_file_unused", table::Severity::kWarning, static_cast<int64_t>(found.size()),
         fmt::format("{} and {} are not the same, so neither is used; --config names one.", path,
                     other)});
    return;
  }
  base::Result<model::ModelConfig> config = LoadNameless(path, values.Number("num-layers"));
  if (!config.ok()) {
    std::string why = config.error().message;
    if (why.starts_with(kConfigName)) why.replace(0, std::string_view(kConfigName).size(), path);
    const bool is_named = why.find(path) != std::string::npos;
    context.unused = is_named ? why : fmt::format("{}: {}", path, why);
    context.health.push_back(
        {"side_file_unreadable", table::Severity::kWarning, 1,
         fmt::format("The config.json beside the trace was left out ({}).", *context.unused)});
    return;
  }
  context.config = std::make_shared<const model::ModelConfig>(*std::move(config));
  context.health.push_back(
      {"side_file_used", table::Severity::kInfo, 1,
       fmt::format("{} was found beside the trace and read as the model's config; --no-side-files "
                   "leaves such files out.",
                   path)});
}

base::Status SetConfig(const OptionValues& values, const std::vector<std::string>& configs_beside,
                       LayerContext& context) {
  const std::optional<std::string> path = values.Text("config");
  if (!path) {
    if (!values.Flag("no-side-files")) TakeConfigBeside(values, configs_beside, context);
    return {};
  }
  base::Result<model::ModelConfig> config =
      model::LoadModelConfig(*path, values.Number("num-layers"));
  if (!config.ok()) return std::move(config).error().WithContext("--config");
  context.config = std::make_shared<const model::ModelConfig>(*std::move(config));
  return {};
}

}  // namespace

base::Result<LayerContext> LoadLayerContext(const OptionValues& values,
                                            const std::vector<std::string>& configs_beside) {
  LayerContext context;
  if (base::Status set = SetConfig(values, configs_beside, context); !set.ok()) {
    return std::move(set).error();
  }
  if (base::Status set = SetProfile(values, context); !set.ok()) return std::move(set).error();
  base::Result<model::ParallelLayout> parallel = ParallelOf(values);
  if (!parallel.ok()) return std::move(parallel).error();
  context.parallel = *std::move(parallel);
  layers::LayerOptions& options = context.options;
  options.anchor = values.TextOr("anchor-kernel", {});
  options.anchor_is_boundary = values.Flag("anchor-boundary");
  options.blocks_per_layer = values.Number("blocks-per-layer");
  options.anchor_offset = values.Number("anchor-offset");
  options.num_layers = values.Number("num-layers");
  context.rank = values.Number("rank");
  options.pid = values.Text("pid");
  options.device = values.Text("device");
  options.stream = values.Text("stream");
  options.config = context.config.get();
  options.profile = context.profile.get();
  if (base::Status counts = CheckCounts(options); !counts.ok()) return std::move(counts).error();
  return context;
}

}  // namespace layerscope::session
