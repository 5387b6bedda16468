"""The chat in a pseudo-terminal: commands, history, Ctrl-C; and Ctrl-C of a one-shot run."""

import ctypes
import os
import signal
import subprocess
import time

import harness
from harness import LLAMA
from terminal import CTRL_C, CTRL_D, TIMEOUT, Terminal

TGKILL = {"x86_64": 234, "aarch64": 131}[os.uname().machine]  # the system call's number
PROMPT = r"(?m)^> "


class CompletionMode(harness.TestCase):
    """A base model refuses to chat and offers to continue lines."""

    def open(self, *words):
        return Terminal("run", "-m", LLAMA, "-n", "8", "--temp", "0", *words)

    def setUp(self):
        super().setUp()
        if "tokenizer.chat_template" in self.ok("inspect", "-m", LLAMA, "--metadata", "--json").json()["metadata"]:
            self.skipTest("the tiny model has a chat template")

    def test_says_so_and_continues_lines(self):
        terminal = self.open()
        greeting = terminal.read_until(PROMPT)
        self.assertIn("cannot chat", greeting)
        self.assertIn("Completion mode", greeting)
        terminal.say("Hello world")
        terminal.read_until(PROMPT)
        terminal.say("/stats")
        self.assertIn("placement: cpu", terminal.read_until(PROMPT))
        terminal.say("/exit")
        self.assertEqual(terminal.end(), 0)

    def test_unknown_command_has_a_suggestion(self):
        terminal = self.open()
        terminal.read_until(PROMPT)
        terminal.say("/stat")
        self.assertIn("did you mean '/stats'?", terminal.read_until(PROMPT))
        terminal.say("/help")
        self.assertIn("/clear", terminal.read_until(PROMPT))
        terminal.press(CTRL_D)
        self.assertEqual(terminal.end(), 0)

    def test_ctrl_c_at_the_prompt_leaves(self):
        terminal = self.open()
        terminal.read_until(PROMPT)
        terminal.press(CTRL_C)
        self.assertEqual(terminal.end(), 7)

    def test_an_interrupt_that_another_thread_receives_leaves_too(self):
        terminal = self.open("-t", "2")
        terminal.read_until(PROMPT)
        threads = [int(name) for name in os.listdir(f"/proc/{terminal.process.pid}/task")]
        other = max(thread for thread in threads if thread != terminal.process.pid)
        ctypes.CDLL(None).syscall(TGKILL, terminal.process.pid, other, signal.SIGINT)
        self.assertEqual(terminal.end(), 7)

    def test_json_is_refused(self):
        terminal = self.open("--json")
        self.assertIn("--json", terminal.read_until("no JSON"))
        self.assertEqual(terminal.end(), 2)


class Chat(harness.TestCase):
    def open(self, *words):
        return Terminal("run", "-m", harness.default_model(), "--temp", "0", *words)

    def test_history_clear_system_and_several_lines(self):
        terminal = self.open("-n", "60")
        self.assertIn("/help", terminal.read_until(PROMPT))
        terminal.say("My name is Zebulon. Please remember it.")
        terminal.read_until(PROMPT)
        terminal.say("What is my name? \\")
        terminal.read_until(r"(?m)^\. ")
        terminal.say("Answer with the name alone.")
        terminal.read_until(r"alone\.\s*")
        self.assertIn("Zebulon", terminal.read_until(PROMPT))
        terminal.say("/stats")
        self.assertRegex(terminal.read_until(PROMPT), r"reply: \d+ prompt tokens")
        terminal.say("/clear")
        self.assertIn("forgotten", terminal.read_until(PROMPT))
        terminal.say("What is my name?")
        terminal.read_until(r"name\?\s*")
        self.assertNotIn("Zebulon", terminal.read_until(PROMPT))
        terminal.say("/system You answer in French.")
        self.assertIn("forgotten", terminal.read_until(PROMPT))
        terminal.say("/exit")
        self.assertEqual(terminal.end(), 0)

    def test_ctrl_c_ends_the_reply_and_the_chat_goes_on(self):
        terminal = self.open("--ignore-eos")
        terminal.read_until(PROMPT)
        terminal.say("Count from one to one thousand.")
        terminal.read_until(r"thousand\.\s+\S+ ")
        terminal.press(CTRL_C)
        self.assertIn("[cancelled]", terminal.read_until(PROMPT))
        terminal.say("/exit")
        self.assertEqual(terminal.end(), 0)

    def test_a_full_context_says_what_to_do(self):
        terminal = self.open("--ignore-eos", "-c", "64")
        terminal.read_until(PROMPT)
        terminal.say("Hi")
        self.assertRegex(terminal.read_until(PROMPT), r"\[context\].*64 tokens is full.*/clear.*-c")
        terminal.say("Go on")
        self.assertIn("/clear", terminal.read_until(PROMPT))
        terminal.say("/clear")
        terminal.read_until(PROMPT)
        terminal.say("Hi")
        self.assertIn("[context]", terminal.read_until(PROMPT))
        terminal.press(CTRL_D)
        self.assertEqual(terminal.end(), 0)


class OneShot(harness.TestCase):
    def test_ctrl_c_prints_what_there_is_and_exits_with_7(self):
        command = [harness.settings.candor, "run", "-m", str(harness.default_model()), "-p", "Count.", "--ignore-eos", "--temp", "0"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 7, err)
        self.assertTrue((first + out).endswith(b"\n"))
        self.assertIn(b"cancelled", err)


if __name__ == "__main__":
    harness.main()
