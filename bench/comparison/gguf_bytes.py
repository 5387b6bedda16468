"""How many weight bytes one decoded token reads, from the directory of a GGUF file (v2 or v3, not split)."""

import struct
from dataclasses import dataclass

_FIXED = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY, _U32 = 8, 9, 4


@dataclass
class Weights:
    total: int  # bytes of all tensors, padding between them included
    per_token: int  # the same without an input embedding table that the output head does not share
    tied: bool


class _Reader:
    def __init__(self, file):
        self.file = file

    def number(self, code, size):
        data = self.file.read(size)
        if len(data) != size:
            raise ValueError("expected a whole GGUF header, got the end of the file")
        return struct.unpack("<" + code, data)[0]

    def u32(self):
        return self.number("I", 4)

    def u64(self):
        return self.number("Q", 8)

    def text(self):
        return self.file.read(self.u64()).decode("utf-8", "replace")

    def skip(self, kind):
        if kind == _STRING:
            self.file.seek(self.u64(), 1)
        elif kind == _ARRAY:
            item, count = self.u32(), self.u64()
            if item in _FIXED:
                self.file.seek(_FIXED[item] * count, 1)
            else:
                for _ in range(count):
                    self.skip(item)
        else:
            self.file.seek(_FIXED[kind], 1)


def read(path):
    with open(path, "rb") as file:
        reader = _Reader(file)
        if file.read(4) != b"GGUF" or reader.u32() not in (2, 3):
            raise ValueError(f"{path}: expected a GGUF file of version 2 or 3")
        tensors, keys = reader.u64(), reader.u64()
        alignment = 32
        for _ in range(keys):
            name, kind = reader.text(), reader.u32()
            if name == "general.alignment" and kind == _U32:
                alignment = reader.u32()
            else:
                reader.skip(kind)
        offsets = {}
        for _ in range(tensors):
            name = reader.text()
            file.seek(8 * reader.u32() + 4, 1)  # the shape and the type
            offsets[name] = reader.u64()
        start = -(-file.tell() // alignment) * alignment
        end = file.seek(0, 2) - start
    order = sorted(offsets.items(), key=lambda item: item[1])
    sizes = {name: following - offset for (name, offset), following in zip(order, [o for _, o in order[1:]] + [end])}
    tied = "output.weight" not in sizes
    total = sum(sizes.values())
    return Weights(total, total if tied else total - sizes["token_embd.weight"], tied)
