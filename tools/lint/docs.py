"""What the documents name must exist: paths, the hops of the tour, and a README in every folder."""

import posixpath
import re

from layers import table

TOUR = "docs/tour.md"
TOP_FOLDERS = ("src", "include", "tools", "tests", "docs", "bench", "cmake", ".ci")
NO_README_BELOW = ("tests/fuzz/corpus/",)
MAX_HOPS = 10
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)")


def check(tree):
    for path in tree.documents():
        yield from check_paths(tree, path)
    yield from check_tour(tree)
    yield from check_readmes(tree)


def check_paths(tree, document):
    for number, line in enumerate(tree.text(document).splitlines(), 1):
        for span in _CODE_SPAN.findall(line):
            if is_path(span) and not tree.exists(span):
                yield "docs", document, number, f"{span}: no such file or folder"
        for link in _LINK.findall(line):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(document), link))
            if "://" not in link and not tree.exists(target):
                yield "docs", document, number, f"{link}: no such file or folder"


def is_path(span):
    """Placeholders (src/models/<family>.cc, *_test.cc, src/x/…) name no file."""
    return re.fullmatch(r"[\w./-]+", span) is not None and span.startswith(tuple(f"{folder}/" for folder in TOP_FOLDERS))


def check_tour(tree):
    if not tree.exists(TOUR):
        yield "docs", TOUR, 1, "missing: it follows one request from main to a kernel"
        return
    hops = table(tree.text(TOUR), "Hops")
    if not 1 <= len(hops) <= MAX_HOPS:
        yield "docs", TOUR, 1, f"expected 1 to {MAX_HOPS} hops, got {len(hops)}"
    for row in hops:
        file, symbol = row[1].strip("`"), row[2].strip("`")
        if not tree.exists(file):
            yield "docs", TOUR, 1, f"{file}: no such file"
        elif not re.search(rf"(?<!\w){re.escape(symbol.split('::')[-1])}(?!\w)", tree.text(file)):
            yield "docs", TOUR, 1, f"{file}: has no {symbol}"


def check_readmes(tree):
    folders = {posixpath.dirname(path) for path in tree.files if path.startswith(tuple(f"{folder}/" for folder in TOP_FOLDERS))}
    for path in list(folders):
        while posixpath.dirname(path):
            path = posixpath.dirname(path)
            folders.add(path)
    for folder in sorted(folders):
        readme = f"{folder}/README.md"
        if folder == ".ci" or f"{folder}/".startswith(NO_README_BELOW):
            continue
        if not tree.exists(readme):
            yield "readme", readme, 1, "missing: three sentences that say what the folder is for, what it may include, what it must not know"
        elif folder.startswith("src/") and not all(words in tree.text(readme) for words in ("May include", "Must not know")):
            yield "readme", readme, 1, 'expected sentences that begin with "May include" and "Must not know"'
