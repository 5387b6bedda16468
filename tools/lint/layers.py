"""Includes go one way only: the tables of docs/layers.md say which room may include which, and which libraries."""

import re

from tree import is_test, room_of

LAYERS = "docs/layers.md"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)


def table(text, heading):
    """The rows of the first table below a heading, header and ruler left out, each a list of cells."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.lstrip("#").strip() == heading:
            break
    rows = []
    for line in lines:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


def words(cell):
    return set(re.findall(r"[\w/.+]+", cell.replace("`", "")))


def read_rooms(tree):
    """room → the rooms it may include, itself among them."""
    rooms = {}
    for folder, _, may_include in table(tree.text(LAYERS), "Rooms"):
        room = folder.strip("`").removeprefix("src/").rstrip("/")
        rooms[room] = words(may_include) | {room}
    return rooms


def read_libraries(tree):
    """[(beginning of the header's path, rooms that may include it)]"""
    return [(prefix, words(rooms)) for cell, rooms in table(tree.text(LAYERS), "Libraries") for prefix in re.findall(r"`([^`]+)`", cell)]


def check(tree):
    rooms, libraries = read_rooms(tree), read_libraries(tree)
    for path in tree.code():
        room = room_of(path)
        if room not in rooms:
            yield "layers", path, 1, f"the room {room} has no row in {LAYERS}"
            continue
        for match in _INCLUDE.finditer(tree.text(path)):
            line = tree.text(path).count("\n", 0, match.start()) + 1
            quote, header = match.groups()
            problem = project_problem(tree, rooms, room, path, header) if quote == '"' else library_problem(libraries, room, path, header)
            if problem:
                yield "layers", path, line, problem


def project_problem(tree, rooms, room, path, header):
    if header.startswith("candor/"):
        target = "include/candor"
    elif tree.exists(f"src/{header}"):
        target = header.split("/")[0]
    else:
        return f'"{header}": expected a path from src/, as in "base/status.h"'
    if target not in rooms[room] | ({"platform"} if is_test(path) else set()):
        return f'"{header}": {room} may include {", ".join(sorted(rooms[room]))}, not {target}'
    return None


def library_problem(libraries, room, path, header):
    for prefix, allowed in libraries:
        if header == prefix or (prefix.endswith("/") and header.startswith(prefix)):
            who = allowed | ({room} if "tests" in allowed and is_test(path) else set())
            if "every" in allowed or room in who:
                return None
            return f"<{header}>: only {', '.join(sorted(allowed))} may include it"
    if "/" in header and not header.startswith(("sys/", "arpa/", "netinet/")):
        return f"<{header}>: the library has no row in {LAYERS}"
    return None
