#pragma once

#include <cstdint>

namespace layerscope::base {

/// splitmix64's finisher (Steele, Lea, Flood 2014): every input bit moves every output bit. Hash
/// maps with open addressing need that of composite keys; std::hash of an integer is the integer.
inline uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// The hash of what `hash` stands for, followed by `value`: for sequences and composite keys.
inline uint64_t MixIn(uint64_t hash, uint64_t value) {
  return Mix(hash * 0x9e3779b97f4a7c15ULL + value + 1);
}

/// For use as a map's hasher over 64-bit keys.
struct MixHash {
  uint64_t operator()(uint64_t key) const noexcept { return Mix(key + 0x9e3779b97f4a7c15ULL); }
};

}  // namespace layerscope::base
