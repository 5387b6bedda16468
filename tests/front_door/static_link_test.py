"""The release program needs nothing but the C library: it must start on a bare machine of another distribution."""

import argparse
import re
import subprocess
import sys
import unittest

ALLOWED = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
options = argparse.Namespace(candor=None)


def needed(program):
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {re.split(r"[/\s]", line.strip().split(" ")[0])[-1] for line in lines}


class StaticLinkTest(unittest.TestCase):
    def test_needs_only_the_c_library(self):
        self.assertEqual(needed(options.candor) - ALLOWED, set())

    def test_the_check_sees_a_shared_library(self):
        self.assertTrue(needed("/usr/bin/cmake") - ALLOWED)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--candor", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
