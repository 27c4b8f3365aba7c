#!/usr/bin/env python3
"""Writes tests/golden/folders: tiny random models as transformers saves them, in several weight files, and in
folders.{json,bin} what it computes from them in fp32 (as golden.py's files).
"""
import argparse
import json
import pathlib
import shutil

import numpy as np
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

SHAPE = dict(vocab_size=320, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=256)
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64, "rope_theta": 10000.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 10000.0}
MINISTRAL = YARN | {"beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 0.5, "llama_4_scaling_beta": 0.1}
IMAGES = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, image_size=28, patch_size=14)
MODELS = {
    "llama_tied_bf16": (transformers.LlamaConfig(**SHAPE, head_dim=16, tie_word_embeddings=True), torch.bfloat16),
    "llama3_f16": (transformers.LlamaConfig(**SHAPE, rope_parameters=LLAMA3), torch.float16),
    "mistral_bf16": (transformers.MistralConfig(**SHAPE, head_dim=32, sliding_window=None), torch.bfloat16),
    "qwen2_f32": (transformers.Qwen2Config(**SHAPE | {"num_hidden_layers": 1}, tie_word_embeddings=True), torch.float32),
    "qwen3_yarn_bf16": (transformers.Qwen3Config(**SHAPE, head_dim=32, rope_parameters=YARN), torch.bfloat16),
    "qwen3_moe_bf16": (transformers.Qwen3MoeConfig(
        **SHAPE, head_dim=32, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=48, norm_topk_prob=True),
        torch.bfloat16),
    "glm4_moe_f32": (transformers.Glm4MoeConfig(
        **SHAPE | {"hidden_size": 32}, head_dim=16, n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=32,
        n_shared_experts=1, first_k_dense_replace=1, n_group=2, topk_group=1, routed_scaling_factor=1.5,
        attention_bias=True, use_qk_norm=True), torch.float32),
    "gemma3_bf16": (transformers.Gemma3TextConfig(
        **SHAPE | {"num_hidden_layers": 3}, head_dim=32, query_pre_attn_scalar=24, sliding_window=16,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"]), torch.bfloat16),
    "ministral3_bf16": (transformers.Ministral3Config(**SHAPE, head_dim=32, rope_parameters=MINISTRAL), torch.bfloat16),
    "gpt_oss_bf16": (transformers.GptOssConfig(
        **SHAPE, head_dim=32, num_local_experts=6, num_experts_per_tok=2, sliding_window=16,
        rope_parameters=YARN | {"truncate": False}), torch.bfloat16),
    # With a part for images, which is not read.
    "gemma3_images_bf16": (transformers.Gemma3Config(
        text_config=dict(**SHAPE, head_dim=16, query_pre_attn_scalar=24, sliding_window=16),
        vision_config=dict(IMAGES, model_type="siglip_vision_model")), torch.bfloat16),
    "mistral3_images_f16": (transformers.Mistral3Config(
        text_config=dict(**SHAPE, head_dim=16, model_type="ministral3", rope_parameters=MINISTRAL),
        vision_config=dict(IMAGES, model_type="pixtral"), tie_word_embeddings=False), torch.float16),
}
CHAT = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def tokenizer():
    """Single bytes, and the two tokens of a turn."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    t = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)])
    return t


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="tests/golden")
    args = parser.parse_args()
    folder = args.out / "folders"
    shutil.rmtree(folder, ignore_errors=True)
    tokens = np.random.Generator(np.random.PCG64(2)).integers(0, 258, 100).tolist()
    positions = [0, 1, 40, 63, 64, 99]
    logits = {}
    for seed, (name, (config, dtype)) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        config._attn_implementation = "eager"
        kind = (transformers.AutoModelForImageTextToText if hasattr(config, "vision_config")
                else transformers.AutoModelForCausalLM)
        model = kind.from_config(config)
        with torch.no_grad():  # wider than the initialiser's, so that every part shows in the logits
            for key, p in model.named_parameters():
                p.copy_(1 + 0.2 * torch.randn_like(p) if key.endswith("norm.weight") else
                        torch.randn_like(p) * (0.5 if p.dim() == 1 else 1.2 / p.shape[-1] ** 0.5))
            for key, b in model.named_buffers():
                if key.endswith("e_score_correction_bias"):
                    b.copy_(0.3 * torch.randn_like(b))
        model = model.to(dtype)
        model.generation_config = transformers.GenerationConfig(
            bos_token_id=256, eos_token_id=[257, 300], do_sample=True, temperature=0.6, top_p=0.9, top_k=20)
        model.save_pretrained(folder / name, max_shard_size="10MB" if name == "qwen2_f32" else "60KB")
        tokenizer().save(str(folder / name / "tokenizer.json"))
        (folder / name / "chat_template.jinja").write_text(CHAT)
        # Loaded afresh: what a conversion to 16 bits did to the frequencies of the rotation is not in the files.
        model = kind.from_pretrained(
            folder / name, dtype=torch.float32, attn_implementation="eager").eval()
        with torch.no_grad():
            logits[name] = model(torch.tensor([tokens])).logits[0, positions].numpy().astype("<f4")
    text = json.dumps({"tokens": tokens, "positions": positions, "models": list(logits)}, separators=(",", ":"))
    (args.out / "folders.json").write_text(text + "\n")
    (args.out / "folders.bin").write_bytes(b"".join(m.tobytes() for m in logits.values()))
    for name, values in logits.items():
        print(f"{name}: max |logit| {np.abs(values).max():.3f}")


if __name__ == "__main__":
    main()
