// A batch is cut into blocks of at most kBlockRows consecutive rows; each layer runs block after block. That
// is right for causal attention, since a block's keys are written before any later row asks for them, and it
// bounds scratch memory whatever the batch. Results cannot depend on the cut: every kernel is row invariant.
#include "model/decoder.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace reprise {
namespace {

constexpr uint32_t kBlockRows = 512;

uint32_t count_rows(std::span<const SequenceRows> sequences) {
  size_t rows = 0;
  for (const SequenceRows& sequence : sequences) rows += sequence.tokens.size();
  CHECK(rows <= UINT32_MAX);
  return static_cast<uint32_t>(rows);
}

}  // namespace

Result<Decoder::Ends> Decoder::load_ends(const LoadContext& context) {
  const DecoderConfig& config = context.config;
  Ends ends;
  ends.embedding = TRY(context.weights.matrix("token_embd.weight", config.vocabulary, config.hidden));
  ends.norm = Norm{TRY(context.weights.vector("output_norm.weight", config.hidden)), config.norm_epsilon};
  if (context.weights.has("output.weight"))
    ends.output = TRY(context.weights.projection({{"output", config.vocabulary}}, config.hidden));
  return ends;
}

Decoder::Decoder(const LoadContext& context, Ends ends)
    : config_(context.config),
      ends_(std::move(ends)),
      rotation_{Rope(context.config.rope, context.context), {}, {}} {
  if (config_.window_rope) window_rotation_.emplace(Rope(*config_.window_rope, context.context));
  workspace_.pool = &context.pool;
  workspace_.table = &context.table;
  workspace_.kv = {.page_tokens = context.page_tokens,
                   .layers = config_.layers,
                   .kv_heads = config_.kv_heads,
                   .head_dim = config_.head_dim,
                   .type = context.kv_type};
}

void Decoder::Rotation::reserve(uint32_t rows) {
  cos.reserve(size_t{rows} * rope.rotary() / 2 * sizeof(float));
  sin.reserve(size_t{rows} * rope.rotary() / 2 * sizeof(float));
}

void Decoder::Rotation::compute(uint32_t position, uint32_t count, uint32_t row) {
  const size_t at = size_t{row} * (rope.rotary() / 2);
  rope.angles(position, count, cos.as<float>() + at, sin.as<float>() + at);
}

Angles Decoder::Rotation::from(uint32_t row) const {
  const size_t at = size_t{row} * (rope.rotary() / 2);
  return {cos.as<float>() + at, sin.as<float>() + at};
}

size_t Decoder::weight_bytes() const {
  return weights_.bytes + rotation_.rope.bytes() + (window_rotation_ ? window_rotation_->rope.bytes() : 0);
}

KvSpec Decoder::kv_spec() const {
  return {.page_tokens = workspace_.kv.page_tokens,
          .groups = {{.kind = KvKind::kFull, .page_bytes = workspace_.table->kv_page_bytes(workspace_.kv)}}};
}

TokenCost Decoder::token_cost() const {
  const uint64_t sliding = config_.windows.size() - std::ranges::count(config_.windows, 0u);
  const bool tied = ends_.output.parts.empty();
  const kernels::KvShape& kv = workspace_.kv;
  const size_t kv_bytes =
      workspace_.table->kv_page_bytes(kv) / kv.page_tokens / config_.layers;  // of a layer
  return {.weight_bytes = weights_.token_bytes - (tied ? 0 : ends_.embedding.bytes()),
          .macs_per_byte = workspace_.table->macs_per_byte,
          .layer_bytes = weights_.layer_bytes,
          .layer_macs = weights_.layer_macs,
          .float_macs = weights_.float_macs,
          .head_macs = uint64_t{config_.hidden} * config_.vocabulary,
          .attention_macs = 2 * (config_.layers - sliding) * config_.q_width(),
          .window_macs = 2 * sliding * config_.q_width(),
          .kv_bytes = kv_bytes * (config_.layers - sliding),
          .window_kv_bytes = kv_bytes * sliding,
          .window = sliding == 0 ? 0 : std::ranges::max(config_.windows)};
}

