"""Small random models against Hugging Face in float64 (tests/models): logits, the best id at each position, greedy text, token ids."""

import json
import math
import unittest

import support

FAMILIES = ("llama", "llama_rope3", "gemma3", "qwen2", "qwen3")
# Largest difference of a logit of the last position. F32 files: float32 sums against float64 ones. F16 files: the KV cache is F16 as well.
TOLERANCE = {"f32": 2e-4, "f16": 6e-3}


def cases():
    """(name, type, path, reference) of each file whose family this build knows."""
    folder = support.TESTS / "models"
    for name in FAMILIES:
        reference = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for kind, facts in reference["files"].items():
            yield name, kind, folder / facts["file"], reference


class TinyModels(unittest.TestCase):
    def for_each(self, check):
        for name, kind, path, reference in cases():
            for isa in support.isas():
                for index, prompt in enumerate(reference["prompts"]):
                    with self.subTest(model=name, type=kind, isa=isa, prompt=index):
                        check(kind, path, isa, prompt)

    def test_logits_and_argmax(self):
        def check(kind, path, isa, prompt):
            rows = support.logits_rows(path, prompt["ids"], "--cpu-isa", isa)
            self.assertTrue(all(map(math.isfinite, rows[-1])))
            worst, where = max((abs(a - b), i) for i, (a, b) in enumerate(zip(rows[-1], prompt["last_logits"], strict=True)))
            self.assertLessEqual(worst, TOLERANCE[kind], f"logit {where}: {rows[-1][where]} against {prompt['last_logits'][where]}")
            self.assertEqual([support.argmax(row) for row in rows], prompt["argmax"])

        self.for_each(check)

    def test_last_row_alone(self):
        def check(_, path, isa, prompt):
            every = support.logits_bytes(path, prompt["ids"], "--all", "--cpu-isa", isa)
            last = support.logits_bytes(path, prompt["ids"], "--cpu-isa", isa)
            self.assertEqual(len(last) * len(prompt["ids"]), len(every))
            self.assertEqual(last, every[-len(last) :])

        self.for_each(check)

    def test_greedy(self):
        def check(_, path, isa, prompt):
            self.assertEqual(support.greedy(path, prompt["ids"], len(prompt["greedy"]), "--cpu-isa", isa), prompt["greedy"])

        self.for_each(check)

    def test_token_ids(self):
        for name, kind, path, reference in cases():
            for sample in reference["tokenizer"]:
                with self.subTest(model=name, type=kind, text=sample["text"]):
                    self.assertEqual(support.tokenize(path, sample["text"], "--no-bos"), sample["ids"])


if __name__ == "__main__":
    support.main()
