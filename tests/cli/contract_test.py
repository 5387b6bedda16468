"""The fixed contract for scripts: flags, JSON shapes, streams and files of every command."""

import array
import json
import math
import re
import subprocess

import harness
from harness import LLAMA, MODELS, id_list, run

STOP_REASONS = {"eos", "stop", "length", "context", "cancelled"}
RUN_PHASES = {"probe", "open", "verify", "tokenizer", "weights", "compile", "prefill", "first_token", "decode", "teardown"}
COMMANDS = ("run", "bench", "inspect", "tokenize", "logits", "perplexity", "devices")


class Help(harness.TestCase):
    def test_every_command_has_help_with_examples_json_and_exit_codes(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                done = self.ok(command, "--help")
                self.assertEqual(done.err, "")
                for part in ("Examples:", f"candor {command}", "--json", "Exit codes: 0 ok", "70 internal"):
                    self.assertIn(part, done.out)
                if "--device" in done.out:
                    self.assertIn("--allow-software-adapter", done.out)

    def test_top_level_help_lists_what_works_and_nothing_else(self):
        out = self.ok("--help").out
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^  {command}\s")
        for later in ("serve", "quantize", "pull", "qualify"):
            self.assertNotRegex(out, rf"(?m)^  {later}\s")
        for code in ("0 ok", "1 the run failed", "2 bad usage", "3 device unavailable", "4 bad model file", "5 out of memory", "6 deadline", "7 cancelled"):
            self.assertIn(code, out)

    def test_version(self):
        self.assertRegex(self.ok("--version").out, r"^candor \d+\.\d+\.\d+\n$")


class Tokenize(harness.TestCase):
    def test_json_is_ids_alone_and_they_are_the_references(self):
        for case in harness.reference()["tokenizer"]:
            path = self.folder / "text file"
            path.write_text(case["text"], encoding="utf-8", newline="")
            self.assertEqual(self.ok("tokenize", "-m", LLAMA, "--file", path, "--no-bos", "--json").json(), {"ids": case["ids"]})
            self.assertEqual(self.ok("tokenize", "-m", LLAMA, "--text", case["text"], "--no-bos", "--json").json(), {"ids": case["ids"]})
            piped = self.ok("tokenize", "-m", LLAMA, "--no-bos", "--json", stdin=case["text"].encode())
            self.assertEqual(piped.json(), {"ids": case["ids"]})

    def test_control_tokens_only_when_asked(self):
        inspected = self.ok("inspect", "-m", LLAMA, "--metadata", "--full", "--json").json()["metadata"]
        eos = inspected["tokenizer.ggml.eos_token_id"]
        text = inspected["tokenizer.ggml.tokens"][eos]
        self.assertEqual(self.ok("tokenize", "-m", LLAMA, "--text", text, "--parse-special", "--no-bos", "--json").json()["ids"], [eos])
        self.assertNotIn(eos, self.ok("tokenize", "-m", LLAMA, "--text", text, "--no-bos", "--json").json()["ids"])

    def test_empty_text_and_invalid_utf8(self):
        self.assertEqual(self.ok("tokenize", "-m", LLAMA, "--text", "", "--no-bos", "--json").json(), {"ids": []})
        self.assertTrue(self.ok("tokenize", "-m", LLAMA, "--no-bos", "--json", stdin=b"a\xff\xc3").json()["ids"])


class Run(harness.TestCase):
    def test_json_object_of_ids(self):
        for prompt in harness.reference()["prompts"]:
            done = self.ok("run", "-m", LLAMA, "-d", "cpu", "--ids", id_list(prompt["ids"]), "-n", 24, "--temp", 0, "--ignore-eos", "--json")
            answer = done.json()
            self.assertEqual(done.err, "")
            self.assertEqual(answer["tokens"], prompt["greedy"])
            self.assertEqual(answer["prompt_tokens"], len(prompt["ids"]))
            self.assertEqual(answer["stop_reason"], "length")
            self.assertEqual(answer["device"], "cpu")
            self.assertIsInstance(answer["text"], str)
            self.assertLessEqual(RUN_PHASES, set(answer["phases"]))
            self.assertTrue(all(isinstance(value, (int, float)) and value >= 0 for value in answer["phases"].values()))
            self.assertIn(answer["stop_reason"], STOP_REASONS)

    def test_ids_are_used_as_they_are(self):
        ids = harness.reference()["prompts"][0]["ids"]
        self.assertEqual(self.ok("run", "-m", LLAMA, "--ids", id_list(ids), "-n", 1, "--json").json()["prompt_tokens"], len(ids))

    def test_max_tokens_is_exact_and_zero_only_reads_the_prompt(self):
        for count in (0, 1, 5):
            answer = self.ok("run", "-m", LLAMA, "--ids", "1,2", "-n", count, "--ignore-eos", "--json").json()
            self.assertEqual(len(answer["tokens"]), count)
            self.assertEqual(answer["stop_reason"], "length")
        self.assertNotIn("first_token", self.ok("run", "-m", LLAMA, "--ids", "1,2", "-n", 0, "--json").json()["phases"])

    def test_full_context_stops_with_context_and_says_so(self):
        done = self.ok("run", "-m", LLAMA, "--ids", "1,2,3", "-c", 20, "--ignore-eos", "--json")
        self.assertEqual(done.json()["stop_reason"], "context")
        self.assertEqual(len(done.json()["tokens"]), 18)
        self.assertIn("20 tokens is full", done.err)

    def test_same_seed_same_text_whatever_the_threads(self):
        words = ("run", "-m", LLAMA, "--ids", "1,2,3", "-n", 20, "--ignore-eos", "--temp", 1.5, "--json")
        first = self.ok(*words, "--seed", 5, "-t", 1).json()
        self.assertEqual(first["tokens"], self.ok(*words, "--seed", 5, "-t", 2).json()["tokens"])
        self.assertNotEqual(first["tokens"], self.ok(*words, "--seed", 6, "-t", 1).json()["tokens"])
        drawn = self.ok(*words).json()
        self.assertEqual(drawn["tokens"], self.ok(*words, "--seed", drawn["seed"]).json()["tokens"])

    def test_stop_string_is_no_part_of_the_text(self):
        words = ("run", "-m", LLAMA, "--ids", id_list(harness.reference()["prompts"][2]["ids"]), "-n", 24, "--temp", 0, "--ignore-eos", "--json")
        text = self.ok(*words).json()["text"]
        stop = re.search(r"[A-Za-z ]{3}", text).group()
        answer = self.ok(*words, "--stop", "never in it", "--stop", stop).json()
        self.assertEqual(answer["text"], text[: text.index(stop)])
        self.assertEqual((answer["stop_reason"], answer["stop_string"]), ("stop", stop))

    def test_text_streams_to_stdout_alone(self):
        words = ("run", "-m", LLAMA, "--ids", "1,2,3", "-n", 12, "--temp", 0, "--ignore-eos")
        done = self.ok(*words)
        self.assertEqual(done.err, "")
        text = self.ok(*words, "--json").json()["text"]
        self.assertEqual(done.out, text if text.endswith("\n") else text + "\n")

    def test_stats_go_to_stderr(self):
        done = self.ok("run", "-m", LLAMA, "--ids", "1,2,3", "-n", 4, "--stats", "--json")
        json.loads(done.out)
        for part in ("prefill", "decode", "phases (ms):", "placement: cpu", "matmul", "seed"):
            self.assertIn(part, done.err)

    def test_report_file(self):
        path = self.folder / "a report.json"
        self.ok("run", "-m", LLAMA, "--ids", "1,2,3", "-n", 4, "-t", 1, "--report", path)
        report = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual((report["device"], report["threads"]), ("cpu", 1))
        ops = {row["op"] for row in report["ops"]}
        self.assertTrue(any("matmul" in op for op in ops) and any("attention" in op for op in ops), ops)
        self.assertTrue(all(row["device"] == "cpu" and row["variant"] for row in report["ops"]))
        self.assertGreater(report["weight_bytes"], 0)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], [path.name])

    def test_forced_isa_is_reported(self):
        answer = self.ok("run", "-m", LLAMA, "--ids", "1,2", "-n", 1, "--cpu-isa", "scalar", "--json").json()
        self.assertEqual(answer["isa"], "scalar")

    def test_prompt_from_flag_file_and_pipe_are_one(self):
        text = "Hello world"
        path = self.folder / "prompt"
        path.write_text(text)
        words = ("run", "-m", LLAMA, "--raw", "-n", 3, "--temp", 0, "--ignore-eos", "--json")
        expected = self.ok(*words, "-p", text).json()["tokens"]
        self.assertEqual(self.ok(*words, "--file", path).json()["tokens"], expected)
        self.assertEqual(self.ok(*words, stdin=text.encode()).json()["tokens"], expected)
        self.assertTrue(self.ok(*words, stdin=b"\xff\xfe broken \xc3").json()["tokens"])

    def test_prompt_may_begin_with_a_dash_or_look_like_a_list(self):
        for text in ("-n 5", "--help", "[a,b]", "a=b", "-"):
            self.ok("run", "-m", LLAMA, "--raw", "-p", text, "-n", 1, "--json")

    def test_base_model_says_that_it_continues_plain_text(self):
        if "tokenizer.chat_template" in self.ok("inspect", "-m", LLAMA, "--metadata", "--json").json()["metadata"]:
            self.skipTest("the tiny model has a chat template")
        done = self.ok("run", "-m", LLAMA, "-p", "Hello", "-n", 2, "--json")
        self.assertIn("without a chat template", done.err)
        self.assertEqual(self.ok("run", "-m", LLAMA, "--raw", "-p", "Hello", "-n", 2, "--json").err, "")

    def test_logit_bias(self):
        words = ("run", "-m", LLAMA, "--ids", "1,2", "-n", 2, "--temp", 0, "--ignore-eos", "--json")
        self.assertEqual(self.ok(*words, "--logit-bias", "7=1000").json()["tokens"], [7, 7])
        first = self.ok(*words).json()["tokens"][0]
        self.assertNotIn(first, self.ok(*words, "--logit-bias", f"{first}=-inf").json()["tokens"])


