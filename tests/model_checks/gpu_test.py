"""The models on a GPU: tiny ones against Hugging Face in float64, real ones against llama.cpp by the golden rule (goldens_test.py).

By default on Mesa's llvmpipe, a software adapter that is named and allowed here; --device "-d cuda" for hardware.
"""

import json
import math
import os
import pathlib
import tempfile
import unittest

import goldens_test
import support

TINY = ("llama", "llama-f16", "llama_rope3", "gemma3", "qwen2", "qwen3", "qwen3-f16")
CHUNKS = (1, 7, 32, 512)
DECODE_ROWS = 16  # up to so many rows each row's numbers are its own
REAL_PROMPTS = 2
REAL_STEPS = 12
F32_TOLERANCE = 1e-3  # absolute, against float64
F16_FILE_TOLERANCE = 6e-3  # as on the CPU: the reference's weights are those before their rounding


def reference_of(name):
    path = support.TESTS / "models" / f"{name.removesuffix('-f16')}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def model_path(name):
    return support.TESTS / "models" / f"{name}.gguf"


def report(model, ids, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        support.candor("run", "-m", model, *support.settings.device.split(), "--ids", support.id_list(ids), "-n", 3, "--temp", 0,
                       "--ignore-eos", "--report", path, *options)  # fmt: skip
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


class TinyModels(unittest.TestCase):
    def test_last_logits_in_f32(self):
        for name in TINY:
            worst = 0.0
            for prompt in reference_of(name)["prompts"]:
                row = support.logits_rows(model_path(name), prompt["ids"], "--precision", "f32")[-1]
                error = max(abs(a - b) for a, b in zip(row, prompt["last_logits"], strict=True))
                self.assertFalse(math.isnan(error))
                worst = max(worst, error)
            print(f"{name}: worst error {worst:.2e}", flush=True)
            self.assertLess(worst, F16_FILE_TOLERANCE if name.endswith("-f16") else F32_TOLERANCE, name)

    def test_greedy_text_at_any_chunk(self):
        for name in TINY:
            for prompt in reference_of(name)["prompts"]:
                for chunk in CHUNKS:
                    with self.subTest(model=name, chunk=chunk):
                        got = support.greedy(model_path(name), prompt["ids"], len(prompt["greedy"]), "--prefill-chunk", chunk)
                        self.assertEqual(got, prompt["greedy"])

    def test_rows_alone_and_in_a_batch(self):
        for name in TINY:
            ids = max((prompt["ids"] for prompt in reference_of(name)["prompts"]), key=len)
            one = support.logits_bytes(model_path(name), ids, "--all", "--prefill-chunk", 1)
            many = support.logits_bytes(model_path(name), ids, "--all", "--prefill-chunk", DECODE_ROWS)
            self.assertTrue(one == many, name)

    def test_the_report_proves_where_it_ran(self):
        for name in TINY[:1]:
            got = report(model_path(name), [1, 2, 3])
            self.assertTrue(got["gpu"]["verified"])
            self.assertEqual(got["gpu"]["submissions"], got["steps"])
            self.assertGreater(got["gpu"]["dispatches"], 0)
            self.assertEqual({row["device"] for row in got["ops"]}, {got["device"]})
            self.assertNotEqual(got["device"], "cpu")


class RealModels(unittest.TestCase):
    def check(self, model, *options):
        path = support.real_model(model)
        for prompt in [p for p in goldens_test.prompts(model) if len(p["prompt_ids"]) < 100][:REAL_PROMPTS]:
            steps = min(REAL_STEPS, len(prompt["greedy_ids"]))
            ids = support.greedy(path, prompt["prompt_ids"], steps, *options)
            verdicts = [goldens_test.judge_part(ids, reference) for reference in (prompt, prompt["f32"])]
            print(f"{model} {prompt['id']} {' '.join(options)}: " + "; ".join(line for _, line in verdicts), flush=True)
            self.assertTrue(any(kept for kept, _ in verdicts), f"{prompt['id']}: got {ids}")

    def test_smollm2(self):
        for precision in ("auto", "f32"):
            self.check("SmolLM2-135M-Instruct.Q4_1.gguf", "--precision", precision)

    def test_gemma3(self):
        for precision in ("auto", "f32"):
            self.check("gemma-3-270m-q4_k_m.gguf", "--precision", precision)


if __name__ == "__main__":
    support.main()
