"""What the checks share: calling the built program, reading its logits, and a main that prints what could not run."""

import argparse
import array
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
LIMIT_SECONDS = 900

# The processor flags without which the program cannot run an ISA.
ISA_FLAGS = {"scalar": set(), "avx2": {"avx2", "fma", "f16c", "bmi1", "bmi2"},
             "avx512": {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512_vnni"}}  # fmt: skip

# Written by main() before any test runs, read-only afterwards.
settings = argparse.Namespace()  # filled by main()


def processor_flags():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


def isas():
    """The ISAs this machine can run, as --cpu-isa takes them; the others are printed as NOT RUN."""
    have = processor_flags()
    return [name for name, needed in ISA_FLAGS.items() if needed <= have]


def report_isas_not_run():
    for name in ISA_FLAGS:
        if name not in isas():
            print(f"NOT RUN: --cpu-isa {name} (this processor lacks {', '.join(sorted(ISA_FLAGS[name] - processor_flags()))})", flush=True)


def candor(*words):
    """Runs the program; returns its standard output. An exit code other than 0 is a failure that shows its message."""
    command = [settings.candor, *map(str, words)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)[:2000]}: exit code {done.returncode}\n{done.stderr.decode('utf-8', 'replace')[-2000:]}")
    return done.stdout.decode("utf-8")


def candor_json(*words):
    return json.loads(candor(*words, "--json"))


def id_list(ids):
    return ",".join(map(str, ids))


def logits_bytes(model, ids, *options):
    """The raw float32 logits that `candor logits` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "logits.f32")
        candor("logits", "-m", model, *settings.device.split(), "--ids", id_list(ids), *options, "-o", path)
        return pathlib.Path(path).read_bytes()


def logits_rows(model, ids, *options):
    """The logits of every position, one array a row."""
    values = array.array("f", logits_bytes(model, ids, "--all", *options))
    if sys.byteorder != "little":
        values.byteswap()
    width, rest = divmod(len(values), len(ids))
    if rest or not width:
        raise AssertionError(f"candor logits --all: expected {len(ids)} equal rows, got {len(values)} numbers")
    return [values[row * width : (row + 1) * width] for row in range(len(ids))]


def argmax(row):
    return row.index(max(row))


def greedy(model, ids, count, *options):
    """The ids that follow, always the likeliest one, end tokens not heeded."""
    answer = candor_json("run", "-m", model, *settings.device.split(), "--ids", id_list(ids), "-n", count, "--temp", 0, "--ignore-eos", *options)
    return answer["tokens"]


def tokenize(model, text, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "text"
        path.write_bytes(text.encode("utf-8"))
        return candor_json("tokenize", "-m", model, "--file", path, *options)["ids"]


def real_model(file_name):
    """The path of a fetched model; a test that needs one which is not there is skipped, loudly."""
    path = settings.models / file_name
    if not path.is_file():
        raise unittest.SkipTest(f"{file_name} is not in {settings.models} (tools/fetch_model.py fetches it)")
    return path


def main():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    parser = argparse.ArgumentParser()
    parser.add_argument("--candor", required=True, help="the built program")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path(cache) / "candor", help="where fetched models are")
    parser.add_argument("--device", default="-d cpu", help="the words that choose the device")
    parser.add_argument("tests", nargs="*", help="unittest names; default: all")
    parser.parse_args(namespace=settings)
    settings.candor = os.path.abspath(settings.candor)
    report_isas_not_run()
    program = unittest.main(module="__main__", argv=[sys.argv[0], "-v", *settings.tests], exit=False)
    for test, reason in program.result.skipped:
        print(f"NOT RUN: {test.id()}: {reason}", flush=True)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if program.result.testsRun and len(program.result.skipped) == program.result.testsRun else 0)
