"""The lint proves itself: a small clean repository passes, and each kind of breach put into it is found, alone and where it is."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lint"))

import cpp  # noqa: E402
import lint  # noqa: E402

CLEAN = {
    "docs/README.md": "Documents.\n",
    "docs/layers.md": """# Layers
## Rooms
| folder | holds | may include |
|---|---|---|
| `src/base/` | basics | |
| `src/kernels/` | kernels | base |
| `src/models/` | families | base, kernels |
| src/cli/ | the face | base |
## Libraries
| headers | rooms |
|---|---|
| `fmt/` | every |
| `openssl/` | base |
| `gtest/` | tests |
""",
    "docs/tour.md": "# Tour\n## Hops\n| hop | file | symbol |\n|---|---|---|\n| 1 | `src/kernels/add.cc` | `candor::Add` |\n",
    "src/README.md": "Code. May include: nothing. Must not know: anything.\n",
    "src/base/README.md": "Basics. May include: nothing. Must not know: anything.\n",
    "src/base/status.h": "#pragma once\nnamespace candor {\nclass Status {\n public:\n  bool ok() const { return true; }\n};\n}\n",
    "src/kernels/README.md": "Kernels. May include: base. Must not know: models.\n",
    "src/kernels/add.cc": """#include <fmt/format.h>
