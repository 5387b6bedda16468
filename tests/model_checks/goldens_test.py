"""The two real models against llama.cpp's recorded runs (tests/goldens): token ids, and greedy text by the golden rule.

The golden rule: the ids must equal those of one of the two references (the file as it is, its weights widened to F32) up to the first step
whose margin in that reference is below 0.5: there llama.cpp's own two runs part. A stricter second look feeds the F32 reference's text and asks,
at every step where both references are sure, whether the best id is theirs.
"""

import json
import unittest

import support

MARGIN = 0.5
LONGEST_TO_REPLAY = 160  # ids; --all writes the whole vocabulary for each
FILES = {
    "SmolLM2-135M-Instruct.Q4_1.gguf": ("smollm2_135m_q4_1.json", "smollm2_135m_q4_1_more.json"),
    "gemma-3-270m-q4_k_m.gguf": ("gemma3_270m_q4_k_m.json", "gemma3_270m_q4_k_m_more.json"),
}


def prompts(model):
    for name in FILES[model]:
        yield from json.loads((support.TESTS / "goldens" / name).read_text(encoding="utf-8"))["prompts"]


def sure_steps(reference):
    """How many leading steps the golden rule asks for."""
    return next((i for i, margin in enumerate(reference["step_margin"]) if margin < MARGIN), len(reference["step_margin"]))


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def judge(ids, reference):
    """(kept the rule, a line that says how far the ids agree and how sure the reference was where they part)."""
    step, needed = first_difference(ids, reference["greedy_ids"]), sure_steps(reference)
    if step == len(reference["greedy_ids"]):
        return True, f"all {step} steps equal"
    return step >= needed, f"parts at step {step}, margin {reference['step_margin'][step]:.3f} (rule: the first {needed})"


def judge_part(ids, reference):
    """The same for the first steps alone."""
    steps = len(ids)
    return judge(ids, {key: reference[key][:steps] for key in ("greedy_ids", "step_margin")})


class Goldens:
    model = None

    def setUp(self):
        self.path = support.real_model(self.model)

    def test_token_ids(self):
        for prompt in prompts(self.model):
            text = prompt.get("rendered", prompt.get("text"))
            for special in (False, True):
                other = f"prompt_ids_with_parse_special_{str(special).lower()}"
                expected = prompt["prompt_ids"] if special == prompt["parse_special"] else prompt.get(other, prompt["prompt_ids"])
                with self.subTest(prompt=prompt["id"], parse_special=special):
                    self.assertEqual(support.tokenize(self.path, text, *(["--parse-special"] if special else [])), expected)

    def test_greedy_text(self):
        for prompt in prompts(self.model):
            with self.subTest(prompt=prompt["id"]):
                ids = support.greedy(self.path, prompt["prompt_ids"], len(prompt["greedy_ids"]))
                self.assertEqual(len(ids), len(prompt["greedy_ids"]))
                quantised, quantised_line = judge(ids, prompt)
                widened, widened_line = judge(ids, prompt["f32"])
                print(f"{self.model} {prompt['id']}: quantised {quantised_line}; f32 {widened_line}", flush=True)
                self.assertTrue(quantised or widened, f"got {ids}")

    def test_sure_steps_of_the_reference_text(self):
        checked = 0
        for prompt in prompts(self.model):
            ids, follow = prompt["prompt_ids"], prompt["f32"]["greedy_ids"]
            if len(ids) > LONGEST_TO_REPLAY:
                continue
            agreed = first_difference(prompt["greedy_ids"], follow)
            with self.subTest(prompt=prompt["id"]):
                rows = support.logits_rows(self.path, ids + follow[:-1])[len(ids) - 1 :]
                for step, row in enumerate(rows):
                    margins = [prompt["f32"]["step_margin"][step]] + ([prompt["step_margin"][step]] if step < agreed else [])
                    # Past the point where the references part only the F32 one speaks of this text: it must be twice as sure.
                    if min(margins) >= (MARGIN if step < agreed else 2 * MARGIN):
                        checked += 1
                        self.assertEqual(support.argmax(row), follow[step], f"step {step}, margins {margins}")
        print(f"{self.model}: {checked} sure steps replayed", flush=True)
        self.assertGreater(checked, 100)


class SmolLM2(Goldens, unittest.TestCase):
    model = "SmolLM2-135M-Instruct.Q4_1.gguf"


class Gemma3(Goldens, unittest.TestCase):
    model = "gemma-3-270m-q4_k_m.gguf"


if __name__ == "__main__":
    support.main()
