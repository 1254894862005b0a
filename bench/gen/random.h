#pragma once
// The generator's only source of chance: splitmix64 (Steele, Lea, Flood 2014), so that a seed gives
// the same bytes with every compiler and library.

#include <cstdint>

namespace layerscope::gen {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [low, high], both included (modulo bias is irrelevant for a trace).
  int64_t Range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }

  bool OneIn(int64_t n) { return Range(1, n) == 1; }

  // True for `share` of 10,000 draws.
  bool PerTenThousand(int64_t share) { return share > 0 && Range(0, 9999) < share; }

 private:
  uint64_t state_;
};

}  // namespace layerscope::gen
