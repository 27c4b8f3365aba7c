#!/usr/bin/env python3
"""Writes tests/golden: what fp32 transformers computes from our test models (see run.sh).

  NAME.json   {"tokens": ids of one sequence, "positions": where, "models": [names]}
  NAME.bin    fp32 logits, little-endian, [model][position][that model's vocabulary]
"""
import argparse
import json
import pathlib

import numpy as np
import torch

import gguf_llama

SOURCES = ["src/kernels/table.h", "src/base/task_pool.cc", "src/base/mapped_file.cc", "src/core/event_queue.h"]
CODE_TOKENS = 2304
SMOLLM2_TOKENS = 384  # of the code, for the logits


def write(out, name, tokens, positions, models):
    """models: {name: logits}"""
    text = json.dumps({"tokens": tokens, "positions": positions, "models": list(models)}, separators=(",", ":"))
    (out / f"{name}.json").write_text(text + "\n")
    (out / f"{name}.bin").write_bytes(b"".join(m.tobytes() for m in models.values()))
    for model, values in models.items():
        print(f"{name}: {model}: max |logit| {np.abs(values).max():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", type=pathlib.Path, required=True, help="folder of write_oracle_models")
    parser.add_argument("--smollm2", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--new-text", action="store_true", help="take the source code to compare on afresh")
    args = parser.parse_args()
    torch.manual_seed(0)
    root = pathlib.Path(__file__).resolve().parents[2]

    # Long enough to pass the 64 tokens that the scaled models extend.
    tokens = np.random.Generator(np.random.PCG64(1)).integers(0, 320, 160).tolist()
    positions = [0, 1, 40, 63, 64, 100, 159]
    tiny = {p.stem: gguf_llama.logits(gguf_llama.load(p), tokens, positions) for p in sorted(args.tiny.glob("*.gguf"))}
    write(args.out, "tiny", tokens, positions, tiny)

    # The text is kept as token ids: the sources it was taken from go on changing.
    ids = json.loads((args.out / "smollm2.json").read_text())["tokens"]
    if args.new_text:
        code = "".join((root / source).read_text() for source in SOURCES)
        ids = gguf_llama.smollm2_tokenizer(args.smollm2).encode(code).ids[:CODE_TOKENS]
    assert len(ids) == CODE_TOKENS, len(ids)
    positions = [0, 17, 200, SMOLLM2_TOKENS - 1]
    model = gguf_llama.load(args.smollm2)
    logits = gguf_llama.logits(model, ids[:SMOLLM2_TOKENS], positions)
    write(args.out, "smollm2", ids, positions, {"SmolLM2-135M-Instruct.Q4_1": logits})


if __name__ == "__main__":
    main()
