// The arithmetic limits of this machine: what its peak loops reach on all threads of a pool.
#pragma once

#include <string>
#include <string_view>

#include "base/task_pool.h"
#include "kernels/roof.h"
#include "kernels/table.h"
#include "probe/windows.h"

namespace reprise {

// Tera-operations a second of one loop on every thread, for about `seconds` of measuring.
BenchRow measure_loop(TaskPool& pool, WindowTimer& timer, const kernels::RoofLoop& loop, std::string name,
                      double seconds);

// By the kind of the factors: operations, or operations a second (0 where this CPU has no loop of the kind).
struct ByKind {
  double int8 = 0, bf16 = 0, fp32 = 0;
  double total() const { return int8 + bf16 + fp32; }
};
using Operations = ByKind;
using Peaks = ByKind;
// Of the instruction set of a kernel table; of the best this CPU has for "ref", which has none of its own.
Peaks measure_peaks(TaskPool& pool, WindowTimer& timer, const kernels::Table& table, double seconds);

// A job of some kinds, one after the other, at these peaks: the least seconds it takes, and how to call that
// limit.
double least_seconds(const Peaks& peaks, const Operations& job);
std::string describe(const Peaks& peaks, const Operations& job);

}  // namespace reprise
