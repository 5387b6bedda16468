#!/usr/bin/env python3
"""Joins the modules that build_module.py made: OUT/gpu_kernels.bin (the compressed binaries) and OUT/gpu_kernel_table.cc (what is where in it).

Prints how many modules and bytes there are, and fails when they are over the budget.
"""

import argparse
import json
import pathlib
import sys

BUDGET_BYTES = 40 * 1000 * 1000  # embedded, compressed
TARGETS = {"spirv": "kSpirv", "ptx": "kPtx"}


def main(argv):
    parser = argparse.ArgumentParser(description="Join the built GPU kernel modules.")
    parser.add_argument("packs", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    blob, modules = bytearray(), []
    for pack in sorted(options.packs):
        head, _, binaries = pack.read_bytes().partition(b"\n")
        module = json.loads(head)
        for binary in module["binaries"]:
            binary["offset"] = len(blob)
            blob += binaries[: binary["packed"]]
            binaries = binaries[binary["packed"] :]
        modules.append(module)
    if len(blob) > BUDGET_BYTES:
        print(f"GPU kernels: expected at most {BUDGET_BYTES} bytes of compressed binaries, got {len(blob)}; leave out variants", file=sys.stderr)
        return 1
    # An empty section cannot be embedded.
    (options.out / "gpu_kernels.bin").write_bytes(bytes(blob) or b"\0")
    (options.out / "gpu_kernel_table.cc").write_text(table(modules), encoding="utf-8")
    print(f"GPU kernels: {len(modules)} modules, {sum(len(module['entries']) for module in modules)} entry points, {len(blob)} bytes")
    return 0


def table(modules):
    lines = [
        "// Made by tools/gpu_kernels/link_modules.py from the built modules.",
        '#include "kernels/lib/gpu_modules.h"',
        "",
        "namespace candor {",
        "namespace {",
        "",
    ]
    for number, module in enumerate(modules):
        entries = ", ".join(f'{{"{entry["name"]}", {entry["threads"]}}}' for entry in module["entries"])
        capabilities = ", ".join(str(capability) for capability in module["capabilities"])
        binaries = ", ".join(binary_row(binary) for binary in module["binaries"])
        lines += [
            f"constexpr GpuEntry kEntries{number}[] = {{{entries}}};",
            f"constexpr uint32_t kCapabilities{number}[] = {{{capabilities}}};",
            f"constexpr GpuBinary kBinaries{number}[] = {{{binaries}}};",
        ]
    rows = [f'    {{"{m["name"]}", kEntries{i}, kCapabilities{i}, kBinaries{i}}},' for i, m in enumerate(modules)]
    lines += ["", f"constexpr std::array<GpuModule, {len(modules)}> kModules = {{{{", *rows, "}};", "", "}  // namespace", ""]
    lines += ["std::span<const GpuModule> GpuModules() { return kModules; }", "", "}  // namespace candor", ""]
    return "\n".join(lines)


def binary_row(binary):
    target = binary["target"]
    kind, architecture = (TARGETS[target], 0) if target in TARGETS else ("kCubin", int(target.removeprefix("sm_")))
    return f"{{GpuTarget::{kind}, {architecture}, {binary['offset']}, {binary['packed']}, {binary['bytes']}}}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
