#pragma once

#include <string>

#include "src/replay/capture_choice.h"
#include "src/replay/capture_finding.h"
#include "src/replay/capture_library.h"
#include "src/replay/resolution.h"

namespace layerscope::replay {

/// Writes what was found for a graph launch: its rows' places, and the outcome.
class CapturePlacement {
 public:
  /// `first_file` is named where no file holds a capture.
  CapturePlacement(Resolution& resolution, CaptureLibrary& library, std::string first_file)
      : resolution_(resolution), library_(library), first_file_(std::move(first_file)) {}

  void Write(uint32_t launch, const WantedCapture& wanted, const Finding& finding);

 private:
  void Withhold(const Finding& finding, LaunchOutcome& outcome) const;
  void Place(uint32_t index, const Finding& finding);
  void Say(const WantedCapture& wanted, const Finding& finding, LaunchOutcome& before) const;
  void SayBatch(const WantedCapture& wanted, LaunchOutcome& outcome) const;

  Resolution& resolution_;
  CaptureLibrary& library_;
  const std::string first_file_;
};

}  // namespace layerscope::replay
