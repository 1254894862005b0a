#pragma once

#include <cstddef>
#include <cstdint>

/// What every fuzz target defines; libFuzzer and the replay call it. It aborts on a finding.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
