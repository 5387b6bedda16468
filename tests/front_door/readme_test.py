"""The README's ```console blocks are run as written; what they print must be what the README shows, numbers aside.

A line that starts with "$ " is a command, the lines below it are its output (standard output and error together). Numbers and times may differ, and
a line "…" stands for any lines. A block marked ```console recorded shows what one machine printed: there the command must succeed, no more. The
commands run in a scratch folder that holds the default model; `make` runs in the repository. With --record the README is written anew with what
the commands print here.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
BLOCK = re.compile(r"^```console( recorded)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README = ROOT / "README.md"
options = argparse.Namespace(candor=None)


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "candor"


def steps(block):
    """[(command, expected lines)] of one console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def loosely(line):
    """Numbers, and spaces beside them, say nothing about right or wrong here."""
    line = re.sub(r"\d+(?:[.,]\d+)*", "#", line.rstrip())
    return re.sub(r"[ \t]+", " ", line).strip()


def matches(expected, got):
    """Do the lines match, where "…" stands for any number of lines?"""
    if not expected:
        return not got
    if expected[0].strip() == "…":
        return any(matches(expected[1:], got[skip:]) for skip in range(len(got) + 1))
    return bool(got) and loosely(expected[0]) == loosely(got[0]) and matches(expected[1:], got[1:])


class MatchTest(unittest.TestCase):
    def test_numbers_may_differ_and_words_may_not(self):
        self.assertTrue(matches(["decode 12.5 tokens/s"], ["decode   9 tokens/s"]))
        self.assertFalse(matches(["decode 12.5 tokens/s"], ["prefill 12.5 tokens/s"]))
        self.assertFalse(matches(["a"], ["a", "b"]))
        self.assertTrue(matches(["a", "…", "z"], ["a", "b", "c", "z"]))
        self.assertFalse(matches(["a", "…", "z"], ["a", "b"]))


class Shell:
    """Runs the commands of one block, one after the other."""

    def __init__(self, folder):
        self.folder, self.code = pathlib.Path(folder), 0
        (self.folder / MODEL).symlink_to(cache() / MODEL)

    def run(self, command):
        """The lines it prints."""
        in_repository = command.startswith("make ")
        program = f"(exit {self.code}); {command}" + (" SETUP=no --no-print-directory" if in_repository else "")
        path = f"{options.candor.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", program], cwd=ROOT if in_repository else self.folder, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.code = done.returncode
        return done.stdout.splitlines()


class ReadmeTest(unittest.TestCase):
    def test_every_block_prints_what_it_shows(self):
        blocks = BLOCK.findall(README.read_text())
        self.assertGreaterEqual(len(blocks), 3)
        for recorded, block in blocks:
            with tempfile.TemporaryDirectory() as folder:
                shell = Shell(folder)
                for command, expected in steps(block):
                    with self.subTest(command):
                        self.check(shell, command, expected, recorded)

    def check(self, shell, command, expected, recorded):
        got = shell.run(command)
        shown = f"expected:\n{chr(10).join(expected)}\ngot:\n{chr(10).join(got)}"
        if recorded:
            self.assertEqual(shell.code, 0, shown)
        elif command == "echo $?":
            self.assertEqual(got, expected)
        else:
            self.assertTrue(matches(expected, got), shown)


def record():
    """Writes the README anew with what the commands print here; what has a "…" among lines that still match stays."""

    def run_again(found):
        with tempfile.TemporaryDirectory() as folder:
            shell, lines = Shell(folder), []
            for command, expected in steps(found.group(2)):
                got = shell.run(command)
                keep = "…" in expected and len(expected) > 1 and matches(expected, got)
                lines += [f"$ {command}", *(expected if keep else got)]
        return f"```console{found.group(1) or ''}\n" + "\n".join(lines) + "\n```"

    README.write_text(BLOCK.sub(run_again, README.read_text()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--candor", required=True)
    parser.add_argument("--record", action="store_true", help="write what the commands print into the README")
    options, rest = parser.parse_known_args()
    options.candor = pathlib.Path(options.candor).resolve()
    if options.candor != ROOT / "build/release/candor" or not (cache() / MODEL).exists():
        print("NOT RUN: needs build/release/candor and the fetched model; make test makes both")
        sys.exit(77)
    if options.record:
        sys.exit(record())
    unittest.main(argv=[sys.argv[0], *rest])
