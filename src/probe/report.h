// The rows every benchmark of this project prints: a value with its interval, what was wanted, the share of
// the machine's limit, and a hash of the output that proves the work was done.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace reprise {

// A row of fewer quiet windows says nothing.
inline constexpr uint32_t kFewWindows = 5;

enum class Verdict {
  kInfo,          // nothing was wanted
  kOk,            // the whole interval is at least what was wanted
  kShort,         // the whole interval is below
  kInconclusive,  // the interval contains what was wanted, or there were fewer than kFewWindows quiet ones
};

struct BenchRow {
  std::string name;
  double value = 0;
  std::string unit;                 // "tokens/s", "GB/s", ...: more is better
  std::optional<double> low, high;  // 95 % interval of the median, by bootstrap
  double best = 0;                  // of the fastest window: as a limit, since noise only ever slows
  double plain = 0;                // by the mean of all windows: comparable with programs that filter nothing
  uint32_t windows = 0, kept = 0;  // measured, and of these in the quiet mode
  std::optional<double> wanted;
  Verdict verdict = Verdict::kInfo;
  std::optional<double> roof_share;  // value / limit, in [0, 1] or a little above
  std::string roof;                  // the limit and the level it is of: "int8 dot, 1.38 TOPS"
  std::string output_hash;           // 16 hex digits; empty when nothing is computed
};

// Sets the verdict from the row's windows, interval and what is wanted, if anything is.
void judge(BenchRow& row, std::optional<double> wanted = {});

// A table for people, one line a row, ending in a newline.
std::string to_text(std::span<const BenchRow> rows);
// {"rows": [{"name", "value", "unit", "low", "high", "plain", "windows", "kept", "wanted", "ok",
// "roof_share", "roof", "output_hash"}]}; absent values are null, "ok" is true, false or "inconclusive".
std::string to_json(std::span<const BenchRow> rows);
// 0: all fine; 1: some row is short; 2: none is short, some is inconclusive.
int exit_status(std::span<const BenchRow> rows);

}  // namespace reprise
