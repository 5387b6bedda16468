#!/usr/bin/env python3
"""Random-weight GGUF files of well-known shapes, for speed alone: make_model.py OUT.gguf --shape qwen3-0.6b --type q8_0

The text that comes out means nothing; sizes, types and shapes are those of the real model. The same arguments give the same file. Needs numpy.
"""

import argparse
import dataclasses
import pathlib
import struct
import zlib

import numpy

ALIGNMENT = 32
POOL_BLOCKS = 1 << 16  # random blocks that the tensors are cut from
STANDARD_DEVIATION = 0.02  # of the weights


@dataclasses.dataclass(frozen=True)
class Shape:
    layers: int
    hidden: int
    feed_forward: int
    heads: int
    kv_heads: int
    head_dim: int
    tied: bool
    vocabulary: int = 151936


SHAPES = {
    "qwen3-0.6b": Shape(28, 1024, 3072, 16, 8, 128, True),
    "qwen3-1.7b": Shape(28, 2048, 6144, 16, 8, 128, True),
    "qwen3-8b": Shape(36, 4096, 12288, 32, 8, 128, False),
}


@dataclasses.dataclass(frozen=True)
class BlockType:
    number: int  # in GGUF
    values: int  # of a block
    size: int  # bytes of a block


F32 = BlockType(0, 1, 4)
F16 = BlockType(1, 1, 2)
Q8_0 = BlockType(8, 32, 34)
Q4_K = BlockType(12, 256, 144)
Q6_K = BlockType(14, 256, 210)
TYPES = {"f16": (F16, F16), "q8_0": (Q8_0, Q8_0), "q4_k": (Q4_K, Q6_K)}  # of the matrices, of the output head


def scales(random, count, mean):
    """`count` halves around `mean`, as two bytes each."""
    return (mean * (0.75 + 0.5 * random.random(count))).astype(numpy.float16).view(numpy.uint8).reshape(count, 2)


def pool_of(kind, random):
    """Bytes of POOL_BLOCKS random blocks whose weights have a mean of about 0."""
    if kind == F16:
        return (random.standard_normal(1 << 22) * STANDARD_DEVIATION).astype(numpy.float16).view(numpy.uint8)
    blocks = random.integers(0, 256, (POOL_BLOCKS, kind.size), dtype=numpy.uint8)
    if kind == Q8_0:  # d * code, code in -128 … 127
        blocks[:, 0:2] = scales(random, POOL_BLOCKS, STANDARD_DEVIATION / 74)
    if kind == Q4_K:  # d * scale * code - dmin * minimum, six-bit scale and minimum, code in 0 … 15
        d = scales(random, POOL_BLOCKS, STANDARD_DEVIATION / 170)
        blocks[:, 0:2] = d
        blocks[:, 2:4] = (d.view(numpy.float16).astype(numpy.float32) * 7.5).astype(numpy.float16).view(numpy.uint8).reshape(-1, 2)
    if kind == Q6_K:  # d * scale * (code - 32), signed scale
        blocks[:, 208:210] = scales(random, POOL_BLOCKS, STANDARD_DEVIATION / 1360)
    return blocks.reshape(-1)


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def field(name, value):
    """A key with its value: u32, f32, bool, string, or an array of u32-like ints or strings."""
    if isinstance(value, bool):
        return text(name) + struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return text(name) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value[0], str):
        return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return text(name) + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


