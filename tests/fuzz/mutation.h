#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace layerscope::tests {

/// A small deterministic generator (splitmix64): the same seed gives the same mutations everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  /// Uniform in [0, limit); 0 for limit 0.
  size_t Below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(Next() % limit); }

 private:
  uint64_t state_;
};

/// One seed, damaged one to eight times: cut, bytes changed, spans removed, repeated, exchanged
/// with another seed, or tokens inserted that JSON readers trip over.
std::string Mutate(const std::vector<std::string>& seeds, Random& random);

}  // namespace layerscope::tests
