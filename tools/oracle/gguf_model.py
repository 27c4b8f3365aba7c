"""A GGUF file as a transformers model in fp32: read and dequantised by the gguf package, not by us. One entry of
ARCHITECTURES is what an architecture needs."""
import dataclasses
import typing

import gguf
import numpy as np
import torch
import transformers

# What rope_freqs.weight of the test models is derived from; the tensor alone does not say.
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3_ORIGINAL_CONTEXT = 64

NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "ffn_gate_inp": "mlp.gate",
    "ffn_gate_shexp": "mlp.shared_experts.gate_proj", "ffn_up_shexp": "mlp.shared_experts.up_proj",
    "ffn_down_shexp": "mlp.shared_experts.down_proj",
}


class File:
    """Metadata by the names that follow the architecture, and tensors in fp32."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.fields = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
        self.architecture = self.fields["general.architecture"]
        self.tensors = {t.name: gguf.dequantize(t.data, t.tensor_type).astype(np.float32) for t in reader.tensors}

    def field(self, name, default=None):
        return self.fields.get(f"{self.architecture}.{name}", default)


@dataclasses.dataclass
class Architecture:
    config: type
    model: type
    options: typing.Callable = lambda file: {}  # of the config, beyond common_options()
    # What a tensor is in transformers: {name: values}. The default is a change of name.
    convert: typing.Callable = lambda file, name, values: {transformers_name(name): values}


def transformers_name(name, names=NAMES):
    stem, kind = name.rsplit(".", 1)
    if stem.startswith("blk."):
        _, layer, part = stem.split(".")
        return f"model.layers.{layer}.{names[part]}.{kind}"
    return f"{names[stem]}.{kind}"


def rope_parameters(file):
    parameters = {"rope_type": "default", "rope_theta": file.field("rope.freq_base", 10000.0)}
    kind = file.field("rope.scaling.type", "none")
    if "rope_freqs.weight" in file.tensors:
        parameters |= LLAMA3 | {"original_max_position_embeddings": LLAMA3_ORIGINAL_CONTEXT}
    elif kind != "none":
        parameters |= {"rope_type": kind, "factor": file.field("rope.scaling.factor", 1.0)}
        if kind == "yarn":
            parameters["original_max_position_embeddings"] = file.field("rope.scaling.original_context_length")
    return parameters


def common_options(file):
    hidden, heads = file.field("embedding_length"), file.field("attention.head_count")
    return {
        "vocab_size": file.tensors["token_embd.weight"].shape[0], "hidden_size": hidden,
        "intermediate_size": file.field("feed_forward_length"), "num_hidden_layers": file.field("block_count"),
        "num_attention_heads": heads, "num_key_value_heads": file.field("attention.head_count_kv", heads),
        "head_dim": file.field("attention.key_length", hidden // heads),
        "rms_norm_eps": file.field("attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": file.field("context_length"), "rope_parameters": rope_parameters(file),
        "tie_word_embeddings": "output.weight" not in file.tensors, "attn_implementation": "eager",
    }


def unpermute(rows, heads):
    """Rows of q or k from the order of a llama file (pairs 2i, 2i + 1) to transformers' (i, i + d/2)."""
    shape = rows.shape
    return rows.reshape(heads, shape[0] // heads // 2, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def llama_options(file):
    return {"attention_bias": "blk.0.attn_q.bias" in file.tensors, "mlp_bias": "blk.0.ffn_gate.bias" in file.tensors}


def convert_llama(file, name, values):
    if name == "rope_freqs.weight":
        return {}
    if ".attn_q." in name:
        values = unpermute(values, file.field("attention.head_count"))
    if ".attn_k." in name:
        values = unpermute(values, file.field("attention.head_count_kv"))
    return {transformers_name(name): values}


def convert_experts(file, name, values, names=NAMES):
    """Stacks of experts; transformers keeps gate and up in one. Blocks that predict further tokens are left out."""
    if ".nextn." in name:
        return {}
    stem = name.removesuffix(".weight")
    if stem.endswith("ffn_up_exps"):
        return {}
    if stem.endswith("ffn_gate_exps"):
        up = file.tensors[name.replace("gate", "up")]
        return {f"model.layers.{stem.split('.')[1]}.mlp.experts.gate_up_proj": np.concatenate([values, up], axis=1)}
    if stem.endswith("ffn_down_exps"):
        return {f"model.layers.{stem.split('.')[1]}.mlp.experts.down_proj": values}
    if name.endswith("exp_probs_b.bias"):
        return {f"model.layers.{stem.split('.')[1]}.mlp.gate.e_score_correction_bias": values}
    return {transformers_name(name, names): values}


def qwen3moe_options(file):
    return {"num_experts": file.field("expert_count"), "num_experts_per_tok": file.field("expert_used_count"),
            "moe_intermediate_size": file.field("expert_feed_forward_length"), "norm_topk_prob": True}


def glm4moe_options(file):
    rope = rope_parameters(file)
    rope["partial_rotary_factor"] = file.field("rope.dimension_count") / file.field("attention.key_length")
    return {"n_routed_experts": file.field("expert_count"), "num_experts_per_tok": file.field("expert_used_count"),
            "moe_intermediate_size": file.field("expert_feed_forward_length"),
            "n_shared_experts": file.field("expert_shared_count"), "n_group": file.field("expert_group_count"),
            "topk_group": file.field("expert_group_used_count"), "routed_scaling_factor": file.field("expert_weights_scale"),
            "num_hidden_layers": file.field("block_count") - file.field("nextn_predict_layers", 0),
            "num_nextn_predict_layers": 0, "first_k_dense_replace": file.field("leading_dense_block_count", 0), "norm_topk_prob": True,
            "use_qk_norm": "blk.0.attn_q_norm.weight" in file.tensors,
            "attention_bias": "blk.0.attn_q.bias" in file.tensors, "rope_parameters": rope}


def window_options(file):
    return {"sliding_window": file.field("attention.sliding_window")}


def gemma3_options(file):
    # Layers with a window rotate by a base of their own and are not scaled.
    rope = {"full_attention": rope_parameters(file),
            "sliding_attention": {"rope_type": "default", "rope_theta": file.field("rope.freq_base_swa", 10000.0)}}
    layers = file.field("block_count")
    types = ["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(layers)]
    return window_options(file) | {"rope_parameters": rope, "layer_types": types,
                                   "query_pre_attn_scalar": file.field("attention.key_length")}


def convert_gemma3(file, name, values):
    """Files hold norms as 1 + weight, and call the norm that precedes the MLP ffn_norm."""
    names = NAMES | {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
                     "post_ffw_norm": "post_feedforward_layernorm"}
    return {transformers_name(name, names): values - 1 if name.endswith("norm.weight") else values}


def mistral3_options(file):
    extra = {"mscale": 1.0, "mscale_all_dim": file.field("rope.scaling.yarn_log_multiplier", 0.0),
             "beta_fast": 32.0, "beta_slow": 1.0,
             "llama_4_scaling_beta": file.field("attention.temperature_scale", 0.0)}
    return window_options(file) | {"rope_parameters": rope_parameters(file) | extra}


def gpt_oss_options(file):
    return window_options(file) | {
        "num_local_experts": file.field("expert_count"), "num_experts_per_tok": file.field("expert_used_count"),
        "intermediate_size": file.field("expert_feed_forward_length"),
        "rope_parameters": rope_parameters(file) | {"truncate": False}}


def convert_gpt_oss(file, name, values):
    """transformers has gate and up in alternating columns, and matrices of experts by [input][output]."""
    stem, kind = name.rsplit(".", 1)
    part, target = stem.split(".")[-1], f"model.layers.{stem.split('.')[1]}." if stem.startswith("blk.") else ""
    suffix = "_bias" if kind == "bias" else ""
    columns = lambda v: v if kind == "bias" else v.transpose(0, 2, 1)
    if part == "ffn_up_exps":
        return {}
    if part == "ffn_gate_exps":
        both = np.stack([columns(values), columns(file.tensors[name.replace("gate", "up")])], axis=-1)
        return {f"{target}mlp.experts.gate_up_proj{suffix}": both.reshape(*both.shape[:-2], -1)}
    if part == "ffn_down_exps":
        return {f"{target}mlp.experts.down_proj{suffix}": columns(values)}
    if part == "attn_sinks":
        return {f"{target}self_attn.sinks": values}
    names = NAMES | {"post_attention_norm": NAMES["ffn_norm"], "ffn_gate_inp": "mlp.router"}
    return {transformers_name(name, names): values}


LLAMA = Architecture(transformers.LlamaConfig, transformers.LlamaForCausalLM, llama_options, convert_llama)
MISTRAL = Architecture(transformers.MistralConfig, transformers.MistralForCausalLM, window_options, convert_llama)
ARCHITECTURES = {
    "gemma3": Architecture(transformers.Gemma3TextConfig, transformers.Gemma3ForCausalLM, gemma3_options, convert_gemma3),
    "glm4moe": Architecture(
        transformers.Glm4MoeConfig, transformers.Glm4MoeForCausalLM, glm4moe_options,
        lambda file, name, values: convert_experts(file, name, values, NAMES | {"post_attention_norm": NAMES["ffn_norm"]})),
    "gpt-oss": Architecture(transformers.GptOssConfig, transformers.GptOssForCausalLM, gpt_oss_options, convert_gpt_oss),
    "llama": LLAMA,
    "mistral3": Architecture(transformers.Ministral3Config, transformers.Ministral3ForCausalLM, mistral3_options,
                             convert_llama),
    "qwen2": Architecture(transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
    "qwen3": Architecture(transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "qwen3moe": Architecture(transformers.Qwen3MoeConfig, transformers.Qwen3MoeForCausalLM, qwen3moe_options,
                             convert_experts),
}


def load(path):
    file = File(path)
    architecture = ARCHITECTURES[file.architecture]
    if architecture is LLAMA and file.field("attention.sliding_window"):
        architecture = MISTRAL  # the same layers, with a window
    config = architecture.config(**(common_options(file) | architecture.options(file)))
    state = {}
    for name, values in file.tensors.items():
        for target, converted in architecture.convert(file, name, values).items():
            state[target] = torch.from_numpy(np.ascontiguousarray(converted))
    model = architecture.model(config).to(torch.float32).eval()
    missing, unexpected = model.load_state_dict(state, strict=False)
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    assert set(missing) <= tied and not unexpected, (missing, unexpected)
    model.tie_weights()
    if "rope_freqs.weight" in file.tensors:
        divisors = torch.from_numpy(file.tensors["rope_freqs.weight"])
        plain = config.rope_parameters["rope_theta"] ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
        assert torch.allclose(model.model.rotary_emb.inv_freq, plain / divisors, rtol=1e-5), "rope_freqs disagree"
    return model


@torch.no_grad()
def logits(model, tokens, positions):
    """fp32 logits [position][vocabulary] of one sequence."""
    return model(torch.tensor([tokens])).logits[0, positions].numpy().astype("<f4")


def smollm2_tokenizer(path):
    """SmolLM2's byte-level BPE from the file's own tables: single digits, then GPT-2's pattern."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer
