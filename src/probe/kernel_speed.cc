// Design: one list of cases, each a closure that does one window of work and says how much it was. Hot cases
// repeat one matrix; DRAM cases rotate over copies that are 1.2 GiB together, as a model larger than the
// caches would.
#include "probe/kernel_speed.h"

#include <algorithm>
#include <random>

#include "base/hash.h"
#include "kernels/table.h"
#include "probe/bandwidth.h"
#include "probe/windows.h"

namespace reprise {

namespace {
using kernels::Buffer;
using kernels::Matrix;
using kernels::Table;
using kernels::WeightType;

constexpr size_t kDramBytes = size_t{1200} << 20;
constexpr double kWindowSeconds = 0.01;

std::vector<float> random_rows(size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

// Small positive scales and random integers: any value is as fast as any other.
Matrix random_matrix(const Table& table, TaskPool& pool, WeightType type, uint32_t rows, uint32_t cols) {
  const size_t block = kernels::block_bytes(type),
               size = size_t{rows} * cols / kernels::block_elements(type) * block;
  std::vector<std::byte> data(size);
  std::mt19937 random(2);
  for (std::byte& b : data) b = static_cast<std::byte>(random() & 0x1f);
  if (type ==
      WeightType::kBF16)  // about 0.01: a denormal weight would cost a hundred times its multiplication
    for (size_t i = 1; i < size; i += 2) data[i] = std::byte{0x3c};
  return table.pack(pool, {type, rows, cols, data.data()});
}

class Runner {
 public:
  Runner(TaskPool& pool, double seconds) : pool_(pool), timer_(pool), seconds_(seconds) {}

  // `work` is done over and over; `amount` of it in `scale` units.
  BenchRow run(std::string name, double amount, double scale, const char* unit,
               const std::function<void()>& work) {
    work();
    const Nanos start = now();
    work();
    const auto repeats =
        std::max<int>(1, static_cast<int>(kWindowSeconds / std::max(1e-7, to_seconds(now() - start))));
    std::vector<Window> windows;
    const Nanos stop = now() + static_cast<Nanos>(seconds_ * kSecond);
    while (now() < stop || windows.size() < 7)
      windows.push_back(timer_.time([&] {
        for (int i = 0; i < repeats; ++i) work();
      }));
    return rate_row(std::move(name), amount * repeats, scale, unit, timer_.estimate(windows));
  }
  double compute_roof() const { return timer_.best_rate() / 1e12; }
  double read_roof(size_t bytes) { return measure_read(pool_, timer_, "", bytes, seconds_).value; }

 private:
  TaskPool& pool_;
  WindowTimer timer_;
  double seconds_;
};

void set_hash(BenchRow& row, const std::vector<float>& output) {
  row.output_hash = fmt::format("{:016x}", hash_bytes(output.data(), output.size() * sizeof(float)));
}

void matmul_rows(const Table& table, TaskPool& pool, Runner& runner, double dram_roof,
                 std::vector<BenchRow>& rows) {
  constexpr uint32_t kOut = 2048, kIn = 2048;
  for (const WeightType type : {WeightType::kQ4_1, WeightType::kQ8_0, WeightType::kQ6_K, WeightType::kBF16}) {
    std::vector<Matrix> copies;
    copies.push_back(random_matrix(table, pool, type, kOut, kIn));
    const size_t bytes = copies.front().bytes();
    while (copies.size() * bytes < kDramBytes) {
      Matrix& copy = copies.emplace_back();
      copy.type = type;
      copy.rows = kOut;
      copy.cols = kIn;
      copy.data = Buffer(bytes);
      std::copy_n(copies.front().data.data(), bytes, copy.data.data());
    }
    for (const uint32_t m : {1u, 4u, 16u, 512u}) {
      const auto x = random_rows(size_t{m} * kIn);
      std::vector<float> y(size_t{m} * kOut);
      kernels::Input input;
      table.prepare(pool, x.data(), m, kIn, kIn, input);
      const double operations = 2.0 * m * kOut * kIn;
      size_t next = 0;
      if (m <= 16) {
        BenchRow row =
            runner.run(fmt::format("{} x {} rows, 2048 x 2048, DRAM", name(type), m),
                       static_cast<double>(bytes), 1e9, "GB/s", [&] {
                         table.matmul(pool, input, copies[next], y.data(), kOut, kernels::Epilogue::kStore);
                         next = (next + 1) % copies.size();
                       });
        row.roof_share = row.value / dram_roof;
        row.roof = fmt::format("reading DRAM, {:.1f} GB/s", dram_roof);
        set_hash(row, y);
        rows.push_back(std::move(row));
      }
      BenchRow row = runner.run(
          fmt::format("{} x {} rows, 2048 x 2048, hot", name(type), m), operations, 1e12, "TOPS",
          [&] { table.matmul(pool, input, copies[0], y.data(), kOut, kernels::Epilogue::kStore); });
      const bool integer =
          kernels::block_elements(type) > 1;  // floats: FMA has a quarter of the bytes' lanes
      const double roof = integer ? runner.compute_roof() : runner.compute_roof() / 4;
      row.roof_share = row.value / roof;
      row.roof =
          fmt::format("{}, {:.2f} {}", integer ? "int8 dot" : "fp32 FMA", roof, integer ? "TOPS" : "TFLOPS");
      set_hash(row, y);
      rows.push_back(std::move(row));
    }
  }
}

void attention_rows(const Table& table, TaskPool& pool, Runner& runner, std::vector<BenchRow>& rows) {
  constexpr uint32_t kHeads = 32, kKvHeads = 8, kDim = 128, kDepth = 8192, kPage = 64, kMost = 512;
  const kernels::KvShape shape{kPage, 1, kKvHeads, kDim};
  Buffer memory((kDepth + kMost) / kPage * table.kv_page_bytes(shape));
  std::vector<std::byte*> pages;
  for (uint32_t i = 0; i < (kDepth + kMost) / kPage; ++i)
    pages.push_back(memory.data() + i * table.kv_page_bytes(shape));
  const auto kv = random_rows(size_t{kDepth + kMost} * kKvHeads * kDim);
  const kernels::Slice all{0, kDepth + kMost, 0, pages};
  table.kv_write(pool, shape, 0, {&all, 1}, kv.data(), kv.data(), kKvHeads * kDim);
  const size_t kv_bytes = size_t{kDepth} * kKvHeads * kDim * 2 * 2;
  for (const uint32_t m : {1u, 4u, 512u}) {
    const auto q = random_rows(size_t{m} * kHeads * kDim);
    std::vector<float> out(q.size());
    Buffer scratch;
    const kernels::Slice slice{0, m, kDepth, pages};
    const auto work = [&] {
      table.attention(pool, {&shape,
                             0,
                             kHeads,
                             0.088f,
                             {&slice, 1},
                             q.data(),
                             kHeads * kDim,
                             out.data(),
                             kHeads * kDim,
                             &scratch});
    };
    const double operations = 4.0 * m * kHeads * kDim * (kDepth + m / 2.0);
    BenchRow row = runner.run(fmt::format("attention, {} rows at depth {}, 32/8 heads of 128", m, kDepth),
                              operations, 1e12, "TFLOPS", work);
    row.roof_share = row.value / (runner.compute_roof() / 4);  // fp32 FMA: a quarter of the bytes' lanes
    row.roof = fmt::format("fp32 FMA, {:.2f} TFLOPS", runner.compute_roof() / 4);
    set_hash(row, out);
    if (m == 1) {
      const double roof = runner.read_roof(kv_bytes);
      row.roof_share = row.value * 1e12 / operations * static_cast<double>(kv_bytes) / 1e9 / roof;
      row.roof = fmt::format("reading {} MiB from {}, {:.1f} GB/s", kv_bytes >> 20,
                             cache_level(kv_bytes, pool.threads()), roof);
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

Result<std::vector<BenchRow>> bench_kernels(const KernelBenchOptions& options) {
  const kernels::Table* table = TRY(kernels::select(options.kernels));
  TaskPool pool(options.threads > 0 ? options.threads : usable_cpus());
  Runner runner(pool, options.seconds);
  std::vector<BenchRow> rows;
  matmul_rows(*table, pool, runner, runner.read_roof(kDramBytes), rows);
  attention_rows(*table, pool, runner, rows);
  return rows;
}

}  // namespace reprise
