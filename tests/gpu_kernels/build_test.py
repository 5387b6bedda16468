#!/usr/bin/env python3
"""The kernel build itself: what compiles, what fails and with which words. Needs the compilers of tools/setup/requirements_gpu.txt; no GPU."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "tools/gpu_kernels/build_module.py"
LINK = ROOT / "tools/gpu_kernels/link_modules.py"
GOOD = """
#include "kernels/lib/lanes.slang"
#include "kernels/t/t_params.h"
void Twice(uint3 group, uint thread, TParams p) { p.x[group.x * 64 + thread] *= 2.0f; }
CANDOR_KERNEL(twice, 64, TParams, Twice)
"""
PARAMS = '#include "kernels/lib/gpu_types.h"\nstruct TParams { CANDOR_GPU_POINTER(float) x; };\n'


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "src/kernels/t").mkdir(parents=True)
        (self.folder / "src/kernels/lib").symlink_to(ROOT / "src/kernels/lib")
        self.write("t_params.h", PARAMS)

    def write(self, name, text):
        (self.folder / "src/kernels/t" / name).write_text(text, encoding="utf-8")

    def build(self, row="twice t/t.slang - -", architectures="90"):
        command = [sys.executable, "-B", BUILD, row, "--source-root", self.folder / "src", "--out", self.folder]
        command += ["--depfile-target", "out/twice.pack", "--architectures", architectures]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def fails(self, *words, **arguments):
        done = self.build(**arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in ("GPU kernel twice:", *words):
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "twice.pack").exists())

    def description(self):
        return json.loads((self.folder / "twice.pack").read_bytes().split(b"\n", 1)[0])

    def test_every_target(self):
        self.write("t.slang", GOOD)
        done = self.build(architectures="75;90")
        self.assertEqual(done.returncode, 0, done.stderr)
        module = self.description()
        self.assertEqual([binary["target"] for binary in module["binaries"]], ["spirv", "sm_75", "sm_90", "ptx"])
        self.assertEqual(module["entries"], [{"name": "twice", "threads": 64}])

    def test_no_cuda(self):
        self.write("t.slang", GOOD)
        self.assertEqual(self.build(architectures="").returncode, 0)
        self.assertEqual([binary["target"] for binary in self.description()["binaries"]], ["spirv"])

    def test_no_matrix_kernel_for_sm_75(self):
        self.write("t.slang", GOOD)
        self.assertEqual(self.build(row="twice t/t.slang - coop", architectures="75;80").returncode, 0)
        self.assertEqual([binary["target"] for binary in self.description()["binaries"]], ["spirv", "sm_80", "ptx"])

    def test_dependencies(self):
        self.write("t.slang", GOOD)
        self.build(architectures="")
        target, files = (self.folder / "twice.d").read_text(encoding="utf-8").split(": ")
        self.assertEqual(target, "out/twice.pack")
        for name in ("t/t.slang", "t/t_params.h", "lib/lanes.slang", "lib/gpu_types.h", "build_module.py"):
            self.assertIn(name, files)

    def test_defines_of_the_row(self):
        self.write("t.slang", GOOD.replace("2.0f", "FACTOR"))
        self.fails("slangc to SPIR-V failed", "FACTOR")
        self.assertEqual(self.build(row="twice t/t.slang FACTOR=3.0f -", architectures="").returncode, 0)

    def test_kernel_that_does_not_compile(self):
        self.write("t.slang", GOOD.replace("thread] *=", "thred] *="))
        self.fails("slangc to SPIR-V failed", "thred", "t.slang")

    def test_ill_typed_tail(self):
        bad = "struct Bad : IEpilogue { static float2 Apply(EpilogueParams p, float v, uint row, uint column) { return float2(v); } }\n"
        self.write("t.slang", '#include "kernels/lib/epilogue.slang"\n' + bad + GOOD)
        self.fails("slangc to SPIR-V failed", "Bad")

    def test_kernel_that_does_not_validate(self):
        broken = "float Bad(float a) { __target_switch { case cuda: return a; case spirv: return spirv_asm { result:$$float = OpIAdd $a $a }; } }"
        self.write("t.slang", GOOD.replace("void Twice", broken + "\nvoid Twice").replace("*= 2.0f", "= Bad(p.x[thread])"))
        self.fails("spirv-", "failed with exit code", "IAdd")

    def test_struct_that_older_drivers_reject(self):
        self.write("t_params.h", PARAMS.replace("struct TParams", "struct Two { float a; float b; };\nstruct TParams").replace("(float)", "(Two)"))
        self.write("t.slang", GOOD.replace("p.x[group.x * 64 + thread] *= 2.0f;", "Two two = p.x[1 + thread]; two.a += 1; p.x[thread] = two;"))
        self.fails("OpCopyLogical", "members one by one")

    def test_kernel_that_cuda_refuses(self):
        broken = 'float Bad(float a) { __target_switch { case cuda: __intrinsic_asm "no_such_function($0)"; case spirv: return a; } }'
        self.write("t.slang", GOOD.replace("void Twice", broken + "\nvoid Twice").replace("*= 2.0f", "= Bad(p.x[thread])"))
        self.fails("NVRTC for sm_90", "no_such_function")

    def test_row_that_makes_no_sense(self):
        self.fails("expected a row", row="twice t/t.slang - sometimes")

    def test_link_over_budget_and_empty(self):
        self.write("t.slang", GOOD)
        self.build(architectures="")
        pack = self.folder / "twice.pack"
        head = self.description()
        head["binaries"][0]["packed"] = 41_000_000
        pack.write_bytes(json.dumps(head).encode() + b"\n" + bytes(41_000_000))
        done = subprocess.run([sys.executable, "-B", LINK, pack, "--out", self.folder / "o"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected at most 40000000 bytes", done.stderr)
        done = subprocess.run([sys.executable, "-B", LINK, "--out", self.folder / "o"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("array<GpuModule, 0>", (self.folder / "o/gpu_kernel_table.cc").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
