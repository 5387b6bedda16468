"""Standard streams, output files and signals: whatever happens to them, one sentence, the right exit code, nothing half-done left behind."""

import fcntl
import os
import pathlib
import resource
import signal
import subprocess
import time

import harness
from harness import LLAMA, id_list, run
from terminal import Terminal

TEXT = harness.TESTS / "text" / "alice.txt"


def start(*words, **options):
    command = [harness.settings.candor, *map(str, words)]
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)


class Stdout(harness.TestCase):
    def test_closed_reader_is_a_clean_error(self):
        process = subprocess.Popen(
            [harness.settings.candor, "run", "-m", LLAMA, "--ids", "1,2", "-n", "400", "--ignore-eos"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.stdout.close()
        err = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(harness.LIMIT_SECONDS), 1, err)
        self.assertIn("stdout: cannot write", err)

    def test_closed_stdout_is_not_taken_by_another_file(self):
        path = self.folder / "out.f32"
        shell = f'"{harness.settings.candor}" logits -m "{LLAMA}" --ids 1,2 -o "{path}" >&-'
        done = subprocess.run(["bash", "-c", shell], stderr=subprocess.PIPE, timeout=harness.LIMIT_SECONDS, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(path.stat().st_size, 4096)

    def every_command(self):
        """What each command prints, as JSON where it has it."""
        return (
            ("--help",), ("run", "--help"), ("--version",), ("devices", "--json"), ("inspect", "-m", LLAMA, "--json"), ("inspect", "-m", LLAMA),
            ("run", "-m", LLAMA, "--ids", "1,2", "-n", 4, "--json"), ("run", "-m", LLAMA, "--ids", "1,2", "-n", 4),
            ("bench", "-m", LLAMA, "-p", 4, "-n", 2, "-r", 1, "--json"), ("bench", "-m", LLAMA, "-p", 4, "-n", 2, "-r", 1),
            ("tokenize", "-m", LLAMA, "--text", "x", "--json"), ("tokenize", "-m", LLAMA, "--text", "x"),
            ("logits", "-m", LLAMA, "--ids", 1, "-o", self.folder / "out", "--json"), ("logits", "-m", LLAMA, "--ids", 1, "-o", "-"),
            ("perplexity", "-m", LLAMA, "--file", __file__, "-c", 8, "--json"),
        )  # fmt: skip

    def test_full_closed_and_abandoned(self):
        for words in self.every_command():
            with self.subTest(words=words):
                with open("/dev/full", "wb") as full:
                    self.check_fails(run(*words, stdout=full), 1, "stdout: cannot write: No space left")
                self.check_fails(run(*words, stdout=None, preexec_fn=lambda: os.close(1)), 1, "stdout: cannot write", "closed")
                reader, writer = os.pipe()
                os.close(reader)
                done = run(*words, stdout=writer)
                os.close(writer)
                self.check_fails(done, 1, "stdout: cannot write: Broken pipe")

    def test_limit_on_file_sizes(self):
        """SIGXFSZ ends a program that does not ignore it."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
        with open(self.folder / "out", "wb") as out:
            self.check_fails(run("inspect", "-m", LLAMA, "--full", stdout=out, preexec_fn=limit), 1, "File too large", "ulimit -f")


class LogitsToStdout(harness.TestCase):
    def test_the_same_bytes_as_a_file(self):
        path = self.folder / "out"
        for words in ((), ("--all",)):
            logits = ("logits", "-m", LLAMA, "--ids", "1,2,3", *words, "-o")
            self.ok(*logits, path)
            done = subprocess.run([harness.settings.candor, *map(str, logits), "-"], capture_output=True, timeout=harness.LIMIT_SECONDS, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, path.read_bytes()), done.stderr)
            self.assertRegex(done.stderr.decode(), r"^stdout: [13] x 1024 float32\n$")
        self.assertFalse(pathlib.Path("-").exists())

    def test_not_with_json_and_not_on_a_terminal(self):
        self.check_fails(run("logits", "-m", LLAMA, "--ids", 1, "-o", "-", "--json"), 2, "--json: expected a file after -o")
        self.check_fails(run("run", "-m", LLAMA, "--ids", 1, "--report", "-"), 2, "--report: expected a file")
        terminal = Terminal("logits", "-m", LLAMA, "--ids", 1, "-o", "-")
        self.assertIn("got a terminal", terminal.read_until("name a file\r\n"))
        self.assertEqual(terminal.end(), 1)


class OutputFiles(harness.TestCase):
    def test_limit_on_file_sizes_leaves_nothing(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
        path = self.folder / "out"
        self.check_fails(run("logits", "-m", LLAMA, "--ids", 1, "-o", path, preexec_fn=limit), 1, "File too large")
        self.check_fails(run("run", "-m", LLAMA, "--ids", 1, "-n", 1, "--json", "--report", path, preexec_fn=limit), 1, "File too large")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_killed_in_the_middle_leaves_nothing(self):
        process = start("logits", "-m", LLAMA, "--ids", id_list([1] * 512), "--all", "-t", 1, "-o", self.folder / "out")
        self.addCleanup(process.communicate)
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline and not self.writes_in(process.pid):
            time.sleep(0.0005)
        process.kill()
        process.wait()
        self.assertIn([file.name for file in self.folder.iterdir()], ([], ["out"]))

    def writes_in(self, pid):
        folder = pathlib.Path(f"/proc/{pid}/fd")
        try:
            return any(os.readlink(entry).startswith(str(self.folder)) for entry in folder.iterdir())
        except OSError:
            return False

    def test_a_missing_folder_is_told_before_the_run(self):
        done = run("run", "-m", self.folder / "absent.gguf", "--ids", 1, "--report", self.folder / "no" / "r")
        self.check_fails(done, 1, "no/r: cannot create: No such file or directory")


class Inputs(harness.TestCase):
    def test_what_is_no_text_file(self):
        for words in (("run",), ("tokenize",), ("perplexity",)):
            with self.subTest(command=words[0]):
                self.check_fails(run(*words, "-m", LLAMA, "--file", "/dev/zero"), 1, "/dev/zero: expected at most 64.0 MiB of text")
                self.check_fails(run(*words, "-m", LLAMA, "--file", self.folder), 1, "directory")
        self.check_fails(run("run", "-m", LLAMA, "--file", "/dev/null"), 2, "empty")

    def test_a_pipe_with_a_name_is_read_when_someone_writes(self):
        fifo = self.folder / "a pipe"
        os.mkfifo(fifo)
        command = [harness.settings.candor, "tokenize", "-m", str(LLAMA), "--file", str(fifo), "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(0.2)
            fifo.write_bytes(b"hello")
            out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(out, self.ok("tokenize", "-m", LLAMA, "--text", "hello", "--json").raw)

    def test_files_that_are_no_model(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for path in (fifo, "/dev/zero", "/dev/null"):
            for words in (("run", "-p", "x"), ("inspect",), ("tokenize", "--text", "x")):
                self.check_fails(run(*words, "-m", path), 4, "expected a regular file")


class Signals(harness.TestCase):
    """One signal, wherever it comes: exit code 7, one sentence, no file."""

    def check_cancelled(self, process, stop):
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "ended before the signal")
        process.send_signal(stop)
        err = process.stderr.read().decode()
        if process.stdout:
            process.stdout.close()
        process.stderr.close()
        self.assertEqual(process.wait(60), 7, err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        self.assertIn("cancelled", err)

    def test_each_signal_while_stdin_is_read(self):
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for words in (("run",), ("tokenize",), ("perplexity",)):
                with self.subTest(stop=stop, command=words[0]):
                    process = start(*words, "-m", LLAMA, stdin=subprocess.PIPE)
                    self.check_cancelled(process, stop)
                    process.stdin.close()

    def test_while_a_pipe_has_no_other_end(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.check_cancelled(start("run", "-m", LLAMA, "--file", fifo), signal.SIGINT)
        self.check_cancelled(start("logits", "-m", LLAMA, "--ids", 1, "-o", fifo), signal.SIGINT)

    def test_while_stdout_is_full(self):
        for words in (("logits", "-m", LLAMA, "--ids", id_list([1] * 100), "--all", "-o", "-"), ("inspect", "-m", LLAMA, "--full")):
            reader, writer = os.pipe()
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            self.check_cancelled(start(*words, stdout=writer), signal.SIGTERM)
            os.close(reader)
            os.close(writer)

    def test_while_it_computes(self):
        slow = ("-m", LLAMA, "-t", 1, "--cpu-isa", "scalar")
        self.check_cancelled(start("bench", *slow, "-p", 500, "-r", 1000), signal.SIGINT)
        self.check_cancelled(start("bench", *slow, "-p", 500, "-r", 1000, "--json"), signal.SIGTERM)
        self.check_cancelled(start("perplexity", *slow, "--file", TEXT), signal.SIGINT)

    def test_an_ignored_signal_stays_ignored(self):
        """As nohup and background jobs of scripts want it."""
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
        process = start("tokenize", "-m", LLAMA, "--json", stdin=subprocess.PIPE, preexec_fn=ignore)
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(b"hello", timeout=60)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertIn(b"ids", out)


if __name__ == "__main__":
    harness.main()
