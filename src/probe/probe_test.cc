// What the benchmarks compute from their measurements; that they run at all and hash real output.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "kernels/roof.h"
#include "model/load.h"
#include "model/testing/sequence.h"
#include "model/testing/tiny_llama.h"
#include "probe/bandwidth.h"
#include "probe/kernel_speed.h"
#include "probe/model_passes.h"
#include "probe/model_speed.h"
#include "probe/peaks.h"
#include "probe/report.h"
#include "probe/roof.h"
#include "probe/windows.h"

namespace reprise {
namespace {

using ::testing::HasSubstr;

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
  BenchRow ok = row_of(10, 9, 11), wide = ok, low = ok, few = row_of(10, 9, 11, 3), free = ok, facts = ok;
  judge(ok, 8.9);
  judge(wide, 10);
  judge(low, 11.1);
  judge(few, 1);
  judge(free);
  facts.windows = facts.kept = 0;
  judge(facts);
  EXPECT_EQ(ok.verdict, Verdict::kOk);
  EXPECT_EQ(wide.verdict, Verdict::kInconclusive);
  EXPECT_EQ(low.verdict, Verdict::kShort);
  EXPECT_EQ(few.verdict, Verdict::kInconclusive);
  EXPECT_EQ(free.verdict, Verdict::kInfo);
  EXPECT_EQ(facts.verdict, Verdict::kInfo);
  judge(few);
  EXPECT_EQ(few.verdict, Verdict::kInconclusive) << "with nothing wanted";
  EXPECT_THAT(to_text(std::vector{few}), HasSubstr("inconclusive"));
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
      "\"high\": 11, \"plain\": null, \"windows\": 20, \"kept\": 20, \"wanted\": 5, \"ok\": true, "
      "\"roof_share\": null, "
      "\"roof\": \"\", \"output_hash\": \"00ff\"}\n]}\n");
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
  EXPECT_DOUBLE_EQ(e.mean, (20 * 1.0 + 15 * 9.0) / 35) << "of all windows";
  EXPECT_EQ(e.low, 1.0);
  EXPECT_EQ(e.high, 1.0);
  // Two parts: medians add; the kept count is that of the worse part.
  const Estimate sum =
      timer.estimate_sum(std::vector<std::vector<Window>>{windows, std::vector<Window>(7, {2.0, best})});
  EXPECT_EQ(sum.median, 3.0);
  EXPECT_EQ(sum.kept, 7u);
  const BenchRow row = rate_row("x", 6e9, 1e9, "GB/s", sum);
  EXPECT_DOUBLE_EQ(row.value, 2.0);
  EXPECT_EQ(row.verdict, Verdict::kInfo);
  const Estimate slow = timer.estimate(std::vector<Window>(30, {9.0, best * 0.5}));
  EXPECT_EQ(rate_row("x", 6e9, 1e9, "GB/s", slow).verdict, Verdict::kInconclusive);
}

TEST(Windows, TimesTheWorkNotTheProbe) {
  TaskPool pool(1, false);
  WindowTimer timer(pool);
  const Window w = timer.time([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  EXPECT_GE(w.seconds, 0.005);
  EXPECT_GT(w.quiet, 0);
}

TEST(ReadProbe, ReadsEveryByteOfAnySize) {
  TaskPool pool(2, false);
  for (const size_t bytes : {size_t{512}, size_t{5120}, size_t{1} << 20, (size_t{130} << 20) + 512}) {
    ReadProbe probe(pool, bytes);
    ASSERT_EQ(probe.bytes(), bytes);
    EXPECT_GE(probe.window_bytes(), std::min(bytes, size_t{60} << 20));
    const size_t windows = (bytes + probe.window_bytes() - 1) / probe.window_bytes();  // a pass
    const auto pass = [&] {
      uint64_t seen = 0;
      for (size_t i = 0; i < windows; ++i) seen += probe.read_window();
      return seen;
    };
    std::memset(probe.data(), 0, bytes);
    EXPECT_EQ(pass(), 0u);
    for (const size_t at : {size_t{0}, bytes / 2 + 3, bytes - 1}) {
      probe.data()[at] = std::byte{1};
      EXPECT_NE(pass(), 0u) << bytes << " bytes, byte " << at;
      probe.data()[at] = std::byte{0};
    }
  }
  EXPECT_STREQ(cache_level(size_t{1} << 31, 2), "DRAM");
  EXPECT_STREQ(cache_level(4096, 1), "L2");
}

// Every product is 1 * 1: the accumulators hold as many as are claimed.
TEST(RoofLoops, DoWhatTheyClaim) {
  size_t loops = 0;
  for (const char* table : {"avx2", "avx512", "avx512bf16"})
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
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("use ref, avx2, avx512 or avx512bf16"));
  options = {.file = "x", .prompt = 0, .generate = 0};
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("nothing to measure"));
  options = {.file = "x", .prompt = 0xffffffff};
  EXPECT_THAT(bench_model(options).error().message, HasSubstr("too many"));
}

