"""Bad input at the command line: one clear sentence, the right exit code, nothing half-done left behind."""

import os
import re
import shutil
import struct
import subprocess

import harness
from harness import LLAMA, run

OK_RUN = ("-n", 1, "--temp", 0)


class Usage(harness.TestCase):
    def test_unknown_commands_and_flags_with_a_suggestion(self):
        self.check_fails(run("rum"), 2, "unknown command 'rum'", "did you mean 'run'?")
        self.check_fails(run("tokenise", "-m", "x"), 2, "did you mean 'tokenize'?")
        self.check_fails(run("xyzzy"), 2, "unknown command 'xyzzy'")
        self.check_fails(run("--versoin"), 2, "did you mean '--version'?")
        self.check_fails(run("run", "--modle", LLAMA), 2, "unknown flag '--modle'", "did you mean '--model'?")
        self.check_fails(run("run", "-m", LLAMA, "--tempp=0", "-p", "x"), 2, "did you mean '--temp'?")
        self.check_fails(run("run", "-m", LLAMA, "--max-token", "5"), 2, "did you mean '--max-tokens'?")
        self.check_fails(run("bench", "-m", LLAMA, "--jsno"), 2, "did you mean '--json'?")
        self.check_fails(run("run", "-m", LLAMA, "Hello"), 2, "unexpected argument 'Hello'")

    def test_a_suggestion_names_only_flags_that_the_command_has(self):
        for command in ("run", "bench", "inspect", "tokenize", "logits", "perplexity", "devices"):
            known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", self.ok(command, "--help").out))
            for flag in ("--temps", "--tmep", "--al", "--promt", "--outptu", "--treads", "--ctx", "--fil", "--depht", "--pln", "--retry", "--h"):
                with self.subTest(command=command, flag=flag):
                    done = run(command, flag)
                    self.check_fails(done, 2, f"unknown flag '{flag}'")
                    for suggested in re.findall(r"did you mean '(.*)'", done.err):
                        self.assertIn(suggested, known)

    def test_a_flag_of_another_command_says_which(self):
        self.check_fails(run("bench", "-m", LLAMA, "--temp", 0), 2, "unknown flag '--temp'; candor run has it")
        self.check_fails(run("run", "-m", LLAMA, "--all"), 2, "unknown flag '--all'; candor logits has it")
        self.check_fails(run("bench", "-m", LLAMA, "-oout"), 2, "unknown flag '-o'; candor logits has it")
        self.check_fails(run("inspect", "-m", LLAMA, "--prompt=x"), 2, "unknown flag '--prompt'; candor run has it")
        self.check_fails(run("inspect", "-m", LLAMA, "-p", "x"), 2, "candor run or candor bench has it")

    def test_words_around_the_command(self):
        self.check_fails(run("-m", LLAMA, "run"), 2, "expected a command before '-m'")
        self.check_fails(run("RUN"), 2, "did you mean 'run'?")
        self.check_fails(run("help"), 2, "candor --help")
        self.check_fails(run(""), 2, "unknown command ''")
        done = run("run", "-m", LLAMA, "-p", "x", "--", "bench")
        self.check_fails(done, 2, "candor run: unexpected argument 'bench'")

    def test_missing_and_repeated_values(self):
        self.check_fails(run("run", "-m"), 2, "--model: expected a value (FILE), got none")
        self.check_fails(run("run", "-m", LLAMA, "--ids"), 2, "--ids: expected a value (1,2,3), got none")
        self.check_fails(run("run", "-m", LLAMA, "-p", "x", "-n", 1, "-n", 2), 2, "-n/--max-tokens: expected once, got 2 times")
        self.check_fails(run("run", "-m", LLAMA, "-p", "x", "-m", LLAMA), 2, "-m/--model: expected once, got 2 times")
        self.check_fails(run("run", "-m", LLAMA, "-p", "x", "--json=5"), 2, "--json: expected no value, got one")
        for flag in ("--file", "--report"):
            self.check_fails(run("run", "-m", LLAMA, flag, ""), 2, f"{flag}: expected a path, got an empty one")

    def test_flags_that_contradict_each_other(self):
        bench = ("bench", "-m", LLAMA, "-p", 1, "-n", 0, "-r", 1)
        self.check_fails(run(*bench, "-d", "cpu", "--device", "vulkan"), 2, "expected one device, got 'cpu' and 'vulkan'")
        self.check_fails(run(*bench, "-d", "cpu", "-d", "cuda"), 2, "expected one device")
        self.check_fails(run(*bench, "-d", 1, "--depth", 2), 2, "-d/--depth", "twice")
        for depth in ("-5", "1.5", "", "+1"):
            self.check_fails(run(*bench, "-d", depth), 2, "-d/--depth: expected whole numbers")
        self.check_fails(run("inspect", "-m", LLAMA, "--plan", "--memory"), 2, "--plan: expected it alone")

    def test_no_command(self):
        done = run()
        self.assertEqual(done.code, 2)
        self.assertEqual(done.out, "")
        self.assertIn("expected a command", done.err)

    def test_values_out_of_range(self):
        run_it = ("run", "-m", LLAMA, "-p", "x")
        for flag, value in (
            ("-n", "-2"), ("-n", "-5"), ("-n", "1.5"), ("-n", "x"), ("-n", ""), ("-n", "99999999999999999999"),
            ("--temp", "nan"), ("--temp", "-1"), ("--temp", "inf"), ("--temp", "warm"), ("--top-k", "-1"), ("--top-p", "1.5"), ("--top-p", "nan"),
            ("--min-p", "2"), ("--seed", "-1"), ("--repeat-penalty", "0"), ("--presence-penalty", "nan"), ("--penalty-last-n", "-2"),
            ("--logit-bias", "5"), ("--logit-bias", "5=nan"), ("--logit-bias", "x=1"), ("--stop", ""),
            ("-c", "0"), ("-c", "-4"), ("-t", "0"), ("-t", "-1"), ("-t", "100000"), ("--prefill-chunk", "0"), ("--cpu-isa", "sse9"),
            ("--kv-type", "q4"),
        ):  # fmt: skip
            with self.subTest(flag=flag, value=value):
                self.check_fails(run(*run_it, flag, value), 2)
        self.check_fails(run(*run_it, "--logit-bias", "1024=1"), 2, "0 to 1023", "1024")
        self.check_fails(run(*run_it, "-n"), 2)
        self.check_fails(run(*run_it, "-n", 1, "-n", 2), 2)

    def test_prompts_that_are_none_or_two(self):
        self.check_fails(run("run", "-m", LLAMA, "-p", ""), 2, "empty")
        self.check_fails(run("run", "-m", LLAMA), 2, "empty")  # stdin is an empty pipe
        empty = self.folder / "empty"
        empty.touch()
        self.check_fails(run("run", "-m", LLAMA, "--file", empty), 2, "empty")
        self.check_fails(run("run", "-m", LLAMA, "-p", "x", "--ids", "1"), 2, "one of")
        self.check_fails(run("run", "-m", LLAMA, "--ids", "1", "--system", "x"), 2, "--system")
        self.check_fails(run("run", "-m", LLAMA, "--file", self.folder / "absent"), 1, "absent")
        self.check_fails(run("run", "-m", LLAMA, "--file", self.folder), 1)
        self.check_fails(run("tokenize", "-m", LLAMA, "--text", "x", "--file", empty), 2, "both")

    def test_token_ids(self):
        for command in (("run",), ("logits", "-o", self.folder / "out")):
            for ids in ("", ",", "1,,2", "1 2", "x", "-1", "1024", "1,99999", "2147483648", "1.0"):
                with self.subTest(command=command[0], ids=ids):
                    self.check_fails(run(*command, "-m", LLAMA, "--ids", ids), 2)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_a_command_needs(self):
        for command in ("run", "bench", "inspect", "tokenize", "logits", "perplexity"):
            words = {"tokenize": ("--text", "x"), "logits": ("--ids", "1", "-o", self.folder / "o"), "run": ("-p", "x")}.get(command, ())
            with self.subTest(command=command):
                self.check_fails(run(command, *words), 2, "-m")
        self.check_fails(run("logits", "-m", LLAMA, "--ids", "1"), 2, "-o")
        self.check_fails(run("logits", "-m", LLAMA, "-o", self.folder / "o"), 2, "--ids")
        self.check_fails(run("bench", "-m", LLAMA, "-p", 0, "-n", 0), 2)
        self.check_fails(run("bench", "-m", LLAMA, "-t", "1,,2"), 2)
        self.check_fails(run("bench", "-m", LLAMA, "-p", "-5"), 2)


# Without this, Mesa's software adapter would be there, and is allowed by name.
NO_VULKAN = os.environ | {"VK_DRIVER_FILES": "/nowhere/icd.json"}


class Device(harness.TestCase):
    def test_a_backend_that_is_not_there_is_never_replaced(self):
        for device in ("vulkan", "vulkan:0", "cuda", "cuda:1"):
            for words in (("run", "-p", "x"), ("logits", "--ids", "1", "-o", self.folder / "o"), ("bench", "-r", 1), ("perplexity", "--file", LLAMA)):
                with self.subTest(device=device, command=words[0]):
                    flag = "--device" if words[0] == "bench" else "-d"
                    done = run(*words, "-m", LLAMA, flag, device, "--allow-software-adapter", env=NO_VULKAN)
                    self.check_fails(done, 3, device.split(":")[0])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_unknown_device(self):
        self.check_fails(run("run", "-m", LLAMA, "-p", "x", "-d", "tpu"), 2, "tpu")

    def test_an_isa_that_cannot_run_here(self):
        levels = self.ok("devices", "--json").json()["devices"][0]["isa_levels"]
        missing = [name for name, there in levels.items() if not there]
        if not missing:
            self.skipTest("every ISA runs here")
        for isa in missing:
            self.check_fails(run("run", "-m", LLAMA, "-p", "x", "--cpu-isa", isa), 3, isa)


class ModelFile(harness.TestCase):
    def check_everywhere(self, path, *parts):
        """Each command that opens a model refuses it alike."""
        out = self.folder / "out"
        for words in (
            ("run", "-p", "x"), ("bench", "-r", 1, "-p", 4, "-n", 0), ("inspect",), ("tokenize", "--text", "x"), ("logits", "--ids", "1", "-o", out),
            ("perplexity", "--file", __file__),
        ):  # fmt: skip
            with self.subTest(command=words[0]):
                self.check_fails(run(*words, "-m", path), 4, *parts)
        self.assertFalse(out.exists())

    def test_absent_directory_and_empty(self):
        self.check_everywhere(self.folder / "absent.gguf", "absent.gguf")
        self.check_everywhere(self.folder, "directory")
        empty = self.folder / "empty.gguf"
        empty.touch()
        self.check_everywhere(empty, "empty.gguf")

    def test_not_a_model(self):
        path = self.folder / "text.gguf"
        path.write_text("hello " * 1000)
        self.check_everywhere(path, "text.gguf")

    def test_no_permission(self):
        path = self.folder / "secret.gguf"
        shutil.copy(LLAMA, path)
        path.chmod(0)
        if os.access(path, os.R_OK):
            self.skipTest("this user may read everything")
        self.check_everywhere(path, "secret.gguf")

    def test_truncated(self):
        whole = LLAMA.read_bytes()
        path = self.folder / "cut.gguf"
        for size in (1, 4, 23, 24, 1000, 20000, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            with self.subTest(size=size):
                self.check_fails(run("run", "-m", path, "-p", "x", *OK_RUN), 4, "cut.gguf")

    def test_unknown_architecture(self):
        path = self.folder / "odd.gguf"
        data = LLAMA.read_bytes()
        key = b"general.architecture" + struct.pack("<IQ", 8, 5)
        self.assertIn(key + b"llama", data)
        path.write_bytes(data.replace(key + b"llama", key + b"lemma"))
        self.check_fails(run("run", "-m", path, "-p", "x"), 4, "lemma")
        shown = self.ok("inspect", "-m", path, "--json").json()
        self.assertIsNone(shown["memory"])
        self.assertIn("lemma", shown["memory_error"])

    def test_nan_weights(self):
        """All weights of the file's second half: the logits cannot be numbers."""
        data = bytearray(LLAMA.read_bytes())
        half = len(data) // 2 // 4 * 4
        data[half:] = struct.pack("<f", float("nan")) * ((len(data) - half) // 4)
        path = self.folder / "nan.gguf"
        path.write_bytes(data)
        for words in (("-p", "x", "--temp", 0), ("-p", "x"), ("--ids", "1,2", "-n", 4)):
            self.check_fails(run("run", "-m", path, "--raw" if "-p" in words else "--stats", *words), 4)

    def test_a_path_with_spaces_works(self):
        path = self.folder / "a model with spaces.gguf"
        shutil.copy(LLAMA, path)
        self.ok("run", "-m", path, "--ids", "1", *OK_RUN)
        self.ok("inspect", "-m", path, "--json")


class Context(harness.TestCase):
    def test_prompt_longer_than_the_context_names_both_numbers(self):
        ids = harness.id_list([1] * 30)
        self.check_fails(run("run", "-m", LLAMA, "--ids", ids, "-c", 20), 1, "20", "30")
        self.check_fails(run("logits", "-m", LLAMA, "--ids", ids, "-c", 20, "-o", self.folder / "o"), 1, "20", "30")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_more_context_than_trained_is_usage(self):
        self.check_fails(run("run", "-m", LLAMA, "-p", "x", "-c", 513), 2, "512", "513")
        self.check_fails(run("perplexity", "-m", LLAMA, "--file", __file__, "-c", 100000), 2, "512")
        done = run("bench", "-m", LLAMA, "-p", 600, "-n", 0, "--json")
        self.check_fails(done, 2, "512", "600")

    def test_perplexity_of_too_short_a_text(self):
        path = self.folder / "short"
        path.write_text("hello")
        self.check_fails(run("perplexity", "-m", LLAMA, "--file", path), 2, "512")
        self.check_fails(run("perplexity", "-m", LLAMA, "--file", path, "-c", 2), 2)


class Output(harness.TestCase):
    def test_unwritable_output(self):
        logits = ("logits", "-m", LLAMA, "--ids", "1,2", "-o")
        self.check_fails(run(*logits, self.folder / "no" / "such" / "folder"), 1, "folder")
        self.check_fails(run(*logits, self.folder), 1, "directory")
        self.check_fails(run(*logits, ""), 2)
        self.check_fails(run(*logits, "/dev/full"), 1, "No space left")
        self.check_fails(run("run", "-m", LLAMA, "--ids", "1", "--report", self.folder / "no" / "r", *OK_RUN), 1, "no/r")

    def test_full_disk_leaves_no_half_file(self):
        """A file size limit stands in for a full disk."""
        path = self.folder / "out.f32"
        shell = f'trap "" XFSZ; ulimit -f 8; exec "{harness.settings.candor}" logits -m "{LLAMA}" --ids 1,2,3,4,5 --all -o "{path}"'
        done = harness.Done(subprocess.run(["bash", "-c", shell], capture_output=True, timeout=harness.LIMIT_SECONDS, check=False))
        self.check_fails(done, 1, "out.f32", "File too large")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_failed_run_keeps_the_old_file(self):
        path = self.folder / "out.f32"
        path.write_bytes(b"old")
        self.check_fails(run("logits", "-m", LLAMA, "--ids", "1,5000", "-o", path), 2)
        self.assertEqual(path.read_bytes(), b"old")


class Memory(harness.TestCase):
    def test_too_little_memory_is_seen_before_it_is_taken(self):
        if "ASAN_OPTIONS" in os.environ:
            self.skipTest("the address sanitizer needs more address space than any limit leaves")
        shell = f'ulimit -v 60000; exec "{harness.settings.candor}" run -m "{LLAMA}" --ids 1 -n 1'
        done = harness.Done(subprocess.run(["bash", "-c", shell], capture_output=True, timeout=harness.LIMIT_SECONDS, check=False))
        if done.code == 0:
            self.skipTest("it fits")
        self.check_fails(done, 5)


if __name__ == "__main__":
    harness.main()
