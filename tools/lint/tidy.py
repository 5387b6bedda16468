#!/usr/bin/env python3
"""Runs clang-tidy over src/ with build/release/compile_commands.json; tidy.py [--jobs N]. Exit code 1 if it finds anything.

A file that passed is remembered (build/tidy/) under a hash of its text, the project headers it includes, directly or not, its command and the
list of checks, so that a second run looks only at what changed.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSED = ROOT / "build/tidy"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
TIDY = "clang-tidy-16"


def main(argv):
    parser = argparse.ArgumentParser(description="clang-tidy over what changed since it last passed.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a configured build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(argv)
    PASSED.mkdir(parents=True, exist_ok=True)
    commands = json.loads((options.build / "compile_commands.json").read_text())
    todo = [entry for entry in commands if is_ours(entry) and not passed(entry).exists()]
    print(f"tidy: {len(todo)} of {len(commands)} files changed since they passed", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failures = sum(not ok for ok in pool.map(lambda entry: tidy(entry, options.build), todo))
    print(f"tidy: {failures} files with findings" if failures else "tidy: nothing found", file=sys.stderr)
    return 1 if failures else 0


def is_ours(entry):
    return pathlib.Path(entry["file"]).is_relative_to(ROOT / "src")


def passed(entry):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + entry["command"].encode())
    for path in closure(pathlib.Path(entry["file"])):
        digest.update(path.read_bytes())
    return PASSED / digest.hexdigest()


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