// Peaks of one and of two operations a second: a job of both takes the sum of its parts.
TEST(Peaks, AJobIsTheSumOfItsKinds) {
  const Peaks peaks{.int8 = 4e12, .bf16 = 2e12, .fp32 = 1e12};
  EXPECT_DOUBLE_EQ(least_seconds(peaks, {.int8 = 8e12}), 2);
  EXPECT_DOUBLE_EQ(least_seconds(peaks, {.int8 = 8e12, .fp32 = 2e12}), 4);
  EXPECT_DOUBLE_EQ(least_seconds(peaks, {.int8 = 8e12, .bf16 = 1e12, .fp32 = 2e12}), 4.5);
  EXPECT_EQ(describe(peaks, {.int8 = 1}), "int8 dot, 4.00 TOPS");
  EXPECT_EQ(describe(peaks, {.fp32 = 1}), "fp32 FMA, 1.00 TFLOPS");
  EXPECT_EQ(describe(peaks, {.bf16 = 1}), "bf16 dot, 2.00 TFLOPS");
  EXPECT_EQ(describe(peaks, {.int8 = 2, .bf16 = 1, .fp32 = 1}),
            "int8 dot, 4.00 TOPS, and for 25 % of the operations bf16 dot, 2.00 TFLOPS, and for 25 % of the "
            "operations "
            "fp32 FMA, 1.00 TFLOPS");
}

class TinyModel : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) / "reprise_probe_test.gguf";
    testing::TinyLlama options;
    options.types = {kernels::WeightType::kQ8_0, kernels::WeightType::kF16};
    options.context = 64;
    testing::make_tiny_llama(options).write(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::filesystem::path path_;
};

const BenchRow* find(const std::vector<BenchRow>& rows, const std::string& name) {
  const auto row = std::ranges::find(rows, name, &BenchRow::name);
  return row == rows.end() ? nullptr : &*row;
}

TEST_F(TinyModel, BenchmarkComputesWhatTheModelDoes) {
  // Past the trained context, in chunks that do not divide the prompt.
  ModelBenchOptions options{
      .file = path_, .prompt = 50, .generate = 4, .depth = 33, .chunk = 16, .threads = 2, .seconds = 0.02};
  const auto rows = bench_model(options);
  ASSERT_TRUE(rows) << rows.error().message;
  const BenchRow *prefill = find(*rows, "prefill 50 at depth 33"),
                 *decode = find(*rows, "decode 4 at depth 33");
  ASSERT_TRUE(prefill && decode);
  for (const BenchRow* row : {prefill, decode}) {
    EXPECT_GT(row->value, 0);
    EXPECT_EQ(row->unit, "tokens/s");
    EXPECT_GE(row->windows, kFewWindows);
    EXPECT_EQ(row->output_hash.size(), 16u);
    EXPECT_FALSE(row->roof.empty());
    EXPECT_GT(row->roof_share.value_or(0), 0);
  }
  EXPECT_THAT(prefill->roof, HasSubstr("% of the operations fp32 FMA"));
  for (const char* fact :
       {"operations per prompt token", "operations per decoded token", "bytes per decoded token"})
    EXPECT_TRUE(find(*rows, fact)) << fact;

  // The same by hand: all at once, then token by token.
  TaskPool pool(1, false);
  LoadOptions load;
  load.context = 100;
  load.past_trained_context = true;
  const auto model = load_model(path_, pool, **kernels::select(), load);
  ASSERT_TRUE(model);
  std::vector<TokenId> tokens = bench_tokens(83, (*model)->vocabulary_size());
  tokens.resize(83 + 4);
  testing::Sequence sequence(**model, tokens);
  std::vector<float> logits((*model)->vocabulary_size());
  Activations activations;
  const auto next = [&](TokenSpan fed) {
    SequenceRows batch = sequence.rows(static_cast<uint32_t>(fed.size()));
    batch.tokens = fed;
    (*model)->forward({{&batch, 1}, 0, (*model)->layers()}, activations);
    sequence.advance(batch.tokens.size());
    const auto last = static_cast<uint32_t>(fed.size() - 1);
    (*model)->logits(activations, {&last, 1}, logits.data());
    return static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
  };
  TokenId token = next(TokenSpan(tokens).first(83));
  const auto of_logits = [&](uint64_t seed) {
    return hash_bytes(logits.data(), logits.size() * sizeof(float), seed);
  };
  EXPECT_EQ(prefill->output_hash, fmt::format("{:016x}", of_logits(0)));
  uint64_t hash = 0;
  for (int i = 0; i < 4; ++i) {
    token = next({&token, 1});
    hash = hash_bytes(&token, sizeof token, hash);
  }
  EXPECT_EQ(decode->output_hash, fmt::format("{:016x}", of_logits(hash)));

  // Other chunks and no prompt row: the same output.
  options.chunk = 0xffffffff;
  const auto again = bench_model(options);
  ASSERT_TRUE(again);
  EXPECT_EQ(find(*again, decode->name)->output_hash, decode->output_hash);
  EXPECT_EQ(find(*again, prefill->name)->output_hash, prefill->output_hash);
}

