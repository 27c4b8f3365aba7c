// Design: one list of tables, the fastest first; the first that this CPU can run is taken.
#include "kernels/cpu/tables.h"
#include "kernels/table.h"

namespace reprise::kernels {

Result<const Table*> select(std::string_view forced) {
  const struct {
    const Table& table;
    bool usable;
    const char* needs;
  } tables[] = {
      {cpu::avx512_table(), cpu::has_avx512(), "AVX-512 F, BW, DQ, VL and VNNI"},
      {cpu::avx2_table(), cpu::has_avx2(), "AVX2, FMA and F16C"},
      {ref_table(), true, ""},
  };
  for (const auto& [table, usable, needs] : tables) {
    if (forced.empty() ? usable : forced == table.name) {
      if (usable) return &table;
      return fail(ErrorKind::kUnsupported,
                  "kernel table '{}' needs {}, which this CPU does not have: use another", forced, needs);
    }
  }
  return fail(ErrorKind::kUnsupported, "unknown kernel table '{}': use ref, avx2 or avx512", forced);
}

}  // namespace reprise::kernels
