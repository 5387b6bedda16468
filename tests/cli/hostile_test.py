"""Names, values and texts from files and users reach a terminal as text on one line, never as commands to it."""

import os
import shutil

import harness
from harness import LLAMA, run
from terminal import Terminal

# What a hostile name may hold: a new line, a colour, "clear the screen" as one character of C1, a byte that is no UTF-8.
HOSTILE = b"a\nb\x1b[31m\xc2\x9b2J\r\x7f\xff"


class Hostile(harness.TestCase):
    def check_escaped(self, text):
        for c in text:
            self.assertFalse(ord(c) < 0x20 and c not in "\n" or 0x7F <= ord(c) < 0xA0 or c == "\ufffd", ascii(text))

    def check_one_line(self, code, *words):
        done = run(*words)
        self.check_fails(done, code)
        self.check_escaped(done.err)

    def test_values(self):
        path = os.fsencode(self.folder) + b"/none/" + HOSTILE
        with_prompt = ("run", "-m", LLAMA, "-p", "x")
        for code, words in (
            (2, (HOSTILE,)), (2, (b"--" + HOSTILE,)), (2, (*with_prompt, HOSTILE)), (2, (*with_prompt, b"--fi" + HOSTILE)),
            (2, (*with_prompt, "-n", HOSTILE)), (2, (*with_prompt, "-d", HOSTILE)), (3, (*with_prompt, "-d", b"vulkan:" + HOSTILE)),
            (2, (*with_prompt, "--kv-type", HOSTILE)), (2, (*with_prompt, "--cpu-isa", HOSTILE)), (2, (*with_prompt, "--precision", HOSTILE)),
            (2, (*with_prompt, "--logit-bias", HOSTILE)), (2, (*with_prompt, "--temp", HOSTILE)), (2, ("run", "-m", LLAMA, "--ids", HOSTILE)),
            (1, (*with_prompt, "--report", path)), (1, ("run", "-m", LLAMA, "--file", path)), (4, ("run", "-m", path, "-p", "x")),
            (1, ("logits", "-m", LLAMA, "--ids", 1, "-o", path)), (2, ("bench", "-m", LLAMA, "-d", HOSTILE)), (2, ("bench", "-m", LLAMA, "-p", HOSTILE)),
        ):  # fmt: skip
            with self.subTest(words=words):
                self.check_one_line(code, *words)

    def hostile_model(self, old, new):
        """The tiny model with every `old` replaced; both are of one length, so that the file stays whole."""
        self.assertEqual(len(old), len(new))
        data = LLAMA.read_bytes()
        self.assertIn(old, data)
        path = os.fsencode(self.folder) + b"/" + HOSTILE + b".gguf"
        with open(path, "wb") as file:
            file.write(data.replace(old, new))
        return path

    def test_a_models_path_in_what_is_printed(self):
        path = os.fsencode(self.folder) + b"/" + HOSTILE + b".gguf"
        shutil.copy(LLAMA, path)
        self.check_one_line(2, "run", "-m", path, "-p", "x", "-c", 9999)
        out = self.ok("inspect", "-m", path, "--memory").out
        self.check_escaped(out)
        self.assertEqual(len(out.splitlines()), 3)
        output = os.fsencode(self.folder) + b"/out" + HOSTILE
        done = self.ok("logits", "-m", path, "--ids", 1, "-o", output)
        self.check_escaped(done.out)
        self.assertEqual(len(done.out.splitlines()), 1)
        self.check_escaped(self.ok("run", "-m", path, "--ids", 1, "-n", 1, "--stats").err)

    def test_names_in_a_file(self):
        """Keys and tensors with control characters are a damaged file."""
        for old, new in ((b"general.name", b"\x1b[2J\n\xc2\x9b.nam\xff"), (b"output_norm.weight", b"output\x1b[2J\xc2\x9b\n\x7feigh")):
            path = self.hostile_model(old, new)
            for words in (("inspect",), ("inspect", "--json"), ("run", "-p", "x")):
                self.check_one_line(4, *words, "-m", path)

    def test_values_in_a_file(self):
        for old, new in (
            (b"705K", b"\x1b[2J"), (b"705K", b"\xc2\x9b\xff\n"), (b"general.name", b"gener\xc2\x9b2Jnam"), (b"gpt2", b"\x1b[2J"), (b"gpt-2", b"\x1b[2J\n"),
            (b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0\x1b[2J\n"),
        ):  # fmt: skip
            path = self.hostile_model(old, new)
            with self.subTest(old=old, new=new):
                for words in ((), ("--json",), ("--full",)):
                    done = run("inspect", "-m", path, *words)
                    self.check_escaped(done.out.replace("\ufffd", "") + done.err)  # in JSON what is no UTF-8 becomes U+FFFD
                    self.assertIn(done.code, (0, 4))
                done = run("run", "-m", path, "-p", "x", "-n", 0)
                self.check_escaped(done.err)
                self.assertEqual(len(done.err.splitlines()), 1)

    def test_a_reply_on_a_terminal(self):
        (escape,) = self.ok("tokenize", "-m", LLAMA, "--text", "\x1b", "--json").json()["ids"]
        reply = ("run", "-m", LLAMA, "--ids", 1, "-n", 3, "--temp", 0, "--logit-bias", f"{escape}=1000")
        self.assertEqual(self.ok(*reply).out, "\x1b\x1b\x1b\n")  # into a pipe: as it is
        terminal = Terminal(*reply)
        self.assertEqual(terminal.read_until("\n"), "\\x1b\\x1b\\x1b\r\n")
        self.assertEqual(terminal.end(), 0)


if __name__ == "__main__":
    harness.main()
