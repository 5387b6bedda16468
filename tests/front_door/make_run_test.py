"""`make run` without a terminal and with one, with a model path that has spaces and a prompt that has everything."""

import argparse
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
options = argparse.Namespace(candor=None)


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "candor"


def make_run(*arguments):
    command = ["make", "--no-print-directory", "-C", str(ROOT), "run", "SETUP=no", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)


class MakeRunTest(unittest.TestCase):
    def test_without_a_terminal_answers_the_built_in_question(self):
        result = make_run()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Portugal", result.stdout)
        for words in ("answering", "prefill", "decode", "cpu"):
            self.assertIn(words, result.stderr.lower())

    def test_model_path_with_spaces_and_any_prompt(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "a model's file.gguf")
            model.symlink_to(cache() / MODEL)
            result = make_run(f"MODEL={model}", "PROMPT=Say \"it's $HOME; # ok\" `twice`")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.strip())
        self.assertNotIn("answering", result.stderr)

    def test_missing_model(self):
        result = make_run("MODEL=no such file.gguf", "PROMPT=hello")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no such file.gguf", result.stderr)

    def test_in_a_terminal_opens_a_chat(self):
        process, terminal = self.start_in_terminal()
        self.addCleanup(os.close, terminal)
        try:
            self.read_until(terminal, b"/help")  # the greeting names it
            os.write(terminal, b"/help\r")
            seen = self.read_until(terminal, b"forget the conversation")
            os.write(terminal, b"/exit\r")
            self.read_until(terminal, None)
            self.assertIn(b"forget the conversation", seen)
            self.assertEqual(process.wait(60), 0)
        finally:
            process.kill()
            process.wait()

    def start_in_terminal(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal here: {error}")
        command = ["make", "--no-print-directory", "-C", str(ROOT), "run", "SETUP=no"]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        return process, ours

    def read_until(self, terminal, words):
        """What the terminal shows until the words, the end of the program or 120 seconds."""
        seen, deadline = b"", time.monotonic() + 120
        while time.monotonic() < deadline and (words is None or words not in seen):
            if select.select([terminal], [], [], 1)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:  # the program has ended
                    break
        return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--candor", required=True)
    options, rest = parser.parse_known_args()
    options.candor = pathlib.Path(options.candor).resolve()
    if options.candor != ROOT / "build/release/candor" or not (cache() / MODEL).exists():
        print("NOT RUN: needs build/release/candor and the fetched model; make test makes both")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
