// Every value comes from a SplitMix64 stream (Steele et al. 2014) of the seed and the tensor's name, through
// integer arithmetic and single correctly rounded operations: the same bytes everywhere. Matrices have values
// of the order of 1 / sqrt(columns), so that activations neither vanish nor explode.
#include "model/testing/tiny_llama.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/hash.h"
#include "model/gguf.h"

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
  for (uint32_t id = 0; id < 64; ++id)
    if (const GgufType* known = gguf_type(id); known && known->weight == type) return id;
  CHECK(false, "{} has no number", kernels::name(type));
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
      case WeightType::kQ5_0:
        out.number(scale(16));
        noise(20);
        break;
      case WeightType::kQ5_1: {
        const float d = amplitude / 15.5f * (1 + random.uniform() / 4);
        out.number(half(d)).number(half(-15.5f * d));
        noise(20);
        break;
      }
      case WeightType::kQ2_K: {  // d s q - m t with m = 1.5 d, s and t about 8
        const float d = amplitude / (1.5f * 8);
        noise(80);
        out.number(half(d)).number(half(1.5f * d));
        break;
      }
      case WeightType::kQ3_K:
        noise(108);
        out.number(scale(4 * 16));
        break;
      case WeightType::kQ4_K:
      case WeightType::kQ5_K: {  // d s q - m t, s and t about 32
        const float middle = type == WeightType::kQ4_K ? 7.5f : 15.5f, d = amplitude / (middle * 32);
        out.number(half(d)).number(half(middle * d));
        noise(kernels::block_bytes(type) - 4);
        break;
      }
      case WeightType::kIQ4_NL:
        out.number(scale(127));
        noise(16);
        break;
      case WeightType::kIQ4_XS:
        out.number(scale(127 * 6));
        noise(134);
        break;
      case WeightType::kMXFP4: {  // 12 * 2^(s - 128)
        int exponent;
        std::frexp(amplitude / 12, &exponent);
        out.number(static_cast<uint8_t>(128 + exponent - static_cast<int>(random.next() % 2)));
        noise(16);
        break;
      }
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
  const auto put = [&](const char* name, auto value) { w.put(o.architecture + "." + name, value); };
  w.put("general.architecture", o.architecture).put("general.name", o.name);
  put("block_count", o.layers + o.prediction_blocks);
  if (o.prediction_blocks > 0) put("nextn_predict_layers", o.prediction_blocks);
  put("embedding_length", o.hidden);
  put("feed_forward_length", o.feed_forward);
  put("context_length", o.context);
  put("attention.head_count", o.heads);
  put("attention.head_count_kv", o.kv_heads);
  put("attention.key_length", o.head_dim);
  put("attention.value_length", o.head_dim);
  put("attention.layer_norm_rms_epsilon", 1e-5f);
  put("rope.freq_base", o.rope_base);
  if (o.window != 0) put("attention.sliding_window", o.window);
  if (o.temperature != 0) put("attention.temperature_scale", o.temperature);
  if (o.yarn_log_multiplier != 0) put("rope.scaling.yarn_log_multiplier", o.yarn_log_multiplier);
  put("rope.dimension_count", o.rotary ? o.rotary : o.head_dim);
  if (!o.scaling.empty()) {
    put("rope.scaling.type", std::string_view(o.scaling));
    put("rope.scaling.factor", o.factor);
    put("rope.scaling.original_context_length", o.original_context);
  }
  if (const TinyExperts& e = o.experts; e.count > 0) {
    put("expert_count", e.count);
    put("expert_used_count", e.used);
    put("expert_feed_forward_length", e.inner);
    if (e.shared > 0) put("expert_shared_count", e.shared);
    if (e.leading_dense > 0) put("leading_dense_block_count", e.leading_dense);
    if (e.groups > 0) {
      put("expert_group_count", e.groups);
      put("expert_group_used_count", e.groups_used);
    }
    if (e.scale > 0) put("expert_weights_scale", e.scale);
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
  const auto stack = [&](const std::string& name, WeightType type, std::vector<uint64_t> sizes,
                         float amplitude) {
    Random random(o.seed, name);
    uint64_t count = 1;
    for (uint64_t size : sizes) count *= size;
    w.tensor(name + ".weight", type_number(type), sizes, random_weights(random, type, count, amplitude));
  };
  const auto next_type = [&] { return o.types[matrices++ % o.types.size()]; };
  const auto matrix = [&](const std::string& name, uint32_t rows, uint32_t cols, float amplitude) {
    stack(name, next_type(), {cols, rows}, amplitude);
  };
  const auto vector = [&](const std::string& name, uint32_t size, float center, float amplitude) {
    Random random(o.seed, name);
    Bytes values;
    for (uint32_t i = 0; i < size; ++i) values.number(center + amplitude * random.uniform());
    w.tensor(name, 0, {size}, values.data());
  };
  const auto rows_of_vectors = [&](const std::string& name, uint32_t size, uint32_t rows) {
    Random random(o.seed, name);
    Bytes values;
    for (uint32_t i = 0; i < size * rows; ++i) values.number(6 * random.uniform());
    w.tensor(name, 0, {size, rows}, values.data());
  };
  // Uniform values of variance 1 / columns; the output head a few times wider, for logits of some spread.
  const auto linear = [&](const std::string& name, uint32_t rows, uint32_t cols, float gain = 1) {
    matrix(name, rows, cols, gain * std::sqrt(3.0f / static_cast<float>(cols)));
    const bool qkv = name.ends_with("_q") || name.ends_with("_k") || name.ends_with("_v");
    if ((o.biases && name != "output") || (o.qkv_biases && qkv)) vector(name + ".bias", rows, 0, 0.25f);
  };

  const auto mlp = [&](const std::string& b, const char* suffix, uint32_t inner) {
    linear(b + "ffn_gate" + suffix, inner, o.hidden);
    linear(b + "ffn_up" + suffix, inner, o.hidden);
    linear(b + "ffn_down" + suffix, o.hidden, inner);
  };
  // The router is of floats, and its logits are spread enough to choose clearly.
  const auto experts = [&](const std::string& b, const TinyExperts& e) {
    const float unit = std::sqrt(3.0f / static_cast<float>(o.hidden));
    stack(b + "ffn_gate_inp", WeightType::kF32, {o.hidden, e.count}, e.router_gain * unit);
    if (e.selection_bias) vector(b + "exp_probs_b.bias", e.count, 0, 0.25f);
    const float down = std::sqrt(3.0f / static_cast<float>(e.inner));
    stack(b + "ffn_gate_exps", next_type(), {o.hidden, e.inner, e.count}, unit);
    stack(b + "ffn_up_exps", next_type(), {o.hidden, e.inner, e.count}, unit);
    stack(b + "ffn_down_exps", next_type(), {e.inner, o.hidden, e.count}, down);
    if (e.biases) {
      vector(b + "ffn_gate_inp.bias", e.count, 0, 0.5f);
      rows_of_vectors(b + "ffn_gate_exps.bias", e.inner, e.count);
      rows_of_vectors(b + "ffn_up_exps.bias", e.inner, e.count);
      rows_of_vectors(b + "ffn_down_exps.bias", o.hidden, e.count);
    }
    if (e.shared > 0) mlp(b, "_shexp", e.shared * e.inner);
  };

  matrix("token_embd", o.vocabulary, o.hidden, o.tied ? 0.25f : 1.0f);
  for (uint32_t i = 0; i < o.layers; ++i) {
    const std::string b = fmt::format("blk.{}.", i);
    vector(b + "attn_norm.weight", o.hidden, 1, 0.25f);
    linear(b + "attn_q", o.heads * o.head_dim, o.hidden);
    linear(b + "attn_k", o.kv_heads * o.head_dim, o.hidden);
    linear(b + "attn_v", o.kv_heads * o.head_dim, o.hidden);
    if (o.head_norms) {
      vector(b + "attn_q_norm.weight", o.head_dim, 1, 0.25f);
      vector(b + "attn_k_norm.weight", o.head_dim, 1, 0.25f);
    }
    if (o.sinks) vector(b + "attn_sinks.weight", o.heads, 0, 3);
    linear(b + "attn_output", o.hidden, o.heads * o.head_dim);
    if (o.post_norms) {
      vector(b + "post_attention_norm.weight", o.hidden, 1, 0.25f);
      vector(b + "post_ffw_norm.weight", o.hidden, 1, 0.25f);
    }
    vector(b + o.mlp_norm + ".weight", o.hidden, 1, 0.25f);
    if (i < o.experts.leading_dense || o.experts.count == 0) {
      mlp(b, "", o.feed_forward);
    } else {
      experts(b, o.experts);
    }
  }
  for (uint32_t i = 0; i < o.prediction_blocks; ++i)
    vector(fmt::format("blk.{}.nextn.enorm.weight", o.layers + i), o.hidden, 1, 0.25f);
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
      {.name = "window", .hidden = 128, .tied = false, .window = 70},
      {.name = "gemma3",
       .architecture = "gemma3",
       .layers = 7,
       .hidden = 128,
       .heads = 4,
       .kv_heads = 1,
       .head_dim = 48,
       .head_norms = true,
       .post_norms = true,
       .window = 70,
       .rope_base = 1e6f,
       .scaling = "linear",
       .factor = 4,
       .original_context = 128},
      {.name = "mistral3",
       .architecture = "mistral3",
       .hidden = 128,
       .context = 256,
       .tied = false,
       .temperature = 0.5f,
       .scaling = "yarn",
       .factor = 4,
       .original_context = 64,
       .yarn_log_multiplier = 1},
      {.name = "mistral3_mscale",
       .architecture = "mistral3",
       .hidden = 128,
       .context = 256,
       .tied = false,
       .temperature = 0.1f,
       .scaling = "yarn",
       .factor = 4,
       .original_context = 64,
       .yarn_log_multiplier = 0.5f},
      {.name = "qwen2", .architecture = "qwen2", .hidden = 128, .qkv_biases = true},
      {.name = "qwen3",
       .architecture = "qwen3",
       .hidden = 128,
       .heads = 6,
       .kv_heads = 2,
       .head_dim = 32,
       .tied = false,
       .head_norms = true},
      {.name = "qwen3moe",
       .architecture = "qwen3moe",
       .types = {kQ8_0, kQ4_0, kF16},
       .hidden = 128,
       .head_dim = 32,
       .tied = false,
       .head_norms = true,
       .experts = {.count = 8, .used = 3}},
      {.name = "gpt_oss",
       .architecture = "gpt-oss",
       .types = {kQ8_0, kMXFP4},
       .layers = 3,
       .hidden = 96,
       .heads = 8,
       .kv_heads = 2,
       .head_dim = 32,
       .tied = false,
       .biases = true,
       .mlp_norm = "post_attention_norm",
       .sinks = true,
       .window = 40,
       .rope_base = 150000,
       .scaling = "yarn",
       .factor = 8,
       .original_context = 64,
       .experts = {.count = 8, .used = 3, .inner = 64, .biases = true}},
      {.name = "glm4moe",
       .architecture = "glm4moe",
       .types = {kQ8_0, kBF16},
       .layers = 3,
       .hidden = 128,
       .heads = 8,
       .kv_heads = 2,
       .head_dim = 32,
       .rotary = 16,
       .tied = false,
       .qkv_biases = true,
       .head_norms = true,
       .mlp_norm = "post_attention_norm",
       .prediction_blocks = 1,
       .experts = {.count = 8,
                   .used = 3,
                   .shared = 1,
                   .leading_dense = 1,
                   .groups = 1,
                   .groups_used = 1,
                   .scale = 2.5f,
                   .selection_bias = true}},
      {.name = "glm4moe_groups",
       .architecture = "glm4moe",
       .types = {kF32},
       .hidden = 64,
       .head_dim = 32,
       .rotary = 16,
       .mlp_norm = "post_attention_norm",
       .experts = {.count = 16,
                   .used = 4,
                   .inner = 40,
                   .shared = 2,
                   .groups = 4,
                   .groups_used = 2,
                   .scale = 1.5f,
                   .selection_bias = true}},
  };
}

}  // namespace reprise::testing
