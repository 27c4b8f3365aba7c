// Loops that do nothing but keep one unit of the CPU busy: the limits that benchmarks compare with. Each runs
// on the calling thread, with operands in L1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise::kernels {

enum class RoofKind : uint8_t { kInt8, kBf16, kFp32 };  // of the factors

struct RoofLoop {
  RoofKind kind;
  const char* name;  // "int8 dot (AVX-512 VNNI)"
  const char* unit;  // "TOPS" or "TFLOPS": 1e12 operations a second, multiply and add counted apart
  // Returns the operations done. All factors are 1, so *sum, of all accumulators, is half of that, as long as
  // none has passed 2^24 (some ten thousand rounds).
  uint64_t (*run)(uint64_t rounds, double* sum);
};

// Those of a kernel table ("avx2", "avx512" and "avx512bf16" with the tiles, where there are any), or of the
// best this CPU has: the kinds that kernels use first: int8, bf16, fp32, then tiles. Never empty on x86-64
// with AVX2; the first is the int8 loop that windows are bracketed with. Empty: the table is "ref", unknown,
// or cannot run here.
std::vector<RoofLoop> roof_loops(std::string_view table = {});

// Reads `bytes` (a multiple of 512) once with the widest loads this CPU has: the XOR of all 64-bit words.
uint64_t roof_read(const std::byte* data, size_t bytes);

}  // namespace reprise::kernels
