// The SIMD tables of kernels/table.h and whether this CPU (and its operating system) can run them.
#pragma once

#include "kernels/table.h"

namespace reprise::kernels::cpu {

const Table& avx2_table();
const Table& avx512_table();
bool has_avx2();    // AVX2, FMA, F16C
bool has_avx512();  // AVX-512 F, BW, DQ, VL and VNNI besides

}  // namespace reprise::kernels::cpu
