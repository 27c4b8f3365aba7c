// Every value comes from a SplitMix64 stream (Steele et al. 2014) of the seed and the tensor's name, through
// integer arithmetic and single correctly rounded operations: the same bytes everywhere. Matrices have values
// of the order of 1 / sqrt(columns), so that activations neither vanish nor explode.
#include "model/testing/tiny_llama.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/hash.h"

namespace reprise::testing {
namespace {

using kernels::WeightType;

class Random {
 public:
  Random(uint64_t seed, std::string_view name) : state_(hash(name, seed)) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Uniform in [-1, 1), a multiple of 2^-23.
  float uniform() { return static_cast<float>(static_cast<int64_t>(next() >> 40) - (1 << 23)) * 0x1p-23f; }

 private:
  uint64_t state_;
};

// fp16 of a positive normal number, truncated.
uint16_t half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + 15;
  CHECK(exponent > 0 && exponent < 31, "{} has no normal fp16", value);
  return static_cast<uint16_t>(bits >> 16 & 0x8000) | static_cast<uint16_t>(exponent << 10) |
         static_cast<uint16_t>(bits >> 13 & 0x3ff);
}

uint32_t type_number(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return 0;
    case WeightType::kF16:
      return 1;
    case WeightType::kQ4_0:
      return 2;
    case WeightType::kQ4_1:
      return 3;
    case WeightType::kQ8_0:
      return 8;
    case WeightType::kQ6_K:
      return 14;
    case WeightType::kBF16:
      return 30;
  }
  return 0;
}

// `count` values of about uniform(-amplitude, amplitude) in the type's blocks.
std::vector<std::byte> random_weights(Random& random, WeightType type, uint64_t count, float amplitude) {
  Bytes out;
  const uint64_t blocks = count / kernels::block_elements(type);
  const auto scale = [&](float range) { return half(amplitude / range * (1 + random.uniform() / 4)); };
  const auto noise = [&](size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
      const uint64_t word = random.next();
      out.raw(std::as_bytes(std::span(&word, 1)).first(std::min<size_t>(8, bytes - i)));
    }
  };
  for (uint64_t b = 0; b < blocks; ++b) {
    switch (type) {
      case WeightType::kF32:
        out.number(amplitude * random.uniform());
        break;
      case WeightType::kF16: {
        const float value = random.uniform();
        out.number(half(amplitude * (std::abs(value) < 0x1p-8f ? 0x1p-8f : value)));
        break;
      }
      case WeightType::kBF16:
        out.number(static_cast<uint16_t>(std::bit_cast<uint32_t>(amplitude * random.uniform()) >> 16));
        break;
      case WeightType::kQ8_0:  // quantisers never produce -128
        out.number(scale(127));
        for (int i = 0; i < 32; ++i)
          out.number(static_cast<int8_t>(static_cast<int>(random.next() % 255) - 127));
        break;
      case WeightType::kQ4_0:
        out.number(scale(8));
        noise(16);
        break;
      case WeightType::kQ4_1: {  // d q + m with m = -7.5 d
        const float d = amplitude / 7.5f * (1 + random.uniform() / 4);
        out.number(half(d)).number(half(-7.5f * d));
        noise(16);
        break;
      }
      case WeightType::kQ6_K:
        noise(192);
        for (int i = 0; i < 16; ++i)
          out.number(static_cast<int8_t>(static_cast<int>(random.next() % 17) + 8));
        out.number(scale(32 * 16));
        break;
    }
  }
  return out.data();
}

// Llama 3.1's rope_freqs: what each frequency is divided by (Llama 3.1 reference code, apply_scaling).
std::vector<float> llama3_divisors(uint32_t rotary, double base, double context) {
  constexpr double kFactor = 8, kLow = 1, kHigh = 4;
  std::vector<float> divisors;
  for (uint32_t i = 0; i < rotary / 2; ++i) {
    const double wavelength = 2 * std::numbers::pi * std::pow(base, 2.0 * i / rotary);
    if (wavelength < context / kHigh)
      divisors.push_back(1);
    else if (wavelength > context / kLow)
      divisors.push_back(kFactor);
    else {
      const double smooth = (context / wavelength - kLow) / (kHigh - kLow);
      divisors.push_back(static_cast<float>(1 / ((1 - smooth) / kFactor + smooth)));
    }
  }
  return divisors;
}

