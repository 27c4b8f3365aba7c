// The SIMD tables: the drivers bound to one instruction set each.
#include "kernels/cpu/tables.h"

#include "kernels/cpu/drivers.h"

namespace reprise::kernels::cpu {

namespace {
// Table entries are plain functions: the instruction set is a template argument.
template <const MicroKernels& isa>
constexpr Table make_table(const char* name, double macs_per_byte, bool bf16_attention = false) {
  return {
      name,
      macs_per_byte,
      bf16_attention,
      pack,
      unpack_row,
      [](TaskPool& pool, const float* x, uint32_t rows, uint32_t cols, size_t ld, Input& input) {
        prepare(isa, pool, x, rows, cols, ld, input);
      },
      [](TaskPool& pool, const Input& input, std::span<const Product> list, Epilogue epilogue) {
        products(isa, pool, input, list, epilogue);
      },
      [](TaskPool& pool, const float* x, size_t ldx, const float* weight, float eps, uint32_t rows,
         uint32_t cols, float* out, size_t ldo,
         Epilogue epilogue) { rms_norm(isa, pool, x, ldx, weight, eps, rows, cols, out, ldo, epilogue); },
      [](TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads, uint32_t dim,
         const float* weight, float eps) { head_norm(isa, pool, x, ld, rows, heads, dim, weight, eps); },
      [](TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads, uint32_t dim, uint32_t rotary,
         const float* cos, const float* sin,
         bool interleaved) { rope(isa, pool, x, ld, rows, heads, dim, rotary, cos, sin, interleaved); },
      [](TaskPool& pool, Gating gating, float* gate, const float* up, size_t ld, uint32_t rows,
         uint32_t cols) { glu(isa, pool, gating, gate, up, ld, rows, cols); },
      [](TaskPool& pool, const ExpertsArgs& args) { experts(isa, pool, args); },
      kv_page_bytes,
      kv_write,
      [](TaskPool& pool, const AttentionArgs& args) { attention(isa, pool, args); },
  };
}

constexpr Table kAvx2Table = make_table<kAvx2>("avx2", 3);        // 95 and 30 billion a second
constexpr Table kAvx512Table = make_table<kAvx512>("avx512", 7);  // 180 and 25 billion
constexpr Table kAvx512Bf16Table = make_table<kAvx512Bf16>("avx512bf16", 7, true);
}  // namespace

const Table& avx2_table() { return kAvx2Table; }
const Table& avx512_table() { return kAvx512Table; }
const Table& avx512bf16_table() { return kAvx512Bf16Table; }

// The built-ins read CPUID and, through XGETBV, whether the system saves the registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}
bool has_avx512bf16() { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }
bool has_fast_avx512bf16() { return has_avx512bf16() && __builtin_cpu_is("amd"); }

}  // namespace reprise::kernels::cpu
