// The SIMD tables of kernels/table.h and whether this CPU (and its operating system) can run them.
#pragma once

#include "kernels/table.h"

namespace reprise::kernels::cpu {

const Table& avx2_table();
const Table& avx512_table();
const Table& avx512bf16_table();
bool has_avx2();        // AVX2, FMA, F16C
bool has_avx512();      // AVX-512 F, BW, DQ, VL and VNNI besides
bool has_avx512bf16();  // AVX512_BF16 besides
// Whether VDPBF16PS is expected to be worth its while: AMD's CPUs. (On Zen 4 it is as fast as a fused
// multiply-add of fp32, which does half as much; on Intel's Emerald Rapids it takes four times as long.)
bool has_fast_avx512bf16();

}  // namespace reprise::kernels::cpu
