// q, k and v of a row lie side by side in one scratch row, as gate and up do: the kernels that follow take a
// row stride, and one call rotates the heads of q and k together.
#include "model/layers.h"

namespace reprise {
namespace {

using kernels::Epilogue;

float* rows_of(kernels::Buffer& buffer, uint32_t rows, size_t width) {
  buffer.reserve(rows * width * sizeof(float));
  return buffer.as<float>();
}

std::string block_name(uint32_t layer, const char* name) { return fmt::format("blk.{}.{}", layer, name); }

Result<Norm> load_norm(WeightLoader& weights, const DecoderConfig& config, const std::string& name) {
  return Norm{TRY(weights.vector(name + ".weight", config.hidden)), config.norm_epsilon};
}

}  // namespace

void Norm::prepare(Workspace& w, const float* x, uint32_t rows) const {
  const auto cols = static_cast<uint32_t>(weight.size());
  float* normed = rows_of(w.normed, rows, cols);
  w.table->rms_norm(*w.pool, x, cols, weight.data(), epsilon, rows, cols, normed, cols);
  w.table->prepare(*w.pool, normed, rows, cols, cols, w.input);
}

// Members one by one: TRY twice in one braced initialiser leaks, since GCC never destroys what the first made
// when the second returns early.
Result<GqaAttention> GqaAttention::load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                                        bool interleaved) {
  GqaAttention attention;
  attention.norm = TRY(load_norm(weights, config, block_name(layer, "attn_norm")));
  attention.qkv = TRY(weights.projection({{block_name(layer, "attn_q"), config.q_width()},
                                          {block_name(layer, "attn_k"), config.kv_width()},
                                          {block_name(layer, "attn_v"), config.kv_width()}},
                                         config.hidden));
  attention.output =
      TRY(weights.projection({{block_name(layer, "attn_output"), config.hidden}}, config.q_width()));
  attention.heads = config.heads;
  attention.kv_heads = config.kv_heads;
  attention.head_dim = config.head_dim;
  attention.rotary = config.rope.rotary;
  attention.scale = config.attention_scale;
  attention.interleaved = interleaved;
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
  // k's heads follow q's in the row: one call rotates both.
  table.rope(*w.pool, q, ld, block.rows, heads + kv_heads, head_dim, rotary, block.cos, block.sin,
             interleaved);
  table.kv_write(*w.pool, w.kv, layer, block.slices, k, v, ld);

  float* attended = rows_of(w.narrow, block.rows, q_width);
  table.attention(*w.pool, {.shape = &w.kv,
                            .layer = layer,
                            .heads = heads,
                            .scale = scale,
                            .slices = block.slices,
                            .q = q,
                            .q_ld = ld,
                            .out = attended,
                            .out_ld = q_width,
                            .scratch = &w.attention});
  table.prepare(*w.pool, attended, block.rows, q_width, q_width, w.input);
  output.apply(*w.pool, table, w.input, block.hidden, norm.weight.size(), Epilogue::kAdd);
}

Result<GatedMlp> GatedMlp::load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer) {
  GatedMlp mlp;
  mlp.norm = TRY(load_norm(weights, config, block_name(layer, "ffn_norm")));
  mlp.gate_up = TRY(weights.projection({{block_name(layer, "ffn_gate"), config.feed_forward},
                                        {block_name(layer, "ffn_up"), config.feed_forward}},
                                       config.hidden));
  mlp.down = TRY(weights.projection({{block_name(layer, "ffn_down"), config.hidden}}, config.feed_forward));
  return mlp;
}

void GatedMlp::forward(Workspace& w, const RowBlock& block) const {
  const kernels::Table& table = *w.table;
  const uint32_t width = gate_up.width / 2;
  const size_t ld = gate_up.width;
  norm.prepare(w, block.hidden, block.rows);
  float* gate = rows_of(w.wide, block.rows, ld);
  gate_up.apply(*w.pool, table, w.input, gate, ld, Epilogue::kStore);
  table.swiglu(*w.pool, gate, gate + width, ld, block.rows, width);
  table.prepare(*w.pool, gate, block.rows, width, ld, w.input);
  down.apply(*w.pool, table, w.input, block.hidden, norm.weight.size(), Epilogue::kAdd);
}

}  // namespace reprise
