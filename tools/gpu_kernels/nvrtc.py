"""CUDA C++ to cubins and PTX by NVRTC, called through its C interface; needs no GPU, driver or CUDA toolkit."""

import ctypes
import pathlib

# SLANG_CUDA_ENABLE_HALF: the half type of the text that slangc writes. --fmad=false: a multiply and an add are fused only where a kernel says
# fma, as everywhere in Candor, so that a row's bits do not depend on the variant that computes it.
OPTIONS = ["-default-device", "--std=c++17", "-DSLANG_CUDA_ENABLE_HALF=1", "-w", "--fmad=false"]


# From this architecture on a kernel may start before the one before it has ended, and waits where it first needs its results
# (programmatic dependent launch, CUDA C++ Programming Guide). Kernels for older ones start when everything before them is done.
EARLY_START = 90


def early_start_options(architecture):
    kind, number = architecture.split("_")
    early = kind == "sm" and int(number) >= EARLY_START
    wait, go = ('asm volatile("griddepcontrol.wait;" ::: "memory")', 'asm volatile("griddepcontrol.launch_dependents;" ::: "memory")') if early else ("", "")
    return [f"-DCANDOR_WAIT_FOR_INPUTS()={wait}", f"-DCANDOR_LET_NEXT_START()={go}"]


class Error(Exception):
    pass


class Nvrtc:
    def __init__(self, library, include):
        self._library = ctypes.CDLL(str(library))
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
        self._options = [*OPTIONS, f"-I{include}"]

    def compile(self, path, architecture):
        """`architecture`: sm_90 for a cubin, compute_90 for PTX. Returns its bytes."""
        source = pathlib.Path(path).read_bytes()
        program = ctypes.c_void_p()
        self._call("CreateProgram", ctypes.byref(program), source, pathlib.Path(path).name.encode(), 0, None, None)
        try:
            options = [option.encode() for option in (f"--gpu-architecture={architecture}", *early_start_options(architecture), *self._options)]
            code = self._library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
            if code != 0:
                log = self._bytes(program, "ProgramLog").decode(errors="replace")
                raise Error(f"NVRTC for {architecture}: {self._library.nvrtcGetErrorString(code).decode()}\n{log[:4000]}")
            return self._bytes(program, "CUBIN" if architecture.startswith("sm_") else "PTX")
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _call(self, name, *arguments):
        code = getattr(self._library, f"nvrtc{name}")(*arguments)
        if code != 0:
            raise Error(f"nvrtc{name}: {self._library.nvrtcGetErrorString(code).decode()}")

    def _bytes(self, program, what):
        size = ctypes.c_size_t()
        self._call(f"Get{what}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self._call(f"Get{what}", program, data)
        return data.raw.rstrip(b"\0") if what != "CUBIN" else data.raw
