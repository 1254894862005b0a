#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/document/track.h"
#include "src/model/profile.h"

namespace layerscope::document {

/// The `cat` of every event that `annotate` adds; no verb of ours takes it for anything.
inline constexpr const char* kTrackCategory = "layerscope";

/// Tracks as trace events, one at a time: name and sort index of each track's thread, then its
/// slices by start. A track is a thread of the process that its stream stands in, with a number
/// that the trace does not use, and sorts with the stream.
class TrackEvents {
 public:
  /// `rank` and `profile` (may be null) must outlive this; `rank.layers` may be null where no track
  /// is of layers.
  TrackEvents(const analysis::RankInput& rank, const model::Profile* profile,
              std::vector<Track> tracks);

  /// To be told of every event of the trace, before the first of ours is asked for: its thread's
  /// number is then not given to a track.
  void SeeThread(std::string_view tid_token);
  /// The JSON text of the next event; false when there is none left.
  bool Next(std::string& event);
  const std::vector<Track>& tracks() const { return tracks_; }

 private:
  /// Stretches that one pass, layer or block falls into on a track: how many, and given so far.
  struct Parts {
    int64_t n = 0;
    int64_t given = 0;
  };
  /// Of kernels alone, over all streams: what `passes` and `layers` print.
  struct Total {
    int64_t sum_ns = 0;
    int64_t n_kernels = 0;
  };

  void SumTotals();
  void NumberTracks();
  void StartTrack();
  std::string Metadata(const char* what, const std::string& args) const;
  std::string Slice(const Run& run);
  std::string NameOf(const Run& run) const;
  std::string ArgsOf(const Run& run) const;
  std::string LayerName(uint32_t key) const;
  std::string TotalArgs(const Run& run, const Total& total) const;
  std::string EvidenceArg(const Run& run) const;
  static uint64_t PartKey(const std::vector<Run>& runs, const Run& run);

  const analysis::RankInput& rank_;
  const model::Profile* profile_;
  int64_t most_blocks_ = 0;  ///< of a layer
  std::vector<Track> tracks_;
  std::vector<std::string> pids_;  ///< by process, as the copy writes them
  std::set<int64_t> used_tids_;    ///< of the trace, as far as they could clash
  std::vector<int64_t> tids_;      ///< by track
  std::vector<Total> pass_totals_;
  std::vector<Total> layer_totals_;
  size_t track_ = 0;
  size_t step_ = 0;  ///< within the track: 0 = its name, 1 = its sort index, then runs
  size_t run_ = 0;
  std::unordered_map<uint64_t, Parts> parts_;
};

}  // namespace layerscope::document
