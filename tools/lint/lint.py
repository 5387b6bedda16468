#!/usr/bin/env python3
"""Checks the house rules and prints each breach as file:line: [rule] what; lint.py [--root FOLDER]. Exit code 1 if there is any.

Rules: layers (includes follow docs/layers.md), file and function (size budgets), environment, process, conditional, global (habits.py),
words (words.txt), docs and readme (docs.py), exceptions (a line of exceptions.txt that excuses nothing). Standard library only.
"""

import argparse
import pathlib
import sys

import budgets
import docs
import habits
import layers
from exceptions import Exceptions
from tree import Tree


def main(argv):
    parser = argparse.ArgumentParser(description="Check the house rules.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    breaches = check(parser.parse_args(argv).root)
    for rule, path, line, problem in breaches:
        print(f"{path}:{line}: [{rule}] {problem}")
    print(f"lint: {len(breaches)} breaches" if breaches else "lint: the house rules hold")
    return 1 if breaches else 0


def check(root):
    tree = Tree(root)
    exceptions = Exceptions(tree)
    breaches = [*layers.check(tree), *budgets.check(tree, exceptions), *habits.check(tree, exceptions)]
    breaches += [*habits.check_words(tree, exceptions), *docs.check(tree)]
    breaches += exceptions.unused()
    return breaches


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
