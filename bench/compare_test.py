"""bench/compare with stand-in programs: exit codes, ratios and the report; and the byte count of weights on real files."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))
from comparison import gguf_bytes, report  # noqa: E402

MODELS = BENCH.parent / "tests" / "models"
BENCH_JSON = '[{"n_prompt": 512, "n_gen": 0, "avg_ts": %f}, {"n_prompt": 0, "n_gen": 128, "avg_ts": %f}]'
CANDOR_JSON = '[{"test": "pp512", "tokens_per_second": %f}, {"test": "tg128", "tokens_per_second": %f}]'


def write_program(path, body):
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Compare(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        for name in ("llama", "ik"):
            (self.folder / name).mkdir()
        write_program(self.folder / "candor", f"case $1 in bench) echo '{CANDOR_JSON % (400, 96)}';; *) echo said the man;; esac\n")
        write_program(self.folder / "llama" / "llama-bench", f"echo '{BENCH_JSON % (100, 40)}'\n")
        write_program(self.folder / "llama" / "llama-completion", "echo said the woman\n")
        write_program(self.folder / "ik" / "llama-bench", f"echo '{BENCH_JSON % (200, 48)}'\n")

    def compare(self, *words):
        command = [sys.executable, BENCH / "compare", "-m", MODELS / "llama.gguf", "-t", "2", "-r", "2", "--results", self.folder / "out", *words]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)

    def all_three(self):
        return self.compare("--candor", self.folder / "candor", "--llama", self.folder / "llama", "--ik", self.folder / "ik")

    def test_ratios_and_files(self):
        done = self.all_three()
        self.assertEqual(done.returncode, 0, done.stderr)
        written = json.loads(next((self.folder / "out").glob("*_cpu_llama.json")).read_text())
        metrics = written["threads"]["2"]["metrics"]
        self.assertAlmostEqual(metrics["tg128"]["target"]["ratio"]["median"], 96 / 48)  # against the faster peer
        self.assertAlmostEqual(metrics["pp512"]["target"]["ratio"]["median"], 400 / 200)  # against ik_llama.cpp
        self.assertTrue(metrics["tg128"]["target"]["met"])
        self.assertIn(report.NO_WARM_UP, metrics["start_ms"]["values"])
        text = next((self.folder / "out").glob("*_cpu_llama.md")).read_text()
        self.assertEqual(text, done.stdout.rstrip("\n") + "\n")
        self.assertNotIn(str(self.folder), text)

    def test_a_missed_target_is_told(self):
        write_program(self.folder / "candor", f"case $1 in bench) echo '{CANDOR_JSON % (100, 50)}';; *) echo said the man;; esac\n")
        done = self.all_three()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("**no**", done.stdout)

    def test_a_failing_peer_ends_the_run(self):
        write_program(self.folder / "ik" / "llama-bench", "echo cannot load >&2; exit 3\n")
        done = self.all_three()
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected exit code 0, got 3", done.stderr)
        self.assertIn("cannot load", done.stderr)

    def test_nonsense_is_not_timed(self):
        write_program(self.folder / "llama" / "llama-completion", "echo '!!!!'\n")
        done = self.all_three()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not worth timing", done.stderr)

    def test_a_rate_that_is_no_number(self):
        write_program(self.folder / "ik" / "llama-bench", f"echo '{BENCH_JSON % (0, 0)}'\n")
        self.assertEqual(self.all_three().returncode, 1)

    def test_missing_program(self):
        done = self.compare("--candor", self.folder / "candor", "--llama", self.folder / "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("bench/README.md", done.stderr)

    def test_nothing_to_compare_with(self):
        self.assertEqual(self.compare("--candor", self.folder / "candor").returncode, 3)
        self.assertEqual(self.compare().returncode, 2)


class GgufBytes(unittest.TestCase):
    def test_untied_head_leaves_the_embedding_out(self):
        weights = gguf_bytes.read(MODELS / "llama.gguf")
        self.assertFalse(weights.tied)
        self.assertEqual(weights.total - weights.per_token, 1024 * 128 * 4)
        self.assertLess(weights.total, os.path.getsize(MODELS / "llama.gguf"))

    def test_tied_head_reads_everything(self):
        weights = gguf_bytes.read(MODELS / "qwen3.gguf")
        self.assertTrue(weights.tied)
        self.assertEqual(weights.total, weights.per_token)

    def test_no_gguf(self):
        with self.assertRaisesRegex(ValueError, "expected a GGUF file"):
            gguf_bytes.read(__file__)


if __name__ == "__main__":
    unittest.main()