TEST_F(TinyModel, FewTokensStillGiveRows) {
  for (const uint32_t generate : {1u, 3u}) {
    const auto rows =
        bench_model({.file = path_, .prompt = 0, .generate = generate, .threads = 1, .seconds = 0.01});
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_TRUE(find(*rows, fmt::format("decode {}", generate)));
    EXPECT_FALSE(find(*rows, "operations per prompt token"));
  }
  const auto prompt = bench_model({.file = path_, .prompt = 1, .generate = 0, .threads = 1, .seconds = 0.01});
  ASSERT_TRUE(prompt) << prompt.error().message;
  EXPECT_TRUE(find(*prompt, "prefill 1"));
  EXPECT_EQ(prompt->size(), 2u);
}

TEST(RoofBench, HasARowForEachLimit) {
  for (const char* table : {"", "avx2"}) {
    if (!kernels::select(table) || kernels::roof_loops(table).empty()) continue;
    const auto rows =
        bench_roof({.threads = 2, .kernels = table, .seconds = 0.001, .dram_bytes = size_t{4} << 20});
    ASSERT_TRUE(rows) << rows.error().message;
    for (const char* threads : {"1 thread", "2 threads"}) {
      for (const char* what : {"read L2, ", "read DRAM, "})
        EXPECT_TRUE(find(*rows, std::string(what) + threads));
      for (const kernels::RoofLoop& loop : kernels::roof_loops(table))
        EXPECT_TRUE(find(*rows, fmt::format("{}, {}", loop.name, threads)));
    }
    for (const BenchRow& row : *rows) EXPECT_GT(row.value, 0) << row.name;
  }
  EXPECT_THAT(bench_roof({.kernels = "abacus"}).error().message,
              HasSubstr("use ref, avx2, avx512 or avx512bf16"));
  EXPECT_THAT(bench_roof({.kernels = "ref"}).error().message,
              HasSubstr("no peak loops for kernel table 'ref'"));
  if (!kernels::roof_loops().empty()) {
    EXPECT_THAT(bench_roof({.dram_bytes = size_t{1} << 50}).error().message,
                HasSubstr("are free: close something"));
  }
}

TEST(KernelBench, ChecksAndTimesEveryKernel) {
  for (const char* table : {"ref", ""}) {
    if (!kernels::select(table)) continue;
    const auto rows = bench_kernels({.threads = 2,
                                     .kernels = table,
                                     .seconds = 0.001,
                                     .size = 256,
                                     .depth = 64,
                                     .dram_bytes = size_t{1} << 20});
    ASSERT_TRUE(rows) << table << ": " << rows.error().message;
    EXPECT_EQ(rows->size(), 5 * 7 + 3u);
    uint32_t judged = 0;
    for (const BenchRow& row : *rows) {
      EXPECT_GT(row.value, 0) << row.name;
      EXPECT_EQ(row.output_hash.size(), 16u) << row.name;
      judged += row.wanted.has_value();
    }
    // All of the fast tables' matrix multiplies with 1 and 512 rows, and attention.
    EXPECT_EQ(judged == 0, std::string_view((*kernels::select(table))->name) == "ref");
    EXPECT_TRUE(judged == 0 || judged >= 11) << judged;
  }
  EXPECT_THAT(bench_kernels({.kernels = "abacus"}).error().message,
              HasSubstr("use ref, avx2, avx512 or avx512bf16"));
  EXPECT_THAT(bench_kernels({.types = {"Q4_1", "Q9_9"}}).error().message,
              HasSubstr("unknown weight type 'Q9_9': use some of F32, F16, BF16, Q8_0"));
  EXPECT_THAT(bench_kernels({.dram_bytes = size_t{1} << 50}).error().message,
              HasSubstr("are free: close something"));
}

}  // namespace
}  // namespace reprise