#include "base/status.h"
namespace candor {
namespace {
constexpr int kRows[] = {1, 2};
const char* const kName = "add // not a comment {";
}
int Add(int a, int b) {
  static const int kStep = 1'000;
  return a + b * kStep;
}
}
""",
    "src/kernels/add_test.cc": '#include <gtest/gtest.h>\nTEST(Add, Adds) {\n  EXPECT_EQ(1, 1);\n}\n',
    "src/models/README.md": "Families. May include: base. Must not know: devices.\n",
    "src/models/llama.cc": '#include "kernels/add.cc"\n',
    "tools/README.md": "Tools.\n",
    "tools/lint/README.md": "Lint.\n",
    "tools/lint/words.txt": (ROOT / "tools/lint/words.txt").read_text(),
    "tools/lint/exceptions.txt": "# none\n",
}


def long_function(lines):
    return "namespace candor {\nvoid Long() {\n" + "  Step();\n" * (lines - 2) + "}\n}\n"


# what → (rule, file, its text; None removes the file)
BREACHES = {
    "include to the right": ("layers", "src/base/bad.cc", '#include "kernels/add.h"\n#include "kernels/add.cc"\n'),
    "include that is no path from src": ("layers", "src/base/bad.cc", '#include "status.h"\n'),
    "library of another room": ("layers", "src/kernels/bad.cc", "#include <openssl/sha.h>\n"),
    "library without a row": ("layers", "src/kernels/bad.cc", "#include <boost/asio.hpp>\n"),
    "test library in the product": ("layers", "src/kernels/bad.cc", "#include <gtest/gtest.h>\n"),
    "room without a row": ("layers", "src/attic/old.cc", "int Old();\n"),
    "long source": ("file", "src/base/bad.cc", "// line\n" * 801),
    "long header": ("file", "src/base/bad.h", "// line\n" * 301),
    "long model file": ("file", "src/models/bad.cc", "// line\n" * 201),
    "long script": ("file", "tools/bad.py", "# line\n" * 801),
    "long function": ("function", "src/base/bad.cc", long_function(101)),
    "getenv": ("environment", "src/base/bad.cc", 'const char* Home() { return std::getenv("HOME"); }\n'),
    "print in a library": ("process", "src/kernels/bad.cc", 'void Say() { std::printf("hello"); }\n'),
    "exit in a library": ("process", "src/kernels/bad.cc", "void End() { std::exit(1); }\n"),
    "conditional compilation": ("conditional", "src/kernels/bad.cc", "#ifdef __AVX2__\n#endif\n"),
    "global": ("global", "src/base/bad.cc", "namespace candor {\nint counter = 0;\n}\n"),
    "global container": ("global", "src/base/bad.cc", "std::vector<int> cache;\n"),
    "global table": ("global", "src/base/bad.cc", "static float table[2] = {1.0f, 2.0f};\n"),
    "static in a function": ("global", "src/base/bad.cc", "int Next() {\n  static int last = 0;\n  return ++last;\n}\n"),
    "thread-local": ("global", "src/base/bad.cc", "int Next() {\n  thread_local int last = 0;\n  return ++last;\n}\n"),
    "unfinished work": ("words", "src/base/bad.cc", "// TO" + "DO: later\n"),
    "machine path": ("words", "docs/bad.md", "See /ho" + "me/somebody/notes.\n"),
    "dead path in a document": ("docs", "docs/bad.md", "See `src/base/gone.cc`.\n"),
    "dead link in a document": ("docs", "docs/bad.md", "See [this](gone.md).\n"),
    "tour without its symbol": ("docs", "docs/tour.md", CLEAN["docs/tour.md"].replace("candor::Add", "Subtract")),
    "tour without its file": ("docs", "docs/tour.md", CLEAN["docs/tour.md"].replace("add.cc", "gone.cc")),
    "tour too long": ("docs", "docs/tour.md", CLEAN["docs/tour.md"] + "| 2 | `src/kernels/add.cc` | `Add` |\n" * 10),
    "folder without README": ("readme", "tests/new/data.txt", "1\n"),
    "README that says too little": ("readme", "src/base/README.md", "Basics.\n"),
    "exception that excuses nothing": ("exceptions", "tools/lint/exceptions.txt", "file src/base/gone.cc 900 because\n"),
}


class LintTest(unittest.TestCase):
    def breaches(self, change):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**CLEAN, **change}.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return lint.check(pathlib.Path(folder))

    def test_clean_repository_passes(self):
        self.assertEqual(self.breaches({}), [])

    def test_each_breach_is_found(self):
        for what, (rule, file, text) in BREACHES.items():
            with self.subTest(what):
                found = self.breaches({file: text})
                self.assertIn(rule, {breach[0] for breach in found}, found)

    def test_breaches_point_at_their_line(self):
        found = self.breaches({"src/base/bad.cc": "namespace candor {\n\nint counter = 0;\n}\n"})
        self.assertEqual([breach[:3] for breach in found], [("global", "src/base/bad.cc", 3)])

    def test_exceptions_excuse_what_they_name_and_nothing_else(self):
        long = {"src/base/bad.cc": long_function(101), "tools/lint/exceptions.txt": "function src/base/bad.cc:Long 101 measured\n"}
        self.assertEqual(self.breaches(long), [])
        long["src/base/bad.cc"] = long_function(102)
        self.assertEqual([breach[0] for breach in self.breaches(long)], ["function"])

    def test_an_exception_needs_a_reason(self):
        with self.assertRaises(ValueError):
            self.breaches({"tools/lint/exceptions.txt": "file src/base/status.h 900\n"})


class CppTest(unittest.TestCase):
    def names(self, code):
        return [(function.name, function.lines) for function in cpp.scan(code)[0]]

    def test_functions_are_found_where_they_are(self):
        code = (
            "template <typename T>\nT Max(T a, T b) {\n  return a > b ? a : b;\n}\n"
            "struct Box {\n  Box() : size_{1} {}\n  int size() const {\n    auto get = [&] { return size_; };\n    return get();\n  }\n  int size_ = 0;\n};\n"
            "TEST_F(Suite, Case) {\n}\n"
        )
        self.assertEqual(self.names(code), [("Max", 4), ("Box", 1), ("size", 4), ("Suite.Case", 2)])

    def test_literals_and_comments_hold_no_code(self):
        code = 'const char* kText = R"({ int f() { )";\n// void g() {\n/* void h() { */\nchar c = \'{\';\nint F() { return 1\'000; }\n'
        self.assertEqual(self.names(code), [("F", 1)])


if __name__ == "__main__":
    unittest.main()
