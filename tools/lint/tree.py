"""The files of the repository as the rules see them."""

import pathlib
import re

SKIPPED = {".git", "build", "target", "__pycache__", ".venv"}
CODE_SUFFIXES = {".cc", ".h"}


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self._texts = {}
        self.files = sorted(self._walk(self.root))

    def _walk(self, folder):
        for entry in folder.iterdir():
            if entry.name in SKIPPED:  # in a linked worktree .git is a file
                continue
            if entry.is_dir() and not entry.is_symlink():
                yield from self._walk(entry)
            else:
                yield entry.relative_to(self.root).as_posix()

    def text(self, path):
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            self._texts[path] = "" if b"\0" in data[:4096] else data.decode("utf-8", errors="replace")
        return self._texts[path]

    def exists(self, path):
        return (self.root / path).exists()

    def code(self):
        """C++ of the product: src/ and include/."""
        return [path for path in self.files if path.startswith(("src/", "include/")) and pathlib.PurePath(path).suffix in CODE_SUFFIXES]

    def documents(self):
        return [path for path in self.files if path.endswith(".md")]


def room_of(path):
    """src/kernels/matmul/matmul.h → kernels; include/candor/candor.h → include/candor."""
    if path.startswith("include/"):
        return "include/candor"
    match = re.match(r"src/(\w+)/", path)
    return match.group(1) if match else None


def is_test(path):
    """A test, a benchmark, a fuzz target, or what tests share (testing.h, kernel_test.h)."""
    return re.search(r"(_(test|bench|fuzz)|[/_]testing)\.(cc|h)$", path) is not None
