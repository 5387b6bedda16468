"""House rules that one line of code can break: environment variables, globals, output, conditional compilation, words."""

import pathlib
import re

import cpp
from tree import is_test, room_of

ENVIRONMENT = "src/platform/environment.cc"
PRINTING_ROOMS = {"cli", "server", "qualify"}  # the faces may print and exit; a library does neither
CONDITIONAL_ROOMS = {"platform", "device"}
_ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(")
_PROCESS = re.compile(r"(?<![\w.>])(?:std::)?(?:exit|_exit|quick_exit|abort|printf|puts|putchar|perror)\s*\(|\bstd::(?:cout|cerr|clog)\b|\bfmt::print\s*\(")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*", re.MULTILINE)


def check(tree, exceptions):
    for path in tree.code():
        text = tree.text(path)
        code = cpp.blank_out(text)
        if path != ENVIRONMENT and not is_test(path):
            yield from matches("environment", path, code, _ENVIRONMENT, f"read environment variables only in {ENVIRONMENT}")
        if room_of(path) not in PRINTING_ROOMS and not is_test(path) and not exceptions.covers("process", path):
            yield from matches("process", path, code, _PROCESS, "a library neither prints nor ends the process; return a Status")
        if not is_test(path) and not exceptions.covers("conditional", path):
            yield from check_conditions(path, text)
        if not exceptions.covers("global", path):
            yield from check_globals(path, text)


def matches(rule, path, text, pattern, problem):
    for match in pattern.finditer(text):
        yield rule, path, text.count("\n", 0, match.start()) + 1, f"{match.group().strip(' (')}: {problem}"


def check_conditions(path, text):
    """Include guards and Highway's re-inclusion guards of *-inl.h are no conditional compilation."""
    if room_of(path) in CONDITIONAL_ROOMS or path.endswith("-inl.h"):
        return
    for match in _CONDITION.finditer(text):
        guard = re.match(r"\s*#\s*ifndef (\w+)", match.group())
        if guard and path.endswith(".h") and f"#define {guard.group(1)}" in text:
            continue
        if "__cplusplus" in match.group() or "__has_include" in match.group():
            continue
        line = text.count("\n", 0, match.start()) + 1
        yield "conditional", path, line, "conditional compilation belongs to src/platform/ and src/device/"


def check_globals(path, text):
    _, global_statements, local_statements = cpp.scan(text)
    for statement in global_statements:
        if cpp.is_mutable_variable(statement.text):
            yield "global", path, statement.line, f"mutable global: {statement.text[:60]}"
    for statement in local_statements:
        if cpp.is_mutable_static(statement.text):
            yield "global", path, statement.line, f"mutable static: {statement.text[:60]}"


WORDS = "tools/lint/words.txt"
TEXT_SUFFIXES = {".cc", ".h", ".rs", ".py", ".sh", ".cmake", ".md", ".txt", ".json", ".toml", ".yml", ""}


def read_words(tree):
    """[(pattern, why)] of lines "pattern -- why"."""
    lines = [line for line in tree.text(WORDS).splitlines() if line and not line.startswith("#")]
    return [(re.compile(pattern.strip()), why.strip()) for pattern, why in (line.split(" -- ", 1) for line in lines)]


def check_words(tree, exceptions):
    patterns = read_words(tree)
    for path in tree.files:
        if path == WORDS or pathlib.PurePath(path).suffix not in TEXT_SUFFIXES or exceptions.covers("words", path):
            continue
        for pattern, why in patterns:
            yield from matches("words", path, tree.text(path), pattern, why)
