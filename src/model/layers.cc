// q, k and v of a row lie side by side in one scratch row, as gate and up do: the kernels that follow take a
// row stride, and one call rotates the heads of q and k together.
#include "model/layers.h"

#include <cmath>

namespace reprise {
namespace {

using kernels::Epilogue;

}  // namespace

float* rows_of(kernels::Buffer& buffer, uint32_t rows, size_t width) {
  buffer.reserve(rows * width * sizeof(float));
  return buffer.as<float>();
}

std::string block_name(uint32_t layer, const char* name) { return fmt::format("blk.{}.{}", layer, name); }

Result<Norm> load_norm(WeightLoader& weights, const DecoderConfig& config, const std::string& name) {
  return Norm{TRY(weights.vector(name + ".weight", config.hidden)), config.norm_epsilon};
}

void Norm::prepare(Workspace& w, const float* x, uint32_t rows) const {
  const auto cols = static_cast<uint32_t>(weight.size());
  float* normed = rows_of(w.normed, rows, cols);
  w.table->rms_norm(*w.pool, x, cols, weight.data(), epsilon, rows, cols, normed, cols, Epilogue::kStore);
  w.table->prepare(*w.pool, normed, rows, cols, cols, w.input);
}

void add_projected(Workspace& w, const Projection& projection, const Norm& post_norm, const RowBlock& block) {
  const uint32_t cols = projection.width;
  if (post_norm.weight.empty()) {
    projection.apply(*w.pool, *w.table, w.input, block.hidden, cols, Epilogue::kAdd);
    return;
  }
  float* y = rows_of(w.normed, block.rows, cols);
  projection.apply(*w.pool, *w.table, w.input, y, cols, Epilogue::kStore);
  w.table->rms_norm(*w.pool, y, cols, post_norm.weight.data(), post_norm.epsilon, block.rows, cols,
                    block.hidden, cols, Epilogue::kAdd);
}

// Members one by one: TRY twice in one braced initialiser leaks, since GCC never destroys what the first made
// when the second returns early.
Result<GqaAttention> GqaAttention::load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                                        const Parts& parts) {
  using enum WeightLoader::Presence;
  GqaAttention attention;
  const auto bias = [&](WeightLoader::Presence of_parts) {
    return of_parts == kOptional ? presence(config.attention_bias) : of_parts;
  };
  attention.norm = TRY(load_norm(weights, config, block_name(layer, "attn_norm")));
  attention.qkv = TRY(weights.projection({{block_name(layer, "attn_q"), config.q_width()},
                                          {block_name(layer, "attn_k"), config.kv_width()},
                                          {block_name(layer, "attn_v"), config.kv_width()}},
                                         config.hidden, bias(parts.qkv_bias)));
  if (parts.head_norms) {
    attention.q_norm = TRY(weights.vector(block_name(layer, "attn_q_norm.weight"), config.head_dim));
    attention.k_norm = TRY(weights.vector(block_name(layer, "attn_k_norm.weight"), config.head_dim));
  }
  if (parts.sinks)
    attention.sinks = TRY(weights.vector(block_name(layer, "attn_sinks.weight"), config.heads));
  attention.output = TRY(weights.projection({{block_name(layer, "attn_output"), config.hidden}},
                                            config.q_width(), bias(parts.output_bias)));
  if (parts.post_norm)
    attention.post_norm = TRY(load_norm(weights, config, block_name(layer, "post_attention_norm")));
  attention.heads = config.heads;
  attention.kv_heads = config.kv_heads;
  attention.head_dim = config.head_dim;
  attention.rotary = config.rope.rotary;
  attention.window = config.window(layer);
  attention.scale = config.attention_scale;
  attention.temperature_scale = config.temperature_scale;
  attention.temperature_length = config.temperature_length;
  attention.interleaved = parts.interleaved;
  return attention;
}

