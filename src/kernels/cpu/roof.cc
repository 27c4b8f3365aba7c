// Chooses the peak loops by CPUID, as tables.cc does the kernels.
#include "kernels/roof.h"

#include <cstring>

#include "kernels/cpu/roof_loops.h"
#include "kernels/cpu/tables.h"

namespace reprise::kernels {

std::vector<RoofLoop> roof_loops(std::string_view table) {
  using enum RoofKind;
  std::vector<RoofLoop> loops;
  const bool avx512 = cpu::has_avx512() && (table.empty() || table == "avx512");
  if (avx512 || (cpu::has_avx512bf16() && table == "avx512bf16")) {
    loops.push_back({kInt8, "int8 dot (AVX-512 VNNI)", "TOPS", cpu::avx512::roof_int8});
    if (cpu::has_avx512bf16())
      loops.push_back({kBf16, "bf16 dot (AVX512_BF16)", "TFLOPS", cpu::avx512bf16::roof_bf16});
    loops.push_back({kFp32, "fp32 FMA (AVX-512)", "TFLOPS", cpu::avx512::roof_fp32});
    if (cpu::amx::usable()) {
      loops.push_back({kInt8, "int8 tile (AMX)", "TOPS", cpu::amx::roof_int8});
      loops.push_back({kBf16, "bf16 tile (AMX)", "TFLOPS", cpu::amx::roof_bf16});
    }
  } else if (cpu::has_avx2() && (table.empty() || table == "avx2")) {
    loops.push_back({kInt8, "int8 dot (AVX2)", "TOPS", cpu::avx2::roof_int8});
    loops.push_back({kFp32, "fp32 FMA (AVX2)", "TFLOPS", cpu::avx2::roof_fp32});
  }
  return loops;
}

uint64_t roof_read(const std::byte* data, size_t bytes) {
  if (cpu::has_avx512()) return cpu::avx512::read(data, bytes);
  if (cpu::has_avx2()) return cpu::avx2::read(data, bytes);
  uint64_t sum = 0, word;
  for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
    std::memcpy(&word, data + i, sizeof word);
    sum ^= word;
  }
  return sum;
}

}  // namespace reprise::kernels
