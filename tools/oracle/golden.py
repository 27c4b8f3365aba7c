#!/usr/bin/env python3
"""Writes tests/golden: what fp32 transformers computes from our test models (see run.sh).

  NAME.json   {"tokens": ids of one sequence, "positions": where, "models": [names], "stride": n}
  NAME.bin    fp32 logits, little-endian, [model][position][every n-th of that model's vocabulary]
"""
import argparse
import json
import pathlib

import numpy as np
import torch

import gguf_model

SOURCES = ["src/kernels/table.h", "src/base/task_pool.cc", "src/base/mapped_file.cc", "src/core/event_queue.h"]
CODE_TOKENS = 2304
SMOLLM2_TOKENS = 384  # of the code, for the logits
GEMMA3_TOKENS = 560


def write(out, name, tokens, positions, models, stride=1):
    """models: {name: logits}"""
    description = {"tokens": tokens, "positions": positions, "models": list(models), "stride": stride}
    (out / f"{name}.json").write_text(json.dumps(description, separators=(",", ":")) + "\n")
    (out / f"{name}.bin").write_bytes(b"".join(m[:, ::stride].tobytes() for m in models.values()))
    for model, values in models.items():
        print(f"{name}: {model}: max |logit| {np.abs(values).max():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", type=pathlib.Path, required=True, help="folder of write_oracle_models: ARCHITECTURE/NAME.gguf")
    parser.add_argument("--smollm2", type=pathlib.Path, help="left as it is when not given")
    parser.add_argument("--gemma3", type=pathlib.Path, help="left as it is when not given")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--new-text", action="store_true", help="take the source code to compare on afresh")
    args = parser.parse_args()
    torch.manual_seed(0)
    root = pathlib.Path(__file__).resolve().parents[2]

    # One file an architecture. Long enough for chunks of 257 tokens and for the 64 that the scaled models extend.
    tokens = np.random.Generator(np.random.PCG64(1)).integers(0, 320, 300).tolist()
    positions = [0, 1, 40, 63, 64, 100, 159, 257, 299]
    tiny = {}
    for path in sorted(args.tiny.glob("*/*.gguf")):
        logits = gguf_model.logits(gguf_model.load(path), tokens, positions)
        tiny.setdefault(path.parent.name, {})[path.stem] = logits
    for architecture, models in tiny.items():
        write(args.out, architecture, tokens, positions, models)

    if args.smollm2:
        smollm2(args, root)
    if args.gemma3:
        gemma3(args, root)


def smollm2(args, root):
    # The text is kept as token ids: the sources it was taken from go on changing.
    ids = json.loads((args.out / "smollm2.json").read_text())["tokens"]
    if args.new_text:
        code = "".join((root / source).read_text() for source in SOURCES)
        ids = gguf_model.smollm2_tokenizer(args.smollm2).encode(code).ids[:CODE_TOKENS]
    assert len(ids) == CODE_TOKENS, len(ids)
    positions = [0, 17, 200, SMOLLM2_TOKENS - 1]
    model = gguf_model.load(args.smollm2)
    logits = gguf_model.logits(model, ids[:SMOLLM2_TOKENS], positions)
    write(args.out, "smollm2", ids, positions, {"SmolLM2-135M-Instruct.Q4_1": logits})


def gemma3(args, root):
    """Real text, long enough for the window of 512 to slide. Pieces are the longest that fit: any would do."""
    golden = args.out / "gemma3_270m.json"
    if args.new_text or not golden.exists():
        vocabulary = {t: i for i, t in enumerate(gguf_model.File(args.gemma3).fields["tokenizer.ggml.tokens"])}
        text, ids, at = (root / SOURCES[0]).read_text().replace(" ", "\u2581"), [2], 0
        while len(ids) < GEMMA3_TOKENS:
            length = next(n for n in range(16, 0, -1) if text[at:at + n] in vocabulary)
            ids.append(vocabulary[text[at:at + length]])
            at += length
    else:
        ids = json.loads(golden.read_text())["tokens"]
    positions = [0, 100, 511, 512, GEMMA3_TOKENS - 1]
    logits = gguf_model.logits(gguf_model.load(args.gemma3), ids, positions)
    write(args.out, "gemma3_270m", ids, positions, {"gemma-3-270m.Q4_K_M": logits}, stride=61)


if __name__ == "__main__":
    main()
