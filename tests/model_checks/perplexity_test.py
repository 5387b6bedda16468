"""Perplexity of the two real models on a public-domain text: within 1 % of llama-perplexity's (tests/goldens/perplexity.json)."""

import json
import unittest

import support

TOLERANCE = 0.01


class Perplexity(unittest.TestCase):
    def check(self, model):
        reference = json.loads((support.TESTS / "goldens" / "perplexity.json").read_text(encoding="utf-8"))
        expected = next(row for row in reference["results"] if row["model"]["file"] == model)
        path = support.real_model(model)
        text = support.TESTS / "text" / reference["text"]["file"]
        answer = support.candor_json("perplexity", "-m", path, "-d", "cpu", "--file", text, "-c", reference["context"])
        print(f"{model}: perplexity {answer['perplexity']:.4f}, llama-perplexity {expected['perplexity']:.4f}", flush=True)
        self.assertLess(abs(answer["perplexity"] / expected["perplexity"] - 1), TOLERANCE)

    def test_smollm2(self):
        self.check("SmolLM2-135M-Instruct.Q4_1.gguf")

    def test_gemma3(self):
        self.check("gemma-3-270m-q4_k_m.gguf")


if __name__ == "__main__":
    support.main()
