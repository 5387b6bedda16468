"""Where the compilers are: Python packages of tools/setup/requirements_gpu.txt, in the Python that runs this script."""

import os
import pathlib
import subprocess
import sys
import sysconfig


class Missing(Exception):
    pass


class Toolchain:
    def __init__(self):
        packages = pathlib.Path(sysconfig.get_paths()["purelib"])
        self.slangc = packages / "slangtorch/bin/slangc"
        self.spirv = packages / "cmeel.prefix"
        self.nvrtc = packages / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
        self.cuda_include = packages / "nvidia/cuda_runtime/include"
        wanted = [self.slangc, self.spirv / "bin/spirv-opt", self.spirv / "bin/spirv-val", self.nvrtc, self.cuda_include / "cuda_fp16.h"]
        for path in wanted:
            if not path.exists():
                raise Missing(f"{path.relative_to(packages)}: expected it in {packages}.")

    def run(self, what, command):
        """Runs a tool; its output becomes the error's text when it fails."""
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.spirv / "lib"))
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{what} failed with exit code {done.returncode}\n{(done.stdout + done.stderr)[:6000]}")
        return done.stdout

    def version(self):
        return subprocess.run([str(self.slangc), "-v"], capture_output=True, text=True, check=True).stderr.strip()


if __name__ == "__main__":
    try:
        Toolchain()
    except Missing as error:
        sys.exit(str(error))
