#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace layerscope::workload {

/// A decimal number times 10^power, rounded half to even, exactly: the text never becomes a double.
/// Takes JSON's and Prometheus's way of writing ("1.5e-05", "+3", ".5"). nullopt for what is no
/// decimal number (NaN, infinities, other words) or does not fit.
std::optional<int64_t> ScaledDecimal(std::string_view text, int power);

/// Powers of ten that turn a unit into nanoseconds.
inline constexpr int kSeconds = 9;
inline constexpr int kMilliseconds = 6;

/// The longest time that a request or a run can take, 115 days: sums and products of times below it
/// stay far from the limits of an int64_t. Points in time may be later.
inline constexpr int64_t kLongestNs = int64_t{10'000'000'000'000'000};

}  // namespace layerscope::workload
