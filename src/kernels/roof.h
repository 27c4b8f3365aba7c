// Loops that do nothing but keep one unit of the CPU busy: the limits that benchmarks compare with. Each runs
// on the calling thread with data that stays in L1 (or in registers, for tiles).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::kernels {

struct RoofLoop {
  const char* name;  // "int8 dot (AVX-512 VNNI)"
  const char* unit;  // "TOPS" or "TFLOPS": 1e12 operations a second, multiply and add counted apart
  uint64_t (*run)(uint64_t rounds);  // operations done
};

// Those this CPU has, the kinds that kernels use first: int8, bf16, fp32. Never empty on x86-64 with AVX2;
// the first is the int8 loop that a window of a tile kernel is bracketed with.
std::vector<RoofLoop> roof_loops();

// Reads `bytes` (a multiple of 512) once with the widest loads this CPU has. The result only depends on the
// data.
uint64_t roof_read(const std::byte* data, size_t bytes);

}  // namespace reprise::kernels
