"""Sizes that keep a file readable in one sitting (docs/decisions.md). A reviewed exception is a line of exceptions.txt."""

import pathlib

import cpp
from tree import is_test

FILE_AIM, FILE_LIMIT = 300, 800
HEADER_LIMIT = 300
FUNCTION_LIMIT = 100
MODEL_LIMIT = 200
PUBLIC_HEADER = "include/candor/candor.h"
OTHER_SUFFIXES = {".rs", ".py", ".sh", ".cmake"}


def file_limit(path):
    if path == PUBLIC_HEADER:
        return FILE_LIMIT
    if path.startswith("src/models/") and path.endswith(".cc") and not is_test(path):
        return MODEL_LIMIT
    is_header = path.endswith(".h") and not path.endswith("-inl.h")  # -inl.h: the body of a template
    return HEADER_LIMIT if is_header else FILE_LIMIT


def check(tree, exceptions):
    code = set(tree.code())
    for path in tree.files:
        if path not in code and pathlib.PurePath(path).suffix not in OTHER_SUFFIXES:
            continue
        text = tree.text(path)
        lines = text.count("\n")
        limit = exceptions.limit("file", path, file_limit(path))
        if lines > limit:
            yield "file", path, lines, f"{lines} lines, expected at most {limit}; split it by what it does"
        if path in code:
            yield from check_functions(path, text, exceptions)


def check_functions(path, text, exceptions):
    functions, _, _ = cpp.scan(text)
    for function in functions:
        limit = exceptions.limit("function", f"{path}:{function.name}", FUNCTION_LIMIT)
        if function.lines > limit:
            problem = f"{function.name} has {function.lines} lines, expected at most {limit}; name its steps"
            yield "function", path, function.first_line, problem