class DefaultModel(harness.TestCase):
    def test_one_shot_is_one_user_turn(self):
        model = harness.default_model()
        words = ("run", "-m", model, "-p", "What is the capital of Portugal?", "-n", 60, "--temp", 0, "--json")
        answer = self.ok(*words).json()
        self.assertTrue(answer["text"].startswith("Portugal is a country in Europe"), answer["text"])
        raw = self.ok(*words, "--raw").json()
        self.assertLess(raw["prompt_tokens"], answer["prompt_tokens"])
        with_system = self.ok(*words, "--system", "You are a pirate.").json()
        self.assertNotEqual(with_system["prompt_tokens"], answer["prompt_tokens"])


class Logits(harness.TestCase):
    def rows(self, path, width):
        values = array.array("f", path.read_bytes())
        self.assertEqual(len(values) % width, 0)
        return [values[i : i + width] for i in range(0, len(values), width)]

    def test_last_row_and_all_rows(self):
        for prompt in harness.reference()["prompts"]:
            path = self.folder / "out.f32"
            words = ("logits", "-m", LLAMA, "-d", "cpu", "--ids", id_list(prompt["ids"]), "-o", path)
            done = self.ok(*words, "--json")
            self.assertEqual((done.json()["rows"], done.json()["vocabulary"]), (1, 1024))
            (last,) = self.rows(path, 1024)
            self.assertLess(max(abs(a - b) for a, b in zip(last, prompt["last_logits"], strict=True)), 2e-4)
            self.assertEqual(self.ok(*words, "--all", "--json").json()["rows"], len(prompt["ids"]))
            rows = self.rows(path, 1024)
            self.assertEqual([row.index(max(row)) for row in rows], prompt["argmax"])
            self.assertEqual(rows[-1], last)


