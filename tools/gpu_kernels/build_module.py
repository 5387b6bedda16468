#!/usr/bin/env python3
"""Builds one module of the variant table for every target: slangc, spirv-opt and spirv-val for Vulkan; slangc and NVRTC for CUDA.

Writes OUT/<module>.pack (a JSON line that describes it, then the compressed binaries) and OUT/<module>.d. Any failure ends it with the
compiler's words and no output: nothing that does not compile or validate can be linked into the program.
"""

import argparse
import ctypes
import ctypes.util
import json
import pathlib
import re
import sys
import tempfile

import nvrtc
import spirv
import variant_table
from toolchain import Missing, Toolchain

PTX_ARCHITECTURE = 80  # what comes after the newest cubin compiles this when it is loaded
SLANG = ["-fp-mode", "precise", "-line-directive-mode", "none"]
SPIRV = ["-target", "spirv", "-O0", "-fvk-use-entrypoint-name", "-fvk-use-c-layout", "-skip-spirv-validation"]


def main(argv):
    options = parse(argv)
    try:
        build(variant_table.parse(options.row), options, Toolchain())
    except (Missing, RuntimeError, nvrtc.Error, ValueError) as error:
        print(f"GPU kernel {options.row.split()[0]}: {error}", file=sys.stderr)
        return 1
    return 0


def parse(argv):
    parser = argparse.ArgumentParser(description="Build one GPU kernel module for every target.")
    parser.add_argument("row", help="the module's line of src/kernels/gpu_modules.txt")
    parser.add_argument("--source-root", type=pathlib.Path, required=True, help="the folder src")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--depfile-target", required=True, help="the output as the build system names it")
    parser.add_argument("--architectures", required=True, help="75;80;90; empty: no CUDA")
    return parser.parse_args(argv)


def build(module, options, tools):
    source = options.source_root / "kernels" / module.source
    slang = [tools.slangc, source, "-I", options.source_root, *SLANG, *(f"-D{define}" for define in module.defines)]
    with tempfile.TemporaryDirectory(prefix="candor-kernel-") as folder:
        work = pathlib.Path(folder)
        vulkan, dependencies = build_spirv(slang, work, tools)
        entries, capabilities = spirv.describe(vulkan)
        parts = [("spirv", vulkan)]
        wanted = [int(number) for number in options.architectures.split(";") if number]
        if wanted:
            parts += build_cuda(slang, module, wanted, sorted(entries), work, tools)
    write(module, options, entries, capabilities, parts, dependencies)


def build_spirv(slang, work, tools):
    raw, best, depfile = work / "raw.spv", work / "best.spv", work / "module.d"
    tools.run("slangc to SPIR-V", [*slang, *SPIRV, "-depfile", depfile, "-o", raw])
    tools.run("spirv-opt", [tools.spirv / "bin/spirv-opt", "-O", raw, "-o", best])
    tools.run("spirv-val", [tools.spirv / "bin/spirv-val", "--target-env", "vulkan1.3", best])
    return best.read_bytes(), depfile.read_text(encoding="utf-8").split(": ", 1)[1].split()


def build_cuda(slang, module, wanted, entries, work, tools):
    text = work / f"{module.name}.cu"
    tools.run("slangc to CUDA", [*slang, "-target", "cuda", "-o", text])
    found = sorted(re.findall(r"__global__ void (\w+)\(", text.read_text(encoding="utf-8")))
    if found != entries:
        raise RuntimeError(f"expected the same entry points for Vulkan and CUDA, got {entries} and {found}")
    compiler = nvrtc.Nvrtc(tools.nvrtc, tools.cuda_include)
    parts = [(f"sm_{number}", compiler.compile(text, f"sm_{number}")) for number in module.architectures(wanted)]
    return [*parts, ("ptx", compiler.compile(text, f"compute_{PTX_ARCHITECTURE}"))]


def write(module, options, entries, capabilities, parts, dependencies):
    binaries = [(target, len(data), compress(data)) for target, data in parts]
    description = {
        "name": module.name,
        "needs": module.needs,
        "capabilities": capabilities,
        "entries": [{"name": name, "threads": size[0] * size[1] * size[2]} for name, size in sorted(entries.items())],
        "binaries": [{"target": target, "bytes": size, "packed": len(packed)} for target, size, packed in binaries],
    }
    tools = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    depends = [*dependencies, *(str(tool) for tool in tools)]
    (options.out / f"{module.name}.d").write_text(f"{options.depfile_target}: {' '.join(depends)}\n", encoding="utf-8")
    with open(options.out / f"{module.name}.pack", "wb") as file:
        file.write(json.dumps(description).encode() + b"\n")
        for _, _, packed in binaries:
            file.write(packed)


def compress(data, level=19):
    """One zstd frame. The standard library has no zstd before Python 3.14, so libzstd is called."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), level)
    if library.ZSTD_isError(ctypes.c_size_t(size)):
        raise RuntimeError("zstd could not compress a binary")
    return room.raw[:size]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
