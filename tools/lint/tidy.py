#!/usr/bin/env python3
"""Runs clang-tidy over src/ with a build's compile_commands.json; tidy.py [--jobs N] [--seconds N]. Exit code 1 if it finds anything.

A file that passed is remembered (${XDG_CACHE_HOME:-~/.cache}/candor/tidy) under a hash of its text, the project headers that it includes,
directly or not, its command and the list of checks, so that the next run looks only at what changed. With --seconds no file is begun after that
time; those changed last come first, and how many were not looked at is said.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
TIDY = "clang-tidy-16"


def main(argv):
    parser = argparse.ArgumentParser(description="clang-tidy over what changed since it last passed.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a configured build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no file after this time")
    options = parser.parse_args(argv)
    deadline = time.monotonic() + options.seconds
    folder().mkdir(parents=True, exist_ok=True)
    commands = [entry for entry in json.loads((options.build / "compile_commands.json").read_text()) if is_ours(entry)]
    todo = sorted((entry for entry in commands if not passed(entry).exists()), key=last_change, reverse=True)
    say(f"{len(todo)} of {len(commands)} files changed since they passed")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda entry: tidy(entry, options.build) if time.monotonic() < deadline else None, todo))
    if None in results:
        say(f"NOT RUN: {results.count(None)} files, the time was up")
    say(f"{results.count(False)} files with findings" if False in results else "nothing found")
    return 1 if False in results else 0


def say(text):
    print(f"tidy: {text}", file=sys.stderr, flush=True)


def folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "candor/tidy"


def last_change(entry):
    """When the file was last committed, in seconds; later than that for one that was not."""
    log = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct", "--", entry["file"]], capture_output=True, text=True, check=False)
    return int(log.stdout or 1 << 40)


def is_ours(entry):
    return pathlib.Path(entry["file"]).is_relative_to(ROOT / "src")


def passed(entry):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + entry["command"].replace(str(ROOT), "").encode())
    for path in closure(pathlib.Path(entry["file"])):
        digest.update(path.read_bytes())
    return folder() / digest.hexdigest()


def closure(source):
    """The file and every project header that it includes, in a fixed order."""
    seen, todo = set(), [source]
    while todo:
        path = todo.pop()
        if path not in seen and path.exists():
            seen.add(path)
            todo += [ROOT / base / name for name in INCLUDE.findall(path.read_text(errors="replace")) for base in ("src", "include")]
    return sorted(seen)


def tidy(entry, build):
    """True if the file passes. -Wno-unknown-warning-option and the like: the commands are g++'s."""
    command = [TIDY, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument"]
    done = subprocess.run([*command, entry["file"]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        passed(entry).touch()
        return True
    print(done.stdout.strip() or done.stderr.strip(), flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
