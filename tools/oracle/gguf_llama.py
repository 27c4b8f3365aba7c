"""A llama GGUF file as a transformers model in fp32: read, dequantised and un-permuted by the gguf package, not by us."""
import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

# What make_tiny_llama derives rope_freqs.weight from; the tensor alone does not say.
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3_ORIGINAL_CONTEXT = 64

NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}


def unpermute(rows, heads):
    """Rows of q or k from GGUF's order (pairs 2i, 2i + 1) to transformers' (i, i + d/2)."""
    shape = rows.shape
    return rows.reshape(heads, shape[0] // heads // 2, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def transformers_name(name):
    stem, kind = name.rsplit(".", 1)
    if stem.startswith("blk."):
        _, layer, part = stem.split(".")
        return f"model.layers.{layer}.{NAMES[part]}.{kind}"
    return f"{NAMES[stem]}.{kind}"


def rope_parameters(field, tensors):
    parameters = {"rope_type": "default", "rope_theta": field("rope.freq_base", 10000.0)}
    kind = field("rope.scaling.type", "none")
    if "rope_freqs.weight" in tensors:
        parameters |= LLAMA3 | {"original_max_position_embeddings": LLAMA3_ORIGINAL_CONTEXT}
    elif kind != "none":
        parameters |= {"rope_type": kind, "factor": field("rope.scaling.factor", 1.0)}
        if kind == "yarn":
            parameters["original_max_position_embeddings"] = field("rope.scaling.original_context_length", None)
    return parameters


def load(path):
    reader = gguf.GGUFReader(path)

    def field(name, default):
        found = reader.fields.get(f"llama.{name}")
        return default if found is None else found.contents()

    tensors = {t.name: t for t in reader.tensors}
    hidden, heads = field("embedding_length", 0), field("attention.head_count", 0)
    config = LlamaConfig(
        vocab_size=int(tensors["token_embd.weight"].shape[1]), hidden_size=hidden,
        intermediate_size=field("feed_forward_length", 0), num_hidden_layers=field("block_count", 0),
        num_attention_heads=heads, num_key_value_heads=field("attention.head_count_kv", heads),
        head_dim=field("attention.key_length", hidden // heads), rms_norm_eps=field("attention.layer_norm_rms_epsilon", 0),
        max_position_embeddings=field("context_length", 0), rope_parameters=rope_parameters(field, tensors),
        tie_word_embeddings="output.weight" not in tensors, attention_bias="blk.0.attn_q.bias" in tensors,
        mlp_bias="blk.0.ffn_gate.bias" in tensors, attn_implementation="eager")
    state = {}
    for name, tensor in tensors.items():
        if name == "rope_freqs.weight":
            continue
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if ".attn_q." in name:
            values = unpermute(values, heads)
        if ".attn_k." in name:
            values = unpermute(values, config.num_key_value_heads)
        state[transformers_name(name)] = torch.from_numpy(np.ascontiguousarray(values))
    model = LlamaForCausalLM(config).to(torch.float32).eval()
    missing, unexpected = model.load_state_dict(state, strict=False)
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    assert set(missing) <= tied and not unexpected, (missing, unexpected)
    model.tie_weights()
    if "rope_freqs.weight" in tensors:
        divisors = torch.from_numpy(tensors["rope_freqs.weight"].data.copy())
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
