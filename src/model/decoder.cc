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
    : config_(context.config), ends_(std::move(ends)), rope_(context.config.rope, context.context) {
  workspace_.pool = &context.pool;
  workspace_.table = &context.table;
  workspace_.kv = {.page_tokens = context.page_tokens,
                   .layers = config_.layers,
                   .kv_heads = config_.kv_heads,
                   .head_dim = config_.head_dim};
}

KvSpec Decoder::kv_spec() const {
  return {.page_tokens = workspace_.kv.page_tokens,
          .groups = {{.kind = KvKind::kFull, .page_bytes = workspace_.table->kv_page_bytes(workspace_.kv)}}};
}

TokenCost Decoder::token_cost() const {
  const uint64_t hidden = config_.hidden;
  const uint64_t attention = hidden * (2 * uint64_t{config_.q_width()} + 2 * uint64_t{config_.kv_width()});
  const uint64_t layers = config_.layers * (attention + 3 * hidden * config_.feed_forward);
  const bool tied = ends_.output.parts.empty();
  return {.weight_bytes = weight_bytes_ - (tied ? 0 : ends_.embedding.bytes()),
          .layer_macs = layers,
          .float_macs = static_cast<uint64_t>(float_share_ * static_cast<double>(layers)),
          .head_macs = hidden * config_.vocabulary,
          .attention_macs = 2 * uint64_t{config_.layers} * config_.q_width()};
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
      row += config_.hidden;
    }
  }
}

void Decoder::forward(const ForwardBatch& batch, Activations& activations) {
  CHECK(batch.layer_begin <= batch.layer_end && batch.layer_end <= config_.layers);
  if (batch.layer_begin == 0) embed(batch, activations);
  const uint32_t rows = count_rows(batch.sequences);
  CHECK(rows == activations.rows, "{} rows, the chunk began with {}", rows, activations.rows);

  const uint32_t pairs = rope_.rotary() / 2;
  cos_.reserve(size_t{rows} * pairs * sizeof(float));
  sin_.reserve(size_t{rows} * pairs * sizeof(float));

  // Slices in row order, cut at block borders; block b's are [first_slice[b], first_slice[b + 1]).
  slices_.clear();
  std::vector<size_t> first_slice{0};
  uint32_t row = 0;
  for (const SequenceRows& sequence : batch.sequences) {
    const auto tokens = static_cast<uint32_t>(sequence.tokens.size());
    CHECK(sequence.pages[0].size() * uint64_t{workspace_.kv.page_tokens} >=
              uint64_t{sequence.position} + tokens,
          "{} pages for positions up to {}", sequence.pages[0].size(), uint64_t{sequence.position} + tokens);
    rope_.angles(sequence.position, tokens, cos_.as<float>() + size_t{row} * pairs,
                 sin_.as<float>() + size_t{row} * pairs);
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
                 .cos = cos_.as<float>() + size_t{first} * pairs,
                 .sin = sin_.as<float>() + size_t{first} * pairs});
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
