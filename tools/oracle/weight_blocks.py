#!/usr/bin/env python3
"""Writes tests/golden/weight_blocks.bin: blocks of every weight type and what the gguf package makes of them.

Per type: name (length as uint32, bytes), uint32 blocks, uint32 bytes of a block, uint32 elements of a block, the
blocks, their fp32 values; little-endian. Needs numpy and gguf only.
"""
import argparse
import pathlib
import struct

import gguf
import numpy as np

# Offsets of fp16 numbers in a block.
HALVES = {
    "F16": [0], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
}
TYPES = ["F32", "F16", "BF16", *list(HALVES)[1:], "MXFP4"]
# Zeros, subnormals, the ends of the range, infinities, NaN.
EDGES = [0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01]


def blocks_of(name, random):
    quant = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[quant]
    blocks = []

    def add(fill, halves):
        block = np.full(size, fill, np.uint8) if fill is not None else random.integers(0, 256, size, np.uint8)
        for offset, value in zip(HALVES.get(name, []), halves):
            block[offset:offset + 2] = np.frombuffer(struct.pack("<H", value), np.uint8)
        blocks.append(block)

    for i, edge in enumerate(EDGES):
        add([None, 0x00, 0xff][i % 3], [edge, EDGES[(3 * i + 5) % len(EDGES)]])
    for fill in (0x00, 0xff, 0x01, 0x80, 0x0f, 0xf0):
        add(fill, [0x3c01, 0xb555])
    for _ in range(12 if elements == 256 else 40):  # scales of any sign and modest size
        add(None, [int(h) for h in (random.integers(0, 2, 2) << 15 | random.integers(0x1000, 0x4000, 2))])
    if name == "MXFP4":  # every exponent
        for e in range(256):
            add(None, [])
            blocks[-1][0] = e
    return quant, elements, np.stack(blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="tests/golden")
    args = parser.parse_args()
    random = np.random.Generator(np.random.PCG64(4))
    out = b""
    for name in TYPES:
        quant, elements, blocks = blocks_of(name, random)
        with np.errstate(all="ignore"):
            data = blocks if name not in ("F32", "F16") else blocks.view(np.float32 if name == "F32" else np.float16)
            values = gguf.dequantize(data, quant).astype("<f4").reshape(len(blocks), elements)
        out += struct.pack("<I", len(name)) + name.encode() + struct.pack("<III", *blocks.shape, elements)
        out += blocks.tobytes() + values.tobytes()
    (args.out / "weight_blocks.bin").write_bytes(out)


if __name__ == "__main__":
    main()
