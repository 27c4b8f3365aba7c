// The arithmetic limits of this machine: what its peak loops reach on all threads of a pool.
#pragma once

#include <string>
#include <string_view>

#include "base/task_pool.h"
#include "kernels/roof.h"
#include "probe/windows.h"

namespace reprise {

// Tera-operations a second of one loop on every thread, for about `seconds` of measuring.
BenchRow measure_loop(TaskPool& pool, WindowTimer& timer, const kernels::RoofLoop& loop, std::string name,
                      double seconds);

// Operations a second by the kind of the factors; 0 where this CPU has no loop of the kind.
struct Peaks {
  double int8 = 0, fp32 = 0;
};
// Of the instruction set of a kernel table; of the best this CPU has for "ref", which has none of its own.
Peaks measure_peaks(TaskPool& pool, WindowTimer& timer, std::string_view table, double seconds);

// A job of both kinds at these peaks: the least seconds it takes, and how to call that limit.
double least_seconds(const Peaks& peaks, double int8_operations, double fp32_operations);
std::string describe(const Peaks& peaks, double int8_operations, double fp32_operations);

}  // namespace reprise