void Decoder::embed(const ForwardBatch& batch, Activations& activations) {
  activations.rows = count_rows(batch.sequences);
  activations.hidden.reserve(size_t{activations.rows} * config_.hidden * sizeof(float));
  float* row = activations.hidden.as<float>();
  for (const SequenceRows& sequence : batch.sequences) {
    for (TokenId token : sequence.tokens) {
      CHECK(token >= 0 && static_cast<uint32_t>(token) < config_.vocabulary, "token {} of {}", token,
            config_.vocabulary);
      workspace_.table->unpack_row(ends_.embedding, static_cast<uint32_t>(token), row);
      if (config_.embedding_scale != 1)
        for (uint32_t i = 0; i < config_.hidden; ++i) row[i] *= config_.embedding_scale;
      row += config_.hidden;
    }
  }
}

void Decoder::forward(const ForwardBatch& batch, Activations& activations) {
  CHECK(batch.layer_begin <= batch.layer_end && batch.layer_end <= config_.layers);
  if (batch.layer_begin == 0) embed(batch, activations);
  const uint32_t rows = count_rows(batch.sequences);
  CHECK(rows == activations.rows, "{} rows, the chunk began with {}", rows, activations.rows);

  rotation_.reserve(rows);
  if (window_rotation_) window_rotation_->reserve(rows);

  // Slices in row order, cut at block borders; block b's are [first_slice[b], first_slice[b + 1]).
  slices_.clear();
  std::vector<size_t> first_slice{0};
  uint32_t row = 0;
  for (const SequenceRows& sequence : batch.sequences) {
    const auto tokens = static_cast<uint32_t>(sequence.tokens.size());
    CHECK(sequence.pages[0].size() * uint64_t{workspace_.kv.page_tokens} >=
              uint64_t{sequence.position} + tokens,
          "{} pages for positions up to {}", sequence.pages[0].size(), uint64_t{sequence.position} + tokens);
    rotation_.compute(sequence.position, tokens, row);
    if (window_rotation_) window_rotation_->compute(sequence.position, tokens, row);
    for (uint32_t done = 0; done < tokens;) {
      const uint32_t in_block = row % kBlockRows;
      if (in_block == 0 && row > 0) first_slice.push_back(slices_.size());
      const uint32_t part = std::min(tokens - done, kBlockRows - in_block);
      slices_.push_back({.first_row = in_block,
                         .rows = part,
                         .position = sequence.position + done,
                         .pages = sequence.pages[0]});
      done += part;
      row += part;
    }
  }
  first_slice.push_back(slices_.size());

  for (uint32_t layer = batch.layer_begin; layer < batch.layer_end; ++layer) {
    for (size_t b = 0; b + 1 < first_slice.size() && rows > 0; ++b) {
      const uint32_t first = static_cast<uint32_t>(b) * kBlockRows;
      run_layer(layer,
                {.hidden = activations.hidden.as<float>() + size_t{first} * config_.hidden,
                 .rows = std::min(kBlockRows, rows - first),
                 .slices = std::span(slices_).subspan(first_slice[b], first_slice[b + 1] - first_slice[b]),
                 .angles = rotation_.from(first),
                 .window_angles = (window_rotation_ ? *window_rotation_ : rotation_).from(first)});
    }
  }
}

void Decoder::logits(const Activations& activations, std::span<const uint32_t> rows, float* out) {
  const size_t hidden = config_.hidden;
  head_rows_.reserve(rows.size() * hidden * sizeof(float));
  float* gathered = head_rows_.as<float>();
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i] < activations.rows, "row {} of {}", rows[i], activations.rows);
    std::memcpy(gathered + i * hidden, activations.hidden.as<float>() + rows[i] * hidden,
                hidden * sizeof(float));
  }
  ends_.norm.prepare(workspace_, gathered, static_cast<uint32_t>(rows.size()));
  if (ends_.output.parts.empty())
    workspace_.table->matmul(*workspace_.pool, workspace_.input, ends_.embedding, out, config_.vocabulary,
                             kernels::Epilogue::kStore);
  else
    ends_.output.apply(*workspace_.pool, *workspace_.table, workspace_.input, out, config_.vocabulary,
                       kernels::Epilogue::kStore);
}

}  // namespace reprise
