"""A pseudo-terminal with the program in it, for the tests that type."""

import os
import re
import select
import subprocess
import time

import harness

TIMEOUT = 60


class Terminal:
    """The program with a terminal as stdin, stdout and stderr."""

    def __init__(self, *words):
        self.master, slave = harness.open_terminal()
        command = [harness.settings.candor, *map(str, words)]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=self.take_terminal)
        os.close(slave)
        self.seen = ""

    @staticmethod
    def take_terminal():
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read_until(self, pattern):
        """What was printed up to the end of the first match; it is taken off what was seen."""
        end = time.monotonic() + TIMEOUT
        while not (match := re.search(pattern, self.seen)):
            if time.monotonic() > end:
                raise AssertionError(f"waited for {pattern!r}, saw {self.seen!r}")
            if select.select([self.master], [], [], 0.5)[0]:
                try:
                    piece = os.read(self.master, 65536)
                except OSError:
                    piece = b""
                if not piece:
                    raise AssertionError(f"ended before {pattern!r}, saw {self.seen!r}")
                self.seen += piece.decode("utf-8", "replace")
        text, self.seen = self.seen[: match.end()], self.seen[match.end() :]
        return text

    def say(self, line):
        os.write(self.master, line.encode() + b"\n")

    def press(self, key):
        os.write(self.master, key)

    def end(self):
        code = self.process.wait(TIMEOUT)
        os.close(self.master)
        return code


CTRL_C, CTRL_D = b"\x03", b"\x04"
