"""Within one ISA a row's logits have the same bits at any thread count, at any prefill chunk size, and alone."""

import json
import unittest

import support

THREADS = (1, 2, 3, 5)
CHUNKS = (1, 3, 16, 512)
TINY = ("llama.gguf", "llama-f16.gguf", "llama_rope3.gguf", "gemma3.gguf", "qwen2.gguf", "qwen3.gguf", "qwen3-f16.gguf")
REAL = ("SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m-q4_k_m.gguf")
# Longer than the widest chunk of rows that a kernel takes at once, shorter than Gemma's sliding window.
REAL_IDS = [2 + (37 * i * i + 11 * i) % 30000 for i in range(70)]


def tiny_ids():
    reference = json.loads((support.TESTS / "models" / "llama.json").read_text(encoding="utf-8"))
    return max((prompt["ids"] for prompt in reference["prompts"]), key=len)


class Invariance(unittest.TestCase):
    def check(self, path, ids, threads, chunks, isa):
        expected = support.logits_bytes(path, ids, "--all", "--cpu-isa", isa, "-t", 1)
        for count in threads:
            for chunk in chunks:
                with self.subTest(model=path.name, isa=isa, threads=count, chunk=chunk):
                    got = support.logits_bytes(path, ids, "--all", "--cpu-isa", isa, "-t", count, "--prefill-chunk", chunk)
                    self.assertEqual(len(got), len(expected))
                    self.assertTrue(got == expected, f"first different number: {first_difference(got, expected)}")

    def test_threads_and_chunks_of_tiny_models(self):
        for name in TINY:
            for isa in support.isas():
                self.check(support.TESTS / "models" / name, tiny_ids(), THREADS, CHUNKS, isa)

    def test_rows_alone_of_tiny_models(self):
        """The last row of a shorter prompt is the row at that place of a longer one."""
        ids = tiny_ids()
        for name in TINY:
            path = support.TESTS / "models" / name
            for isa in support.isas():
                every = support.logits_bytes(path, ids, "--all", "--cpu-isa", isa)
                width = len(every) // len(ids)
                for length in (1, 2, 8, 9, 17, len(ids)):
                    with self.subTest(model=name, isa=isa, length=length):
                        alone = support.logits_bytes(path, ids[:length], "--cpu-isa", isa)
                        self.assertTrue(alone == every[(length - 1) * width : length * width])

    def real(self, name):
        path = support.real_model(name)
        for isa in support.isas():
            if isa != "scalar":  # a real model is slow there, and the scalar code is the tiny models' as well
                self.check(path, REAL_IDS, (2, 3), (1, 7, 64), isa)

    def test_smollm2(self):
        self.real(REAL[0])

    def test_gemma3(self):
        self.real(REAL[1])


def first_difference(got, expected):
    return next((i // 4 for i in range(0, min(len(got), len(expected)), 4) if got[i : i + 4] != expected[i : i + 4]), "the length")


if __name__ == "__main__":
    support.main()
