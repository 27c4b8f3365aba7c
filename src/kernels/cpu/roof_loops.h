// Peak loops per instruction set; kernels/roof.h lists those this CPU has and says what they return. Plain
// functions, see cpu/micro.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::kernels::cpu {

namespace avx2 {
uint64_t roof_int8(uint64_t rounds, double* sum);
uint64_t roof_fp32(uint64_t rounds, double* sum);
uint64_t read(const std::byte* data, size_t bytes);
}  // namespace avx2

namespace avx512 {
uint64_t roof_int8(uint64_t rounds, double* sum);
uint64_t roof_fp32(uint64_t rounds, double* sum);
uint64_t read(const std::byte* data, size_t bytes);
}  // namespace avx512

namespace avx512bf16 {
uint64_t roof_bf16(uint64_t rounds, double* sum);
}

namespace amx {
bool usable();  // the CPU has the tiles and the system granted them to this process
uint64_t roof_int8(uint64_t rounds, double* sum);
uint64_t roof_bf16(uint64_t rounds, double* sum);
}  // namespace amx

}  // namespace reprise::kernels::cpu
