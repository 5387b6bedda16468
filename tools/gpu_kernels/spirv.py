"""Reads what the variant table needs from a SPIR-V module: entry points, their workgroup sizes, capabilities, shared memory's size."""

import struct

MAGIC = 0x07230203
OP_ENTRY_POINT, OP_EXECUTION_MODE, OP_CAPABILITY, OP_COPY_LOGICAL = 15, 16, 17, 400
MODE_LOCAL_SIZE = 17


def instructions(data):
    words = struct.unpack(f"<{len(data) // 4}I", data)
    if words[0] != MAGIC:
        raise ValueError("not a SPIR-V module")
    at = 5
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        yield opcode, words[at + 1 : at + count]
        at += count


def text(words):
    return struct.pack(f"<{len(words)}I", *words).split(b"\0", 1)[0].decode()


def describe(data):
    """({entry point: workgroup size}, [capability numbers])"""
    names, sizes, capabilities = {}, {}, []
    for opcode, operands in instructions(data):
        if opcode == OP_COPY_LOGICAL:
            raise ValueError("expected no OpCopyLogical, which Mesa before 23 rejects; load and store the struct's members one by one")
        if opcode == OP_CAPABILITY:
            capabilities.append(operands[0])
        elif opcode == OP_ENTRY_POINT:
            names[operands[1]] = text(operands[2:])
        elif opcode == OP_EXECUTION_MODE and operands[1] == MODE_LOCAL_SIZE:
            sizes[operands[0]] = tuple(operands[2:5])
    return {name: sizes[identifier] for identifier, name in names.items()}, sorted(capabilities)
