"""Set-up on machines that lack something: it installs exactly that, or says in one sentence what is missing and what to do."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REAL_TOOLS = "bash sh env awk grep sed cat head tail sort mktemp rm mkdir touch cp cmp dirname ls tr chmod"

# Stand-ins, each a small script in the only folder on the path. STATE is a folder that they share.
STUBS = {
    "id": "echo 0",
    "df": "printf 'Filesystem 1M Used Available\\n/dev/x 99999 1 %s /\\n' \"$(cat $STATE/free 2>/dev/null || echo 50000)\"",
    "dpkg-query": "cat $STATE/installed",
    "dpkg": '[ "$(printf "%s\\n%s\\n" "$4" "$2" | sort -V | head -n 1)" = "$4" ]',
    "apt-get": """echo "$*" >>$STATE/apt.log
if [ -e $STATE/apt_says ]; then cat $STATE/apt_says; exit 100; fi
for word in "$@"; do case $word in -*|*=*|update|install) ;; *) sed -i "/^$word /d" $STATE/installed; echo "$word installed ${NEW_VERSION:-99:99}" >>$STATE/installed ;; esac; done
case "$*" in *cargo-web*) echo "echo cargo 1.96.0" >$STATE/../bin/cargo; chmod +x $STATE/../bin/cargo ;; esac""",
    "c++": 'case $1 in --version) echo "c++ (Debian)";; *) echo ${COMPILER_VERSION:-12.2.0};; esac',
    "cargo": "echo cargo ${CARGO_VERSION:-1.90.0} '(abc 2025-01-01)'",
    "python3": 'case $1 in -c) exit 0;; -m) mkdir -p "$3/bin"; echo >"$3/bin/python"; chmod +x "$3/bin/python"; echo made >>$STATE/venv.log;; esac',
}


class Machine:
    """A temporary copy of tools/setup with a path of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.bin, self.state = self.folder / "bin", self.folder / "state"
        self.bin.mkdir()
        self.state.mkdir()
        shutil.copytree(ROOT / "tools/setup", self.folder / "a project/tools/setup")
        for tool in REAL_TOOLS.split():
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, script in STUBS.items():
            self.stub(name, script)
        rows = (line.split() for line in (ROOT / "tools/setup/packages.txt").read_text().splitlines() if line[:1] not in ("#", ""))
        self.packages = {name: (minimum, stage) for name, minimum, stage in rows}
        self.install({name: "99:99" for name in self.packages})

    def stub(self, name, script):
        file = self.bin / name
        file.unlink(missing_ok=True)
        file.write_text(f"#!/bin/sh\nSTATE='{self.state}'\n{script}\n")
        file.chmod(0o755)

    def install(self, versions):
        (self.state / "installed").write_text("".join(f"{name} installed {version}\n" for name, version in versions.items()))

    def set_up(self, stage="run", **environment):
        command = [str(self.folder / "a project/tools/setup/setup.sh"), stage]
        return subprocess.run(command, env={"PATH": str(self.bin), **environment}, capture_output=True, text=True, check=False)

    def log(self, name):
        file = self.state / name
        return file.read_text() if file.exists() else ""


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.machine = Machine(self.folder.name)

    def says(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def without(self, *names, **versions):
        self.machine.install({**{name: "99:99" for name in self.machine.packages if name not in names}, **versions})

    def test_nothing_missing_calls_no_apt(self):
        for _ in range(2):
            result = self.machine.set_up()
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.machine.log("apt.log"), "")
        self.assertEqual(self.machine.log("venv.log"), "made\n")  # once

    def test_installs_exactly_what_is_missing(self):
        self.without("cmake", "libgtest-dev")
        self.assertEqual(self.machine.set_up().returncode, 0)
        update, install = self.machine.log("apt.log").splitlines()
        self.assertTrue(update.startswith("update"))
        self.assertEqual(install.split()[-1], "cmake")  # libgtest-dev is for tests
        self.assertIn("--no-remove", install)

    def test_bare_machine_gets_everything(self):
        self.machine.install({})
        (self.machine.bin / "cargo").unlink()
        self.assertEqual(self.machine.set_up().returncode, 0)
        log = self.machine.log("apt.log")
        for name, (_, stage) in self.machine.packages.items():
            self.assertEqual(name in log, stage == "run", name)
        self.assertIn("cargo-web rustc-web", log)

    def test_too_old_package_is_upgraded(self):
        self.without("cmake", **{"cmake": "3.18"})
        self.assertEqual(self.machine.set_up().returncode, 0)
        self.assertIn("cmake", self.machine.log("apt.log"))

    def test_release_without_the_version(self):
        self.without("cmake", **{"cmake": "3.18"})
        self.machine.stub("apt-get", "exit 0")
        self.says(self.machine.set_up(), "cmake: expected version 3.25 or newer, got 3.18", "Debian 12")

    def test_not_root_without_sudo(self):
        self.without("cmake")
        self.machine.stub("id", "echo 1000")
        self.says(self.machine.set_up(), "not root", "no sudo", "apt-get install cmake")

    def test_not_root_with_sudo(self):
        self.without("cmake")
        self.machine.stub("id", "echo 1000")
        self.machine.stub("sudo", 'echo "$*" >>$STATE/sudo.log; exec "$@"')
        self.assertEqual(self.machine.set_up().returncode, 0)
        self.assertIn("apt-get update", self.machine.log("sudo.log"))

    def test_no_network(self):
        self.without("cmake")
        (self.machine.state / "apt_says").write_text("Err: Temporary failure resolving 'mirror'\n")
        self.says(self.machine.set_up(), "can't be reached", "check the network")

    def test_disk_full_before(self):
        self.without("cmake")
        (self.machine.state / "free").write_text("10\n")
        self.says(self.machine.set_up(), "MiB of free disk space", "got 10 MiB")
        self.assertEqual(self.machine.log("apt.log"), "")

    def test_disk_full_during(self):
        self.without("cmake")
        (self.machine.state / "apt_says").write_text("E: You don't have enough free space in /var/cache/apt/archives/.\n")
        self.says(self.machine.set_up(), "disk is full")

    def test_unknown_package(self):
        self.without("clang-16")
        (self.machine.state / "apt_says").write_text("E: Unable to locate package clang-16\n")
        self.says(self.machine.set_up("test"), "package lists lack one of them", "Debian 12")

    def test_package_that_would_push_others_out(self):
        self.without("cmake")
        (self.machine.state / "apt_says").write_text("E: Packages need to be removed but remove is disabled.\n")
        self.says(self.machine.set_up(), "remove other packages", "by hand")

    def test_no_apt(self):
        (self.machine.bin / "apt-get").unlink()
        self.says(self.machine.set_up(), "no apt-get", "SETUP=no")

    def test_old_compiler(self):
        self.says(self.machine.set_up(COMPILER_VERSION="11.4.0"), "c++: expected version 12 or newer, got 11.4.0", "CXX=g++-12")

    def test_no_such_compiler(self):
        self.says(self.machine.set_up(CXX="gcc-99"), "gcc-99: no such C++ compiler")

    def test_old_cargo_of_the_users_own(self):
        self.says(self.machine.set_up(CARGO_VERSION="1.63.0"), "cargo: expected version 1.87 or newer, got 1.63.0", "rustup update")

    def test_unsupported_python(self):
        self.machine.stub("python3", 'case $1 in --version) echo Python 3.9.2;; *) exit 1;; esac')
        setup = self.machine.folder / "a project/tools/setup/python.sh"
        setup.write_text(setup.read_text().replace("/usr/bin/python3", "/nowhere/python3"))
        self.says(self.machine.set_up(), "python3: expected version 3.11, 3.12 or 3.13, got Python 3.9.2")

    def test_venv_that_can_not_be_made(self):
        self.machine.stub("python3", "case $1 in -c) exit 0;; *) echo 'No space left on device'; exit 1;; esac")
        self.says(self.machine.set_up(), "could not make build/venv", "disk space")
        self.assertFalse((self.machine.folder / "a project/build/venv").exists())

    def test_interrupted_venv_starts_anew(self):
        half = self.machine.folder / "a project/build/venv/bin"
        half.mkdir(parents=True)
        (half / "python").write_text("half")
        self.assertEqual(self.machine.set_up().returncode, 0)
        self.assertEqual(self.machine.log("venv.log"), "made\n")

    def test_bad_usage(self):
        self.says(self.machine.set_up("everything"), "usage: setup.sh run|test")


if __name__ == "__main__":
    os.environ.pop("CXX", None)
    unittest.main()