def byte_characters():
    """The 256 characters of byte-level BPE (GPT-2): a printable byte is itself, the others follow from U+0100."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def metadata(shape, name):
    tokens = byte_characters() + [f"<unused{i}>" for i in range(shape.vocabulary - 256)]
    kinds = [1] * 256 + [4] * (shape.vocabulary - 257) + [3]
    return [
        ("general.architecture", "qwen3"), ("general.name", name),
        ("qwen3.block_count", shape.layers), ("qwen3.context_length", 40960), ("qwen3.embedding_length", shape.hidden),
        ("qwen3.feed_forward_length", shape.feed_forward), ("qwen3.attention.head_count", shape.heads),
        ("qwen3.attention.head_count_kv", shape.kv_heads), ("qwen3.attention.key_length", shape.head_dim),
        ("qwen3.attention.value_length", shape.head_dim), ("qwen3.attention.layer_norm_rms_epsilon", 1e-6),
        ("qwen3.rope.freq_base", 1e6), ("tokenizer.ggml.model", "gpt2"), ("tokenizer.ggml.pre", "qwen2"),
        ("tokenizer.ggml.tokens", tokens), ("tokenizer.ggml.token_type", kinds), ("tokenizer.ggml.merges", ["h e"]),
        ("tokenizer.ggml.eos_token_id", shape.vocabulary - 1), ("tokenizer.ggml.add_bos_token", False),
    ]  # fmt: skip


def tensors(shape, kind, head_kind):
    """(name, (columns, rows) or (columns,), type) of each, in the file's order."""
    h, f, q, kv, v = shape.hidden, shape.feed_forward, shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim, shape.vocabulary
    yield "token_embd.weight", (h, v), head_kind if shape.tied else kind
    if not shape.tied:
        yield "output.weight", (h, v), head_kind
    yield "output_norm.weight", (h,), F32
    for layer in range(shape.layers):
        matrices = {"attn_q": (h, q), "attn_k": (h, kv), "attn_v": (h, kv), "attn_output": (q, h), "ffn_gate": (h, f), "ffn_up": (h, f), "ffn_down": (f, h)}
        for name, size in matrices.items():
            yield f"blk.{layer}.{name}.weight", size, kind
        for name, size in {"attn_norm": h, "ffn_norm": h, "attn_q_norm": shape.head_dim, "attn_k_norm": shape.head_dim}.items():
            yield f"blk.{layer}.{name}.weight", (size,), F32


def tensor_bytes(size, kind):
    return int(numpy.prod(size)) // kind.values * kind.size


def padded(count):
    return -(-count // ALIGNMENT) * ALIGNMENT


def write_tensor(file, size, kind, pools, random):
    count = tensor_bytes(size, kind)
    if kind == F32:
        file.write((1 + 0.1 * random.standard_normal(size[0])).astype("<f4").tobytes())
    else:
        pool = pools[kind]
        start = int(random.integers(0, len(pool) // kind.size)) * kind.size
        for begin in range(0, count, len(pool)):
            piece = min(count - begin, len(pool))
            file.write(numpy.roll(pool, -start)[:piece].tobytes())
    file.write(b"\0" * (padded(count) - count))


def write_model(path, shape_name, type_name, layers):
    shape = SHAPES[shape_name]
    shape = dataclasses.replace(shape, layers=layers or shape.layers)
    kind, head_kind = TYPES[type_name]
    random = numpy.random.default_rng(zlib.crc32(f"{shape_name}/{type_name}".encode()))
    pools = {k: pool_of(k, random) for k in dict.fromkeys((kind, head_kind))}
    fields, directory = metadata(shape, f"random {shape_name} {type_name}"), list(tensors(shape, kind, head_kind))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(directory), len(fields)) + b"".join(field(*f) for f in fields)
    offset = 0
    for name, size, k in directory:
        head += text(name) + struct.pack(f"<I{len(size)}QIQ", len(size), *size, k.number, offset)
        offset += padded(tensor_bytes(size, k))
    with open(path, "wb") as file:
        file.write(head + b"\0" * (padded(len(head)) - len(head)))
        for _, size, k in directory:
            write_tensor(file, size, k, pools, random)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--shape", choices=SHAPES, default="qwen3-0.6b")
    parser.add_argument("--type", choices=TYPES, default="q8_0", dest="type_name")
    parser.add_argument("--layers", type=int, default=0, help="fewer layers than the shape has")
    arguments = parser.parse_args()
    write_model(arguments.out, arguments.shape, arguments.type_name, arguments.layers)


if __name__ == "__main__":
    main()
