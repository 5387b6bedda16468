"""What the tests of the command line share: running the built program, the tiny models, a scratch folder."""

import argparse
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
MODELS = TESTS / "models"
LLAMA = MODELS / "llama.gguf"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
LIMIT_SECONDS = 300

# Written by main() before any test runs, read-only afterwards.
settings = argparse.Namespace(candor=None)


class Done:
    """A finished run: exit code, standard output and error as text (and output as bytes)."""

    def __init__(self, process):
        self.code = process.returncode
        self.raw = process.stdout or b""
        self.out = self.raw.decode("utf-8", "strict")
        self.err = (process.stderr or b"").decode("utf-8", "replace")

    def json(self):
        return json.loads(self.out)


def run(*words, stdin=b"", **options):
    command = [settings.candor, *(word if isinstance(word, bytes) else str(word) for word in words)]
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return Done(subprocess.run(command, input=stdin, timeout=LIMIT_SECONDS, check=False, **options))


def reference(name="llama"):
    return json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))


def id_list(ids):
    return ",".join(map(str, ids))


def open_terminal():
    """A pseudo-terminal as pty.openpty gives it; a test that needs one on a machine without (a bare chroot) is skipped, loudly."""
    try:
        return pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no pseudo-terminal here: {error}") from error


def default_model():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = pathlib.Path(cache) / "candor" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.is_file():
        raise unittest.SkipTest(f"{path.name} is not in {path.parent} (tools/fetch_model.py fetches it)")
    return path


class TestCase(unittest.TestCase):
    """A test with a folder of its own and the assertion that most of them end with."""

    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="candor cli "))  # with a space: every path in here has one
        self.addCleanup(shutil.rmtree, self.folder)

    def check_fails(self, done, code, *parts):
        """One clear sentence on stderr, nothing on stdout, the exit code."""
        self.assertEqual(done.code, code, done.err)
        self.assertEqual(done.out, "")
        lines = done.err.strip().splitlines()
        self.assertEqual(len(lines), 1, done.err)
        self.assertTrue(lines[0].startswith("candor"), done.err)
        for part in parts:
            self.assertIn(part, done.err)

    def ok(self, *words, **options):
        done = run(*words, **options)
        self.assertEqual(done.code, 0, done.err)
        return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--candor", required=True, help="the built program")
    parser.add_argument("tests", nargs="*", help="unittest names; default: all")
    parser.parse_args(namespace=settings)
    settings.candor = os.path.abspath(settings.candor)
    program = unittest.main(module="__main__", argv=[sys.argv[0], "-v", *settings.tests], exit=False)
    for test, reason in program.result.skipped:
        print(f"NOT RUN: {test.id()}: {reason}", flush=True)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if program.result.testsRun and len(program.result.skipped) == program.result.testsRun else 0)
