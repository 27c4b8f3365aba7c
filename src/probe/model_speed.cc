// Design: the passes are timed by ModelPasses; here they become rows beside what the machine could do.
#include "probe/model_speed.h"

#include <algorithm>
#include <utility>

#include "kernels/table.h"
#include "model/load.h"
#include "probe/bandwidth.h"
#include "probe/model_passes.h"
#include "probe/peaks.h"
#include "probe/windows.h"

namespace reprise {

namespace {
constexpr double kRoofSeconds = 0.5;

BenchRow fact(std::string name, double value, std::string unit) {
  BenchRow row;
  row.name = std::move(name);
  row.value = value;
  row.unit = std::move(unit);
  return row;
}

// What a token that attends to `keys` positions spends on them: `all` for each in the layers that see all,
// and `window` for each in those that see the last ones.
double per_key(const TokenCost& cost, double keys, uint64_t all, uint64_t window) {
  return static_cast<double>(all) * keys + static_cast<double>(window) * std::min<double>(keys, cost.window);
}

// What a token that attends to `keys` positions takes at least; an addition counts as one operation, as a
// multiplication does. `ref` multiplies everything as floats.
Operations layer_work(const TokenCost& cost, double keys, const kernels::Table& table) {
  const auto all = static_cast<double>(cost.layer_macs), floats = static_cast<double>(cost.float_macs);
  const double attention = per_key(cost, keys, cost.attention_macs, cost.window_macs);
  if (&table == &kernels::ref_table()) return {.fp32 = 2 * (all + attention)};
  Operations work{.int8 = 2 * (all - floats), .fp32 = 2 * floats};
  (table.bf16_attention ? work.bf16 : work.fp32) += 2 * attention;
  return work;
}

}  // namespace

Result<std::vector<BenchRow>> bench_model(const ModelBenchOptions& options,
                                          const std::function<void(const std::string&)>& progress) {
  const uint64_t length = uint64_t{options.depth} + options.prompt + options.generate + 1;
  if (length > (uint64_t{1} << 28))
    return invalid("depth, prompt and generated tokens are {} together: too many", length);
  if (options.prompt == 0 && options.generate == 0)
    return invalid("nothing to measure: no prompt, nothing to generate");
  if (options.chunk == 0) return invalid("a chunk needs at least one row");
  const kernels::Table* table = TRY(kernels::select(options.kernels));
  TaskPool pool(options.threads > 0 ? options.threads : usable_cpus());
  if (progress) progress("loading " + options.file.string());
  LoadOptions load;
  load.context = static_cast<uint32_t>(length);
  load.past_trained_context = true;
  const auto model = TRY(load_model(options.file, pool, *table, load));

  const double roof_seconds = std::min(kRoofSeconds, options.seconds);
  const TokenCost cost = model->token_cost();
  WindowTimer timer(pool);
  ModelPasses passes(options, *model, timer, progress);
  const double context = options.depth + options.prompt + options.generate / 2.0;  // a decoded token's
  const double bytes =
      static_cast<double>(cost.weight_bytes) + per_key(cost, context, cost.kv_bytes, cost.window_kv_bytes);
  const bool decode_roof = options.generate > 0 && cost.weight_bytes > 0;
  const size_t working_set = std::min(static_cast<size_t>(bytes), kDramBytes);
  if (decode_roof) TRY(check_memory(working_set));

  if (progress) progress("measuring");
  passes.measure();
  if (!passes.stable())
    return fail(ErrorKind::kInternal, "the same tokens gave different outputs: results are void");

  std::vector<BenchRow> rows;
  const auto at_depth = [&](const char* what, uint32_t n) {
    return options.depth ? fmt::format("{} {} at depth {}", what, n, options.depth)
                         : fmt::format("{} {}", what, n);
  };
  const Operations prompt_work =
      layer_work(cost, options.depth + (options.prompt + 1) / 2.0, *table);  // on average
  if (const auto prefill = passes.prefill()) {
    BenchRow row = rate_row(at_depth("prefill", options.prompt), options.prompt, 1, "tokens/s", *prefill);
    const Peaks peaks = measure_peaks(pool, timer, *table, roof_seconds);
    if (cost.layer_macs > 0 && peaks.fp32 > 0) {
      row.roof_share = row.value * least_seconds(peaks, prompt_work);
      row.roof = describe(peaks, prompt_work);
    }
    row.output_hash = passes.prefill_hash();
    rows.push_back(std::move(row));
  }
  if (const auto decode = passes.decode()) {
    BenchRow row = rate_row(at_depth("decode", options.generate), 1, 1, "tokens/s", *decode);
    if (decode_roof) {
      // The limit is reading a working set of this size, wherever it lives.
      const double read = measure_read(pool, timer, "", working_set, roof_seconds).best;
      row.roof_share = row.value * bytes / 1e9 / read;
      row.roof = fmt::format("reading {:.0f} MiB from {}, {:.1f} GB/s", bytes / (1 << 20),
                             cache_level(working_set, pool.threads()), read);
    }
    row.output_hash = passes.decode_hash();
    rows.push_back(std::move(row));
  }
  if (cost.layer_macs > 0) {
    if (options.prompt > 0)
      rows.push_back(fact("operations per prompt token", prompt_work.total() / 1e9, "Gop"));
    if (options.generate > 0) {
      const double operations =
          layer_work(cost, context, *table).total() + 2 * static_cast<double>(cost.head_macs);
      rows.push_back(fact("operations per decoded token", operations / 1e9, "Gop"));
      rows.push_back(fact("bytes per decoded token", bytes / 1e6, "MB"));
    }
  }
  return rows;
}

}  // namespace reprise
