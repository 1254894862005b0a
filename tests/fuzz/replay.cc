// Runs a fuzz target over its corpus and over deterministic mutations of it, in builds without
// libFuzzer: replay --mutations N CORPUS_DIR…
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

namespace {

// What one input may cost (docs/design.md): a hang ends the run by SIGALRM, memory is checked at
// the end over all inputs.
constexpr unsigned kSecondsPerInput = 20;
constexpr long kMaxResidentKiB = 1024 * 1024;

void RunOne(const std::string& input) {
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  alarm(0);
}

std::vector<std::string> ReadCorpus(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  size_t n_mutations = 0;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      n_mutations = std::strtoul(argv[++i], nullptr, 10);
    } else {
      folders.push_back(argument);
    }
  }
  const std::vector<std::string> seeds = ReadCorpus(folders);
  if (seeds.empty()) {
    std::cerr << "replay: the corpus is empty\n";
    return 1;
  }
  for (const std::string& seed : seeds) RunOne(seed);
  layerscope::tests::Random random(1);
  for (size_t i = 0; i < n_mutations; ++i) RunOne(layerscope::tests::Mutate(seeds, random));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << "replayed " << seeds.size() << " inputs and " << n_mutations << " mutations, peak "
            << usage.ru_maxrss / 1024 << " MiB\n";
  return usage.ru_maxrss > kMaxResidentKiB ? 1 : 0;
}