void put_metadata(GgufWriter& w, const TinyLlama& o) {
  w.put("general.architecture", "llama").put("general.name", o.name);
  w.put("llama.block_count", o.layers).put("llama.embedding_length", o.hidden);
  w.put("llama.feed_forward_length", o.feed_forward).put("llama.context_length", o.context);
  w.put("llama.attention.head_count", o.heads).put("llama.attention.head_count_kv", o.kv_heads);
  w.put("llama.attention.key_length", o.head_dim).put("llama.attention.value_length", o.head_dim);
  w.put("llama.attention.layer_norm_rms_epsilon", 1e-5f).put("llama.rope.freq_base", 10000.0f);
  w.put("llama.rope.dimension_count", o.rotary ? o.rotary : o.head_dim);
  if (!o.scaling.empty()) {
    w.put("llama.rope.scaling.type", o.scaling).put("llama.rope.scaling.factor", o.factor);
    w.put("llama.rope.scaling.original_context_length", o.original_context);
  }
  // Byte-level BPE of single bytes: GPT-2's letters for bytes 0..255, then control tokens.
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  uint32_t next = 256;
  for (uint32_t id = 0; id < o.vocabulary; ++id) {
    if (id >= 256) {
      tokens.push_back(id == 256   ? "<|im_start|>"
                       : id == 257 ? "<|im_end|>"
                                   : fmt::format("<|extra_{}|>", id));
      types.push_back(3);
      continue;
    }
    const bool visible = (id >= 33 && id <= 126) || (id >= 161 && id <= 172) || id >= 174;
    const uint32_t letter = visible ? id : next++;
    tokens.push_back(letter < 0x80 ? std::string(1, static_cast<char>(letter))
                                   : std::string{static_cast<char>(0xc0 | letter >> 6),
                                                 static_cast<char>(0x80 | (letter & 0x3f))});
    types.push_back(1);
  }
  w.put("tokenizer.ggml.model", "gpt2").put("tokenizer.ggml.pre", "smollm");
  w.put("tokenizer.ggml.tokens", tokens).put("tokenizer.ggml.token_type", types);
  w.put("tokenizer.ggml.merges", std::vector<std::string>{});
  if (o.vocabulary > o.eos)
    w.put("tokenizer.ggml.bos_token_id", 256u).put("tokenizer.ggml.eos_token_id", o.eos);
  w.put("tokenizer.chat_template",
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
}

}  // namespace

GgufWriter make_tiny_llama(const TinyLlama& o) {
  GgufWriter w;
  put_metadata(w, o);
  size_t matrices = 0;
  const auto matrix = [&](const std::string& name, uint32_t rows, uint32_t cols, float amplitude) {
    const WeightType type = o.types[matrices++ % o.types.size()];
    Random random(o.seed, name);
    w.tensor(name + ".weight", type_number(type), {cols, rows},
             random_weights(random, type, uint64_t{rows} * cols, amplitude));
  };
  const auto vector = [&](const std::string& name, uint32_t size, float center, float amplitude) {
    Random random(o.seed, name);
    Bytes values;
    for (uint32_t i = 0; i < size; ++i) values.number(center + amplitude * random.uniform());
    w.tensor(name, 0, {size}, values.data());
  };
  // Uniform values of variance 1 / columns; the output head a few times wider, for logits of some spread.
  const auto linear = [&](const std::string& name, uint32_t rows, uint32_t cols, float gain = 1) {
    matrix(name, rows, cols, gain * std::sqrt(3.0f / static_cast<float>(cols)));
    if (o.biases && name != "output") vector(name + ".bias", rows, 0, 0.25f);
  };

  matrix("token_embd", o.vocabulary, o.hidden, o.tied ? 0.25f : 1.0f);
  for (uint32_t i = 0; i < o.layers; ++i) {
    const std::string b = fmt::format("blk.{}.", i);
    vector(b + "attn_norm.weight", o.hidden, 1, 0.25f);
    linear(b + "attn_q", o.heads * o.head_dim, o.hidden);
    linear(b + "attn_k", o.kv_heads * o.head_dim, o.hidden);
    linear(b + "attn_v", o.kv_heads * o.head_dim, o.hidden);
    linear(b + "attn_output", o.hidden, o.heads * o.head_dim);
    vector(b + "ffn_norm.weight", o.hidden, 1, 0.25f);
    linear(b + "ffn_gate", o.feed_forward, o.hidden);
    linear(b + "ffn_up", o.feed_forward, o.hidden);
    linear(b + "ffn_down", o.hidden, o.feed_forward);
  }
  vector("output_norm.weight", o.hidden, 1, 0.25f);
  if (!o.tied) linear("output", o.vocabulary, o.hidden, 3);
  if (o.llama3_divisors) {
    Bytes values;
    const uint32_t rotary = o.rotary ? o.rotary : o.head_dim;
    for (float divisor : llama3_divisors(rotary, 10000, o.original_context)) values.number(divisor);
    w.tensor("rope_freqs.weight", 0, {rotary / 2}, values.data());
  }
  return w;
}

std::vector<TinyLlama> oracle_models() {
  using enum WeightType;
  return {
      {.name = "f32", .types = {kF32}, .tied = false},
      {.name = "f16_linear", .types = {kF16}, .scaling = "linear", .factor = 4, .original_context = 64},
      {.name = "bf16_llama3", .types = {kBF16}, .original_context = 64, .llama3_divisors = true},
      {.name = "q8_0_yarn",
       .types = {kQ8_0},
       .context = 256,
       .scaling = "yarn",
       .factor = 4,
       .original_context = 64},
      {.name = "q4_0_biases",
       .types = {kQ4_0},
       .heads = 8,
       .kv_heads = 2,
       .head_dim = 32,
       .tied = false,
       .biases = true},
      {.name = "q4_1_wide_heads",
       .types = {kQ4_1},
       .hidden = 128,
       .heads = 4,
       .kv_heads = 1,
       .head_dim = 64,
       .tied = false},
      {.name = "q6_k", .types = {kQ6_K}},
      {.name = "mixed",
       .types = {kQ6_K, kQ8_0, kQ4_1, kQ4_1, kF16, kQ4_0, kBF16},
       .layers = 3,
       .tied = false},
  };
}

}  // namespace reprise::testing