class Bench(harness.TestCase):
    def test_json_list(self):
        rows = self.ok("bench", "-m", LLAMA, "-p", "16,8", "-n", 4, "-r", 2, "-t", "1,2", "-d", "0,32", "--json").json()
        names = [row["test"] for row in rows]
        self.assertEqual(names, ["pp16", "pp8", "tg4", "pp16@d32", "pp8@d32", "tg4@d32"] * 2)
        self.assertEqual([row["threads"] for row in rows], [1] * 6 + [2] * 6)
        for row in rows:
            self.assertGreater(row["tokens_per_second"], 0)
            self.assertTrue(math.isfinite(row["stddev"]) and row["stddev"] >= 0)
            self.assertEqual(row["repetitions"], 2)
            self.assertIn("warmup", row["phases"])

    def test_d_takes_a_device_too_and_the_table_is_for_people(self):
        done = self.ok("bench", "-m", LLAMA, "-p", 8, "-n", 0, "-r", 1, "-d", "cpu", "-d", "16")
        self.assertRegex(done.out, r"(?m)^pp8@d16 +cpu .* \+- ")
        self.assertEqual(done.err, "")


class Perplexity(harness.TestCase):
    def test_json(self):
        text = MODELS.parent / "text" / "alice.txt"
        head = self.folder / "head.txt"
        head.write_bytes(text.read_bytes()[:3000])
        answer = self.ok("perplexity", "-m", LLAMA, "--file", head, "-c", 64, "--json").json()
        tokens = len(self.ok("tokenize", "-m", LLAMA, "--file", head, "--json").json()["ids"])
        self.assertEqual(answer["chunks"], tokens // 64)
        self.assertEqual(answer["scored_tokens"], answer["chunks"] * 31)
        self.assertGreater(answer["perplexity"], 1)
        self.assertGreater(answer["error"], 0)

    def test_it_is_what_the_logits_say(self):
        """One chunk, by hand from `candor logits --all`."""
        ids = (harness.reference()["prompts"][2]["ids"] * 2)[:32]
        text = self.folder / "text"
        vocabulary = self.ok("inspect", "-m", LLAMA, "--metadata", "--full", "--json").json()["metadata"]
        text.write_text("the quick brown fox jumps over the lazy dog and runs away from it " * 2)
        ids = self.ok("tokenize", "-m", LLAMA, "--file", text, "--json").json()["ids"][:32]
        if vocabulary.get("tokenizer.ggml.add_bos_token"):
            ids[0] = vocabulary["tokenizer.ggml.bos_token_id"]
        path = self.folder / "out"
        self.ok("logits", "-m", LLAMA, "--ids", id_list(ids), "--all", "-o", path)
        values = array.array("f", path.read_bytes())
        nll = []
        for position in range(16, 31):
            row = values[position * 1024 : (position + 1) * 1024]
            top = max(row)
            nll.append(top + math.log(sum(math.exp(x - top) for x in row)) - row[ids[position + 1]])
        count = len(self.ok("tokenize", "-m", LLAMA, "--file", text, "--json").json()["ids"])
        self.assertTrue(32 <= count < 64, count)
        answer = self.ok("perplexity", "-m", LLAMA, "--file", text, "-c", 32, "--json").json()
        self.assertAlmostEqual(answer["perplexity"] / math.exp(sum(nll) / 15), 1, places=5)


class Inspect(harness.TestCase):
    def test_json_sections(self):
        whole = self.ok("inspect", "-m", LLAMA, "--json").json()
        self.assertEqual(whole["metadata"]["general.architecture"], "llama")
        self.assertEqual(whole["metadata"]["tokenizer.ggml.tokens"]["count"], 1024)
        self.assertTrue(any(t["name"] == "token_embd.weight" and t["dtype"] == "F32" and t["shape"] == [128, 1024] for t in whole["tensors"]))
        self.assertGreater(whole["memory"]["total"], whole["memory"]["weights"])
        alone = self.ok("inspect", "-m", LLAMA, "--memory", "-c", 100, "--json").json()
        self.assertNotIn("tensors", alone)
        self.assertLess(alone["memory"]["kv_full"], whole["memory"]["kv_full"])

    def test_text_and_plan(self):
        out = self.ok("inspect", "-m", LLAMA).out
        for part in ("general.architecture", "token_embd.weight", "memory:"):
            self.assertIn(part, out)
        self.assertGreater(len(self.ok("inspect", "-m", LLAMA, "--plan").out.splitlines()), 10)


class Devices(harness.TestCase):
    def test_json_and_text(self):
        answer = self.ok("devices", "--json").json()
        (cpu,) = [device for device in answer["devices"] if device["kind"] == "cpu"]
        self.assertGreaterEqual(cpu["cores"], 1)
        self.assertGreater(cpu["memory_total"], 0)
        self.assertTrue(cpu["isa_levels"]["scalar"])
        self.assertTrue(cpu["isa_levels"][cpu["isa"]])
        listed = {device["kind"] for device in answer["devices"]} | {row["kind"] for row in answer["unavailable"]}
        self.assertEqual(listed, {"cpu", "vulkan", "cuda"})
        self.assertIn(cpu["name"], self.ok("devices").out)


if __name__ == "__main__":
    harness.main()
