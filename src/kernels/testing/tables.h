// The tables that this CPU can run, for tests that hold for each of them.
#pragma once

#include <vector>

#include "kernels/cpu/tables.h"
#include "kernels/table.h"

namespace reprise::kernels::testing {

inline std::vector<const Table*> fast_tables() {
  std::vector<const Table*> tables;
  if (cpu::has_avx2()) tables.push_back(&cpu::avx2_table());
  if (cpu::has_avx512()) tables.push_back(&cpu::avx512_table());
  if (cpu::has_avx512bf16()) tables.push_back(&cpu::avx512bf16_table());
  return tables;
}

inline std::vector<const Table*> all_tables() {
  auto tables = fast_tables();
  tables.push_back(&ref_table());
  return tables;
}

}  // namespace reprise::kernels::testing
