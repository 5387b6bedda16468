"""The programs that are compared: how each is called, and what its output means."""

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

PROMPT_TOKENS, DECODE_TOKENS, CONTEXT = 512, 128, 2048


class ProgramFailed(Exception):
    """A program ended with an error or with output that makes no sense. The text says which and how."""


@dataclass
class Start:
    """One whole process that answers one prompt with one token."""

    seconds: float
    peak_rss: int  # bytes
    text: str


def run(command):
    """Runs a program to its end. Returns (standard output, seconds from start to exit, peak resident bytes)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if process.returncode != 0:
            tail = err.read().decode("utf-8", "replace")[-800:]
            raise ProgramFailed(f"{' '.join(command)}: expected exit code 0, got {process.returncode}:\n{tail}")
        return out.read().decode("utf-8", "replace"), seconds, usage.ru_maxrss * 1024


def _rate(value, command):
    if not isinstance(value, (int, float)) or not 0 < value < 1e7:
        raise ProgramFailed(f"{' '.join(command)}: expected tokens a second, got {value!r}")
    return float(value)


@dataclass
class Engine:
    """One program family. `flags` are added to every benchmark command."""

    name: str
    folder_or_binary: str
    flags: list = field(default_factory=list)

    def programs(self):
        raise NotImplementedError

    def version(self):
        raise NotImplementedError

    def missing(self):
        return [path for path in self.programs() if not os.access(path, os.X_OK)]

    def speed(self, model, threads):
        """{"pp512": tokens/s, "tg128": tokens/s} of one repetition after the program's own warm-up."""
        raise NotImplementedError

    def can_start(self):
        return True


class LlamaBench(Engine):
    """llama.cpp and its forks: `folder_or_binary` is the folder that holds llama-bench (and llama-completion)."""

    def _path(self, program):
        return os.path.join(self.folder_or_binary, program)

    def programs(self):
        return [self._path("llama-bench")]

    def version(self):
        if self.can_start():
            out = subprocess.run([self._path("llama-completion"), "--version"], capture_output=True, text=True, check=False)
            found = re.search(r"version: .*", out.stdout + out.stderr)
            if found:
                return found.group(0)
        return "unknown"

    def can_start(self):
        return os.access(self._path("llama-completion"), os.X_OK)

    def bench_command(self, model, threads):
        return [self._path("llama-bench"), "-m", model, "-t", str(threads), "-p", str(PROMPT_TOKENS), "-n", str(DECODE_TOKENS),
                "-r", "1", "-o", "json", *self.flags]  # fmt: skip

    def speed(self, model, threads):
        command = self.bench_command(model, threads)
        out, _, _ = run(command)
        try:
            rows = json.loads(out[out.index("["):])
            by_test = {("pp512" if row["n_gen"] == 0 else "tg128"): row["avg_ts"] for row in rows}
            return {test: _rate(by_test[test], command) for test in ("pp512", "tg128")}
        except (ValueError, KeyError) as error:
            raise ProgramFailed(f"{' '.join(command)}: expected two results as JSON, got {error}") from error

    def start_command(self, model, threads, prompt, tokens, warm_up=True):
        return [self._path("llama-completion"), "-m", model, "-t", str(threads), "-c", str(CONTEXT), "-n", str(tokens), "-p", prompt,
                "--temp", "0", "-no-cnv", "--no-display-prompt", *([] if warm_up else ["--no-warmup"])]  # fmt: skip

    def start(self, model, threads, prompt, tokens=1, warm_up=True):
        out, seconds, rss = run(self.start_command(model, threads, prompt, tokens, warm_up))
        return Start(seconds, rss, out.strip())


class Candor(Engine):
    """This project's release binary."""

    def programs(self):
        return [self.folder_or_binary]

    def version(self):
        out = subprocess.run([self.folder_or_binary, "--version"], capture_output=True, text=True, check=False)
        return out.stdout.strip() or "unknown"

    def bench_command(self, model, threads):
        return [self.folder_or_binary, "bench", "-m", model, "-d", "cpu", "-t", str(threads), "-p", str(PROMPT_TOKENS), "-n", str(DECODE_TOKENS),
                "-r", "1", "--json", *self.flags]  # fmt: skip

    def speed(self, model, threads):
        command = self.bench_command(model, threads)
        out, _, _ = run(command)
        try:
            by_test = {row["test"]: row["tokens_per_second"] for row in json.loads(out)}
            return {test: _rate(by_test[test], command) for test in ("pp512", "tg128")}
        except (ValueError, KeyError, TypeError) as error:
            raise ProgramFailed(f"{' '.join(command)}: expected pp512 and tg128 as JSON, got {error}") from error

    def start_command(self, model, threads, prompt, tokens):
        return [self.folder_or_binary, "run", "-m", model, "-d", "cpu", "-t", str(threads), "-c", str(CONTEXT), "-n", str(tokens), "--temp", "0",
                "--raw", "-p", prompt]  # fmt: skip

    def start(self, model, threads, prompt, tokens=1):
        out, seconds, rss = run(self.start_command(model, threads, prompt, tokens))
        return Start(seconds, rss, out.strip())
