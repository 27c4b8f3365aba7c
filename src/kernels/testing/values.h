// Numbers for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace reprise::kernels::testing {

// From a normal distribution of mean 0; the same seed gives the same.
inline std::vector<float> random_values(size_t n, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

}  // namespace reprise::kernels::testing
