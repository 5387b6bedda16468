#!/usr/bin/env python3
"""Writes the fixtures of src/tensor/dequantize_test.cc: random blocks of every tensor format and what the `gguf` package decodes them to.

    python3 -m venv venv && venv/bin/pip install gguf==0.19.0 numpy
    venv/bin/python tools/make_dequant_fixtures.py src/tensor/testdata

One file per type, NAME.bin, little endian: u32 ggml type id, u32 elements, u32 bytes of the blocks, the blocks, the float32 elements.
The same seed gives the same files.
"""
import struct
import sys
from pathlib import Path

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as T
from gguf.quants import dequantize

SEED = 20240817
BLOCKS = {32: 24, 256: 6, 1: 256}  # per block size

# Offsets of the half-precision fields in a block, which get the values of HALVES in turn; all other bits are random.
HALF_FIELDS = {
    T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82], T.Q3_K: [108], T.Q4_K: [0, 2],
    T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_NL: [0], T.IQ4_XS: [0], T.MXFP4: [],
}
# Zero, negative zero, the smallest and the largest subnormal, the smallest normal, the largest, negatives, and ordinary values.
HALVES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x9400, 0x2E66, 0x1C3B, 0xB155, 0x3C00]
E8M0 = [0, 1, 2, 3, 126, 127, 128, 250, 254, 255]


def quantized_blocks(rng, qtype, count):
    _, size = GGML_QUANT_SIZES[qtype]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    turn = 0
    for i in range(count):
        for offset in HALF_FIELDS[qtype]:
            half = HALVES[turn % len(HALVES)] if turn < 2 * len(HALVES) else int(rng.integers(0x1000, 0x4000)) | int(rng.integers(0, 2)) << 15
            blocks[i, offset : offset + 2] = np.frombuffer(struct.pack("<H", half), dtype=np.uint8)
            turn += 1
        if qtype == T.MXFP4 and i < len(E8M0):
            blocks[i, 0] = E8M0[i]
    return blocks


def plain_elements(rng, qtype, count):
    """Random bit patterns that are numbers, with the edges of the format first."""
    if qtype == T.F32:
        values = rng.standard_normal(count).astype(np.float32)
        values[:6] = [0.0, -0.0, 1e-45, -1.1754944e-38, 3.4028235e38, -3.4028235e38]
        return values.view(np.uint8).reshape(1, -1)
    bits = rng.integers(0, 1 << 16, count, dtype=np.uint16)
    exponent = 0x7C00 if qtype == T.F16 else 0x7F80
    bits[(bits & exponent) == exponent] &= 0x83FF if qtype == T.F16 else 0x807F  # infinities and NaNs become subnormals
    edges = HALVES if qtype == T.F16 else [0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x7F7F, 0xFF7F]
    bits[: len(edges)] = edges
    return bits.view(np.uint8).reshape(1, -1)


def main():
    out = Path(sys.argv[1])
    for qtype in [T.F32, T.F16, T.BF16, *HALF_FIELDS]:
        rng = np.random.default_rng([SEED, int(qtype)])
        block, _ = GGML_QUANT_SIZES[qtype]
        count = BLOCKS[block]
        data = plain_elements(rng, qtype, count) if block == 1 else quantized_blocks(rng, qtype, count)
        with np.errstate(over="ignore"):  # the largest MXFP4 scales overflow to infinity, here as there
            elements = dequantize(data.reshape(-1), qtype).astype(np.float32).reshape(-1)
        assert elements.size == block * count and not np.isnan(elements).any(), qtype.name
        head = struct.pack("<III", int(qtype), elements.size, data.size)
        (out / f"{qtype.name}.bin").write_bytes(head + data.tobytes() + elements.astype("<f4").tobytes())


if __name__ == "__main__":
    main()
