#include "model/huggingface/families.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr ConfigField kCommonFields[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"intermediate_size", "feed_forward_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"max_position_embeddings", "context_length"},
    {"vocab_size", "vocab_size"},
    {"attention_bias", "attention.bias"},
    {"mlp_bias", "feed_forward.bias"},
};
constexpr TensorName kCommonTensors[] = {
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
    {"model.layers.{}.input_layernorm", "attn_norm"},
    {"model.layers.{}.post_attention_layernorm", "ffn_norm"},
    {"model.layers.{}.self_attn.q_proj", "attn_q"},
    {"model.layers.{}.self_attn.k_proj", "attn_k"},
    {"model.layers.{}.self_attn.v_proj", "attn_v"},
    {"model.layers.{}.self_attn.o_proj", "attn_output"},
    {"model.layers.{}.self_attn.q_norm", "attn_q_norm"},
    {"model.layers.{}.self_attn.k_norm", "attn_k_norm"},
    {"model.layers.{}.mlp.gate_proj", "ffn_gate"},
    {"model.layers.{}.mlp.up_proj", "ffn_up"},
    {"model.layers.{}.mlp.down_proj", "ffn_down"},
};

constexpr std::string_view kLlamaDefaults =
    R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "rope_theta": 10000.0})";
constexpr std::string_view kMistralDefaults =
    R"({"max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
        "num_key_value_heads": 8, "sliding_window": 4096})";
constexpr std::string_view kQwen2Defaults =
    R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
        "num_key_value_heads": 32, "use_sliding_window": false})";
constexpr std::string_view kQwen3Defaults =
    R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
        "num_key_value_heads": 32, "head_dim": 128, "use_sliding_window": false})";

// Mixtures of experts.
constexpr TensorName kExpertTensors[] = {
    {"model.layers.{}.mlp.gate", "ffn_gate_inp"},
    {"model.layers.{}.mlp.experts.{}.gate_proj", "ffn_gate_exps"},
    {"model.layers.{}.mlp.experts.{}.up_proj", "ffn_up_exps"},
    {"model.layers.{}.mlp.experts.{}.down_proj", "ffn_down_exps"},
};
constexpr ConfigField kQwen3MoeFields[] = {
    {"num_experts", "expert_count"},
    {"num_local_experts", "expert_count"},  // the same by its other name
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"norm_topk_prob", "expert_weights_norm"},
};
constexpr std::string_view kQwen3MoeDefaults =
    R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "num_key_value_heads": 4,
        "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "norm_topk_prob": false,
        "use_sliding_window": false})";
constexpr ConfigField kGlm4MoeFields[] = {
    {"n_routed_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"norm_topk_prob", "expert_weights_norm"},
    {"n_shared_experts", "expert_shared_count"},
    {"routed_scaling_factor", "expert_weights_scale"},
    {"first_k_dense_replace", "leading_dense_block_count"},
    {"n_group", "expert_group_count"},
    {"topk_group", "expert_group_used_count"},
    {"use_qk_norm", "attention.head_norms"},
};
constexpr TensorName kGlm4MoeTensors[] = {
    {"model.layers.{}.post_attention_layernorm", "post_attention_norm"},
    {"model.layers.{}.mlp.gate.e_score_correction_bias", "exp_probs_b.bias"},
    {"model.layers.{}.mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
    {"model.layers.{}.mlp.shared_experts.up_proj", "ffn_up_shexp"},
    {"model.layers.{}.mlp.shared_experts.down_proj", "ffn_down_shexp"},
};
constexpr std::string_view kGlm4MoeDefaults =
    R"({"max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "num_key_value_heads": 8,
        "n_routed_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1408, "norm_topk_prob": true,
        "n_shared_experts": 1, "routed_scaling_factor": 1.0, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1,
        "partial_rotary_factor": 0.5, "attention_bias": false, "use_qk_norm": false})";

