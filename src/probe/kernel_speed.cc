// Design: every case is a closure that does one window of work and says how much it was. Hot cases repeat one
// matrix; DRAM cases rotate over copies that are together larger than the caches, as a model would be.
#include "probe/kernel_speed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <span>

#include "base/check.h"
#include "base/hash.h"
#include "kernels/table.h"
#include "probe/peaks.h"
#include "probe/windows.h"

namespace reprise {

namespace {
using kernels::Buffer;
using kernels::Matrix;
using kernels::Table;
using kernels::WeightType;

constexpr size_t kOtherBytes = size_t{256} << 20;  // inputs, outputs, KV
constexpr double kWindowSeconds = 0.01;
constexpr double kMatmulError = 1e-3, kAttentionError = 1e-2;  // relative to ref, in the 2-norm
constexpr uint32_t kRows[] = {1, 4, 16, 512};                  // of a matrix multiply
constexpr uint32_t kQueries[] = {1, 4, 64};                    // of attention: a window is to be short
constexpr uint32_t kHeads = 32, kKvHeads = 8, kDim = 128, kPage = 64;

// Regression floors as shares of the limit, from docs/kernels.md; 0: none.
struct Floors {
  const char* table;
  double matvec;           // one row, weights from DRAM
  double int8, fp32;       // 512 rows, hot
  double decode, prefill;  // attention of one and of 64 queries
};
constexpr Floors kFloors[] = {
    {"avx512bf16", 0.55, 0.20, 0.30, 0.45, 0.40},
    {"avx512", 0.55, 0.20, 0.30, 0.45, 0.38},
    {"avx2", 0.55, 0.30, 0.30, 0, 0.20},
};

std::vector<float> random_rows(size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

// Small positive scales and random integers: any value is as fast as any other.
std::vector<std::byte> random_weights(WeightType type, size_t elements) {
  std::vector<std::byte> data(elements / kernels::block_elements(type) * kernels::block_bytes(type));
  std::mt19937 random(2);
  for (std::byte& b : data) b = static_cast<std::byte>(random() & 0x1f);
  // About 0.01: a denormal weight would cost a hundred times its multiplication.
  if (type == WeightType::kBF16)
    for (size_t i = 1; i < data.size(); i += 2) data[i] = std::byte{0x3c};
  if (type == WeightType::kMXFP4)
    for (size_t i = 0; i < data.size(); i += kernels::block_bytes(type)) data[i] = std::byte{120};
  return data;
}

Result<WeightType> type_named(const std::string& wanted) {
  std::string names;
  for (int i = 0; i < kernels::kWeightTypes; ++i) {
    const auto type = static_cast<WeightType>(i);
    if (wanted == kernels::name(type)) return type;
    names += (i > 0 ? ", " : "") + std::string(kernels::name(type));
  }
  return invalid_param("types", "unknown weight type '{}': use some of {}", wanted, names);
}

Matrix copy_of(const Matrix& matrix) {
  Matrix copy{matrix.type, matrix.rows, matrix.cols, Buffer(matrix.bytes())};
  std::memcpy(copy.data.data(), matrix.data.data(), matrix.bytes());
  return copy;
}

// The bits of row 0 must be those it has alone; alone, it must be what ref computes.
Result<void> check_row(const char* what, std::span<const float> row, std::span<const float> alone) {
  if (std::memcmp(row.data(), alone.data(), alone.size_bytes()) == 0) return {};
  return fail(ErrorKind::kInternal, "{}: a row differs from the same row alone: results are void", what);
}
Result<void> check_ref(const char* what, std::span<const float> y, std::span<const float> ref, double bound) {
  double error = 0, size = 0;
  for (size_t i = 0; i < ref.size(); ++i) {
    error += std::pow(double{y[i]} - double{ref[i]}, 2);
    size += std::pow(double{ref[i]}, 2);
  }
  if (size > 0 && std::sqrt(error / size) <= bound) return {};  // no NaN passes
  return fail(ErrorKind::kInternal, "{}: off the reference by {:.2g} of its size: results are void", what,
              std::sqrt(error / size));
}

class KernelBench {
 public:
  KernelBench(const KernelBenchOptions& options, const Table& table, TaskPool& pool)
      : options_(options), table_(table), pool_(pool), timer_(pool) {
    for (const Floors& floors : kFloors)
      if (std::string_view(floors.table) == table.name) floors_ = &floors;
    peaks_ = measure_peaks(pool, timer_, table, options.seconds);
    dram_ = measure_read(pool, timer_, "", options.dram_bytes, options.seconds).best;
  }

  Result<void> matmul(WeightType type);
  Result<void> attention();
  std::vector<BenchRow> rows() && { return std::move(rows_); }

 private:
  using Floor = double Floors::*;

  // `work` is done over and over; `amount` of it in `scale` units.
  BenchRow time(std::string name, double amount, double scale, const char* unit,
                const std::function<void()>& work);
  // The row's limit in its own unit, and what share of it is wanted.
  void finish(BenchRow row, double limit, std::string roof, Floor floor, std::span<const float> output);

  const KernelBenchOptions& options_;
  const Table& table_;
  TaskPool& pool_;
  WindowTimer timer_;
  const Floors* floors_ = nullptr;
  Peaks peaks_;
  double dram_ = 0;  // GB/s
  std::vector<BenchRow> rows_;
};

BenchRow KernelBench::time(std::string name, double amount, double scale, const char* unit,
                           const std::function<void()>& work) {
  work();
  const Nanos start = now();
  work();
  const double window = std::min(kWindowSeconds, options_.seconds);
  const int repeats = std::max(1, static_cast<int>(window / std::max(1e-7, to_seconds(now() - start))));
  std::vector<Window> windows;
  const Nanos stop = now() + static_cast<Nanos>(options_.seconds * kSecond);
  while (now() < stop || windows.size() < 7)
    windows.push_back(timer_.time([&] {
      for (int i = 0; i < repeats; ++i) work();
    }));
  return rate_row(std::move(name), amount * repeats, scale, unit, timer_.estimate(windows));
}

void KernelBench::finish(BenchRow row, double limit, std::string roof, Floor floor,
                         std::span<const float> output) {
  if (limit > 0) {  // 0: there is no peak loop for this CPU
    row.roof_share = row.value / limit;
    row.roof = std::move(roof);
  }
  row.output_hash = fmt::format("{:016x}", hash_bytes(output.data(), output.size_bytes()));
  if (floors_ && floor && floors_->*floor > 0) judge(row, floors_->*floor * limit);
  rows_.push_back(std::move(row));
}

Result<void> KernelBench::matmul(WeightType type) {
  const uint32_t size = options_.size;
  const auto data = random_weights(type, size_t{size} * size);
  const kernels::MatrixSource source{type, size, size, data.data()};
  std::vector<Matrix> copies;
  copies.push_back(table_.pack(pool_, source));
  const size_t bytes = copies.front().bytes();
  while (copies.size() * bytes < options_.dram_bytes) copies.push_back(copy_of(copies.front()));

  const auto x = random_rows(size_t{kRows[3]} * size);
  std::vector<float> alone(size), expected(size);
  const auto multiply = [&](const Table& table, const Matrix& w, uint32_t rows, std::vector<float>& y) {
    kernels::Input input;
    table.prepare(pool_, x.data(), rows, size, size, input);
    table.matmul(pool_, input, w, y.data(), size, kernels::Epilogue::kStore);
  };
  multiply(table_, copies.front(), 1, alone);
  multiply(kernels::ref_table(), kernels::ref_table().pack(pool_, source), 1, expected);
  TRY(check_ref(name(type), alone, expected, kMatmulError));

  const bool integers = kernels::block_elements(type) > 1 && &table_ != &kernels::ref_table();
  for (const uint32_t m : kRows) {
    std::vector<float> y(size_t{m} * size);
    multiply(table_, copies.front(), m, y);
    TRY(check_row(name(type), y, alone));
    kernels::Input input;
    table_.prepare(pool_, x.data(), m, size, size, input);
    const auto label = [&](const char* where) {
      return fmt::format("{} x {} rows, {} x {}, {}", name(type), m, size, size, where);
    };
    if (m <= 16) {
      size_t next = 0;
      finish(time(label("DRAM"), static_cast<double>(bytes), 1e9, "GB/s",
                  [&] {
                    table_.matmul(pool_, input, copies[next], y.data(), size, kernels::Epilogue::kStore);
                    next = (next + 1) % copies.size();
                  }),
             dram_, fmt::format("reading DRAM, {:.1f} GB/s", dram_), m == 1 ? &Floors::matvec : nullptr, y);
    }
    const double operations = 2.0 * m * size * size;
    const double limit = (integers ? peaks_.int8 : peaks_.fp32) / 1e12;
    finish(time(label("hot"), operations, 1e12, integers ? "TOPS" : "TFLOPS",
                [&] { table_.matmul(pool_, input, copies[0], y.data(), size, kernels::Epilogue::kStore); }),
           limit, describe(peaks_, integers ? Operations{.int8 = 1} : Operations{.fp32 = 1}),
           m < 512    ? nullptr
           : integers ? &Floors::int8
                      : &Floors::fp32,
           y);
  }
  return {};
}

Result<void> KernelBench::attention() {
  const uint32_t depth = options_.depth, most = depth + kQueries[2];
  const kernels::KvShape shape{kPage, 1, kKvHeads, kDim};
  const auto kv = random_rows(size_t{most} * kKvHeads * kDim);
  const auto q = random_rows(size_t{kQueries[2]} * kHeads * kDim);
  struct Cache {
    Buffer memory;
    std::vector<std::byte*> pages;
  };
  const auto fill = [&](const Table& table) {
    const size_t count = (most + kPage - 1) / kPage, page = table.kv_page_bytes(shape);
    Cache cache{Buffer(count * page), {}};
    for (size_t i = 0; i < count; ++i) cache.pages.push_back(cache.memory.data() + i * page);
    const kernels::Slice all{0, most, 0, cache.pages};
    table.kv_write(pool_, shape, 0, {&all, 1}, kv.data(), kv.data(), kKvHeads * kDim);
    return cache;
  };
  Buffer scratch;
  const auto attend = [&](const Table& table, const Cache& cache, uint32_t m, std::vector<float>& out) {
    const kernels::Slice slice{0, m, depth, cache.pages};
    kernels::AttentionArgs args;
    args.shape = &shape;
    args.heads = kHeads;
    args.scale = 0.088f;
    args.slices = {&slice, 1};
    args.q = q.data();
    args.q_ld = kHeads * kDim;
    args.out = out.data();
    args.out_ld = kHeads * kDim;
    args.scratch = &scratch;
    table.attention(pool_, args);
  };
  const Cache cache = fill(table_);
  std::vector<float> alone(kHeads * kDim), expected(alone.size());
  attend(table_, cache, 1, alone);
  attend(kernels::ref_table(), fill(kernels::ref_table()), 1, expected);
  TRY(check_ref("attention", alone, expected, kAttentionError));

  const size_t kv_bytes = table_.kv_page_bytes(shape) / kPage * depth;
  for (const uint32_t m : kQueries) {
    std::vector<float> out(size_t{m} * kHeads * kDim);
    attend(table_, cache, m, out);
    TRY(check_row("attention", out, alone));
    const double operations = 4.0 * m * kHeads * kDim * (depth + (m + 1) / 2.0);
    BenchRow row = time(
        fmt::format("attention, {} rows at depth {}, {}/{} heads of {}", m, depth, kHeads, kKvHeads, kDim),
        operations, 1e12, "TFLOPS", [&] { attend(table_, cache, m, out); });
    if (m > 1) {
      const Operations job =
          table_.bf16_attention ? Operations{.bf16 = operations} : Operations{.fp32 = operations};
      finish(std::move(row), operations / least_seconds(peaks_, job) / 1e12, describe(peaks_, job),
             m == 64 ? &Floors::prefill : nullptr, out);
      continue;
    }
    const double read = measure_read(pool_, timer_, "", kv_bytes, options_.seconds).best;
    finish(std::move(row), operations / 1e12 / (static_cast<double>(kv_bytes) / 1e9 / read),
           fmt::format("reading {} MiB from {}, {:.1f} GB/s", kv_bytes >> 20,
                       cache_level(kv_bytes, pool_.threads()), read),
           &Floors::decode, out);
  }
  return {};
}

}  // namespace

Result<std::vector<BenchRow>> bench_kernels(const KernelBenchOptions& options) {
  CHECK(options.size > 0 && options.size % 256 == 0 && options.depth > 0 && options.depth % kPage == 0,
        "matrices of {}, depth {}", options.size, options.depth);
  const Table* table = TRY(kernels::select(options.kernels));
  std::vector<WeightType> types;
  for (const std::string& wanted : options.types) types.push_back(TRY(type_named(wanted)));
  TRY(check_memory(options.dram_bytes + kOtherBytes));
  TaskPool pool(options.threads > 0 ? options.threads : usable_cpus());
  KernelBench bench(options, *table, pool);
  for (const WeightType type : types) TRY(bench.matmul(type));
  TRY(bench.attention());
  return std::move(bench).rows();
}

}  // namespace reprise
