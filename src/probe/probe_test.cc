// What the benchmarks compute from their measurements; that they run at all and hash real output.
#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/roof.h"
#include "probe/bandwidth.h"
#include "probe/model_speed.h"
#include "probe/report.h"
#include "probe/windows.h"

namespace reprise {
namespace {

using testing::HasSubstr;

BenchRow row_of(double value, double low, double high, uint32_t kept = 20) {
  BenchRow row;
  row.name = "a \"name\"\n";
  row.value = value;
  row.unit = "GB/s";
  row.low = low;
  row.high = high;
  row.windows = 20;
  row.kept = kept;
  return row;
}

TEST(Report, ARowPassesWhenItsWholeIntervalDoes) {
  BenchRow ok = row_of(10, 9, 11), wide = ok, low = ok, few = row_of(10, 9, 11, 3);
  judge(ok, 8.9);
  judge(wide, 10);
  judge(low, 11.1);
  judge(few, 1);
  EXPECT_EQ(ok.verdict, Verdict::kOk);
  EXPECT_EQ(wide.verdict, Verdict::kInconclusive);
  EXPECT_EQ(low.verdict, Verdict::kShort);
  EXPECT_EQ(few.verdict, Verdict::kInconclusive);
  EXPECT_EQ(exit_status(std::vector{ok}), 0);
  EXPECT_EQ(exit_status(std::vector{ok, wide}), 2);
  EXPECT_EQ(exit_status(std::vector{wide, low}), 1);
}

TEST(Report, JsonHasEveryFieldAndEscapes) {
  BenchRow row = row_of(10, 9, 11);
  judge(row, 5);
  row.output_hash = "00ff";
  EXPECT_EQ(
      to_json(std::vector{row}),
      "{\"rows\": [\n  {\"name\": \"a \\\"name\\\"\\u000a\", \"value\": 10, \"unit\": \"GB/s\", \"low\": 9, "
      "\"high\": 11, \"windows\": 20, \"kept\": 20, \"wanted\": 5, \"ok\": true, \"roof_share\": null, "
      "\"roof\": \"\", \"peer\": null, \"output_hash\": \"00ff\"}\n]}\n");
  EXPECT_EQ(to_json({}), "{\"rows\": [\n]}\n");
  EXPECT_THAT(to_text(std::vector{row}), HasSubstr("[9, 11]"));
}

TEST(Windows, OnlyQuietWindowsCount) {
  TaskPool pool(1, false);
  WindowTimer timer(pool);
  const double best = timer.best_rate();
  std::vector<Window> windows(20, {1.0, best});
  for (int i = 0; i < 15; ++i) windows.push_back({9.0, best * 0.5});
  const Estimate e = timer.estimate(windows);
  EXPECT_EQ(e.median, 1.0);
  EXPECT_EQ(e.kept, 20u);
  EXPECT_EQ(e.windows, 35u);
  EXPECT_EQ(e.low, 1.0);
  EXPECT_EQ(e.high, 1.0);
  // Two parts: medians add; the kept count is that of the worse part.
  const Estimate sum =
      timer.estimate_sum(std::vector<std::vector<Window>>{windows, std::vector<Window>(7, {2.0, best})});
  EXPECT_EQ(sum.median, 3.0);
  EXPECT_EQ(sum.kept, 7u);
  const BenchRow row = rate_row("x", 6e9, 1e9, "GB/s", sum);
  EXPECT_DOUBLE_EQ(row.value, 2.0);
}

TEST(Windows, TimesTheWorkNotTheProbe) {
  TaskPool pool(1, false);
  WindowTimer timer(pool);
  const Window w = timer.time([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  EXPECT_GE(w.seconds, 0.005);
  EXPECT_GT(w.quiet, 0);
}

TEST(ReadProbe, ReadsWholeWindowsOfAnySize) {
  TaskPool pool(2, false);
  for (const size_t bytes : {size_t{4096}, size_t{1} << 20, size_t{130} << 20}) {
    ReadProbe probe(pool, bytes);
    EXPECT_GE(probe.window_bytes(), std::min(bytes, size_t{64} << 20));
    for (int i = 0; i < 4; ++i) probe.read_window();  // wraps round the largest
  }
  EXPECT_STREQ(cache_level(size_t{1} << 31, 2), "DRAM");
  EXPECT_STREQ(cache_level(4096, 1), "L2");
}

// Every product is 1 * 1: the accumulators hold as many as are claimed.
TEST(RoofLoops, DoWhatTheyClaim) {
  size_t loops = 0;
  for (const char* table : {"avx2", "avx512"})
    for (const kernels::RoofLoop& loop : kernels::roof_loops(table))
      for (const uint64_t rounds : {1u, 7u, 500u}) {
        double sum = 0;
        const uint64_t operations = loop.run(rounds, &sum);
        EXPECT_EQ(static_cast<double>(operations), 2 * sum) << loop.name;
        EXPECT_GE(sum, static_cast<double>(rounds) * 1000) << loop.name;
        ++loops;
      }
  EXPECT_EQ(loops == 0, kernels::roof_loops().empty());
  EXPECT_TRUE(kernels::roof_loops("ref").empty());
}

TEST(RoofRead, SeesEveryByte) {
  std::vector<std::byte> data(2048);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31);
  uint64_t expected = 0;
  for (size_t i = 0; i < data.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, &data[i], sizeof word);
    expected ^= word;
  }
  EXPECT_EQ(kernels::roof_read(data.data(), data.size()), expected);
  for (std::byte& b : data) {
    b ^= std::byte{0x40};
    ASSERT_NE(kernels::roof_read(data.data(), data.size()), expected);
    b ^= std::byte{0x40};
  }
}

TEST(ModelBench, SaysWhatIsWrong) {
  ModelBenchOptions options{.file = "/nonexistent.gguf"};
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("/nonexistent.gguf"));
  options.kernels = "abacus";
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("use ref, avx2 or avx512"));
  options = {.file = "x", .prompt = 0, .generate = 0};
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("nothing to measure"));
  options = {.file = "x", .prompt = 0xffffffff};
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("too many"));
}

}  // namespace
}  // namespace reprise
