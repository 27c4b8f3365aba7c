// Design: one list of tables, the fastest first; the first that this CPU runs well is taken.
#include "kernels/cpu/tables.h"
#include "kernels/table.h"

namespace reprise::kernels {

Result<const Table*> select(std::string_view forced) {
  const struct {
    const Table& table;
    bool usable, good;
    const char* needs;
  } tables[] = {
      {cpu::avx512bf16_table(), cpu::has_avx512bf16(), cpu::has_fast_avx512bf16(),
       "AVX-512 F, BW, DQ, VL, VNNI and BF16"},
      {cpu::avx512_table(), cpu::has_avx512(), cpu::has_avx512(), "AVX-512 F, BW, DQ, VL and VNNI"},
      {cpu::avx2_table(), cpu::has_avx2(), cpu::has_avx2(), "AVX2, FMA and F16C"},
      {ref_table(), true, true, ""},
  };
  for (const auto& [table, usable, good, needs] : tables) {
    if (forced.empty() ? good : forced == table.name) {
      if (usable) return &table;
      return fail(ErrorKind::kUnsupported,
                  "kernel table '{}' needs {}, which this CPU does not have: use another", forced, needs);
    }
  }
  return fail(ErrorKind::kUnsupported, "unknown kernel table '{}': use {}", forced, kTableNames);
}

}  // namespace reprise::kernels