constexpr ConfigField kGptOssFields[] = {
    {"num_local_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"intermediate_size", "expert_feed_forward_length"},
};
constexpr TensorName kGptOssTensors[] = {
    {"model.layers.{}.post_attention_layernorm", "post_attention_norm"},
    {"model.layers.{}.self_attn.sinks", "attn_sinks.weight"},
    {"model.layers.{}.mlp.router", "ffn_gate_inp"},
    {"model.layers.{}.mlp.experts.gate_up_proj", "ffn_gate_exps.weight", 2, 0, true},
    {"model.layers.{}.mlp.experts.gate_up_proj", "ffn_up_exps.weight", 2, 1, true},
    {"model.layers.{}.mlp.experts.gate_up_proj_bias", "ffn_gate_exps.bias", 2, 0},
    {"model.layers.{}.mlp.experts.gate_up_proj_bias", "ffn_up_exps.bias", 2, 1},
    {"model.layers.{}.mlp.experts.down_proj", "ffn_down_exps.weight", 1, 0, true},
    {"model.layers.{}.mlp.experts.down_proj_bias", "ffn_down_exps.bias"},
};
constexpr std::string_view kGptOssDefaults =
    R"({"max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "rope_theta": 150000.0, "num_key_value_heads": 8,
        "head_dim": 64, "sliding_window": 128, "num_local_experts": 128, "num_experts_per_tok": 4,
        "attention_bias": true, "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0,
        "beta_slow": 1.0, "truncate": false, "original_max_position_embeddings": 4096}})";

constexpr std::string_view kMinistral3Defaults =
    R"({"max_position_embeddings": 262144, "rms_norm_eps": 1e-5, "rope_theta": 1000000.0, "num_key_value_heads": 8,
        "head_dim": 128, "rope_scaling": {"rope_type": "yarn", "factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 16384,
        "llama_4_scaling_beta": 0.1}})";

constexpr ConfigField kGemma3Fields[] = {{"rope_local_base_freq", "rope.freq_base_swa"}};
constexpr TensorName kGemma3Tensors[] = {
    {"model.layers.{}.post_attention_layernorm", "post_attention_norm"},
    {"model.layers.{}.pre_feedforward_layernorm", "ffn_norm"},
    {"model.layers.{}.post_feedforward_layernorm", "post_ffw_norm"},
};
constexpr std::string_view kGemma3Defaults =
    R"({"max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "num_key_value_heads": 4,
        "head_dim": 256, "sliding_window": 4096, "query_pre_attn_scalar": 256, "tie_word_embeddings": true,
        "num_attention_heads": 8, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26})";

constexpr HuggingFaceFamily kFamilies[] = {
    {.model_type = "llama", .architecture = "llama", .defaults = kLlamaDefaults},
    {.model_type = "mistral", .architecture = "llama", .defaults = kMistralDefaults},
    {.model_type = "qwen2", .architecture = "qwen2", .defaults = kQwen2Defaults},
    {.model_type = "qwen3", .architecture = "qwen3", .defaults = kQwen3Defaults},
    {.model_type = "qwen3_moe",
     .architecture = "qwen3moe",
     .defaults = kQwen3MoeDefaults,
     .fields = kQwen3MoeFields,
     .experts = true},
    {.model_type = "glm4_moe",
     .architecture = "glm4moe",
     .defaults = kGlm4MoeDefaults,
     .fields = kGlm4MoeFields,
     .tensors = kGlm4MoeTensors,
     .experts = true,
     .extra_layers = true},
    {.model_type = "gemma3_text",
     .architecture = "gemma3",
     .defaults = kGemma3Defaults,
     .fields = kGemma3Fields,
     .activation = "gelu_pytorch_tanh",
     .tensors = kGemma3Tensors,
     .unit_norms = true},
    {.model_type = "ministral3", .architecture = "mistral3", .defaults = kMinistral3Defaults},
    {.model_type = "gpt_oss",
     .architecture = "gpt-oss",
     .defaults = kGptOssDefaults,
     .fields = kGptOssFields,
     .tensors = kGptOssTensors},
};
constexpr HuggingFaceWrapper kWrappers[] = {{"gemma3", "gemma3_text"}, {"mistral3", "mistral"}};

}  // namespace

const HuggingFaceFamily* family_named(std::string_view model_type) {
  const auto* found = std::ranges::find(kFamilies, model_type, &HuggingFaceFamily::model_type);
  return found == std::end(kFamilies) ? nullptr : found;
}
std::span<const HuggingFaceFamily> families() { return kFamilies; }
std::span<const HuggingFaceWrapper> wrappers() { return kWrappers; }
std::span<const ConfigField> common_fields() { return kCommonFields; }
std::span<const TensorName> common_tensors() { return kCommonTensors; }
std::span<const TensorName> expert_tensors() { return kExpertTensors; }

}  // namespace reprise