void GqaAttention::forward(Workspace& w, const RowBlock& block, uint32_t layer) const {
  const kernels::Table& table = *w.table;
  const uint32_t q_width = heads * head_dim, kv_width = kv_heads * head_dim;
  const size_t ld = q_width + 2 * size_t{kv_width};
  norm.prepare(w, block.hidden, block.rows);
  float* q = rows_of(w.wide, block.rows, ld);
  float* k = q + q_width;
  float* v = k + kv_width;
  qkv.apply(*w.pool, table, w.input, q, ld, Epilogue::kStore);
  if (!q_norm.empty()) {
    table.head_norm(*w.pool, q, ld, block.rows, heads, head_dim, q_norm.data(), norm.epsilon);
    table.head_norm(*w.pool, k, ld, block.rows, kv_heads, head_dim, k_norm.data(), norm.epsilon);
  }
  // k's heads follow q's in the row: one call rotates both.
  const Angles& angles = window != 0 ? block.window_angles : block.angles;
  table.rope(*w.pool, q, ld, block.rows, heads + kv_heads, head_dim, rotary, angles.cos, angles.sin,
             interleaved);
  if (temperature_scale != 0) heat(w, block, q, ld);
  table.kv_write(*w.pool, w.kv, layer, block.slices, k, v, ld);

  float* attended = rows_of(w.narrow, block.rows, q_width);
  table.attention(*w.pool, {.shape = &w.kv,
                            .layer = layer,
                            .heads = heads,
                            .scale = scale,
                            .window = window,
                            .sinks = sinks.empty() ? nullptr : sinks.data(),
                            .slices = block.slices,
                            .q = q,
                            .q_ld = ld,
                            .out = attended,
                            .out_ld = q_width,
                            .scratch = &w.attention});
  table.prepare(*w.pool, attended, block.rows, q_width, q_width, w.input);
  add_projected(w, output, post_norm, block);
}

void GqaAttention::heat(Workspace& w, const RowBlock& block, float* q, size_t ld) const {
  for (const kernels::Slice& slice : block.slices) {
    if (slice.position + slice.rows <= temperature_length) continue;  // all factors are 1
    w.pool->run(slice.rows, [&](size_t i, int) {
      const auto periods = static_cast<float>((slice.position + i) / temperature_length);
      const float factor = 1 + temperature_scale * std::log1p(periods);
      float* row = q + (slice.first_row + i) * ld;
      for (uint32_t d = 0; d < heads * head_dim; ++d) row[d] *= factor;
    });
  }
}

Result<GatedMlp> GatedMlp::load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                                const Parts& parts) {
  GatedMlp mlp;
  const uint32_t width = parts.width ? parts.width : config.feed_forward;
  const auto name = [&](const char* of) { return block_name(layer, of) + parts.suffix; };
  if (parts.norm) mlp.norm = TRY(load_norm(weights, config, block_name(layer, parts.norm)));
  mlp.gate_up = TRY(
      weights.projection({{name("ffn_gate"), width}, {name("ffn_up"), width}}, config.hidden, parts.bias));
  mlp.down = TRY(weights.projection({{name("ffn_down"), config.hidden}}, width, parts.bias));
  if (parts.post_norm) mlp.post_norm = TRY(load_norm(weights, config, block_name(layer, "post_ffw_norm")));
  mlp.gating = parts.gating;
  return mlp;
}

void GatedMlp::forward(Workspace& w, const RowBlock& block) const {
  norm.prepare(w, block.hidden, block.rows);
  add(w, block);
}

void GatedMlp::add(Workspace& w, const RowBlock& block) const {
  const kernels::Table& table = *w.table;
  const uint32_t width = gate_up.width / 2;
  const size_t ld = gate_up.width;
  float* gate = rows_of(w.wide, block.rows, ld);
  gate_up.apply(*w.pool, table, w.input, gate, ld, Epilogue::kStore);
  table.glu(*w.pool, gating, gate, gate + width, ld, block.rows, width);
  table.prepare(*w.pool, gate, block.rows, width, ld, w.input);
  add_projected(w, down, post_norm, block);
}

}  // namespace reprise
