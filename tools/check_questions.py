#!/usr/bin/env python3
"""Check the files of docs/project/questions.md: check_questions.py ROOT [OPTION...]

  --write   write the file that defines each function into the page
  --moving  report functions that have moved or are gone, but do not fail for them

Each row of the page's table names a question, a file and a function. The function must be defined in
that file, by a body that is not a declaration. Prints one line for each finding; exits with 1 if there
is any.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

import call_graph

PAGE = "docs/project/questions.md"
ROW = re.compile(r"^\| (?P<question>[^|]*\?) \| *(?P<file>[^|]*?) *\| `(?P<name>\w+)` \|$", re.MULTILINE)
ROOMS = ("core", "interop", "backends")


def find_homes(root):
    """{function: the files that define it}"""
    homes = defaultdict(set)
    for path, source in call_graph.read_sources(root, ROOMS).items():
        for name in source.functions:
            homes[name].add(path)
    return homes


def answer(row, homes):
    """The file that a row must name, or None; and what is wrong with the row, or None."""
    named = row["file"].strip("`")
    files = homes.get(row["name"], set())
    if len(files) != 1:
        count = "no file defines" if not files else f"{len(files)} files define"
        return None, f"{row['question']} {count} {row['name']}"
    file = next(iter(files))
    return file, None if file == named else f"{row['question']} {row['name']} is in {file} (--write does it)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--moving", action="store_true")
    options = parser.parse_args()
    page = options.root / PAGE
    text = page.read_text(encoding="utf-8")
    homes = find_homes(options.root)
    rows = list(ROW.finditer(text))
    lines = text.count("\n| ") - 2
    findings = [] if len(rows) == lines else [f"{PAGE}: {lines} rows, of which {len(rows)} are read"]
    moved = []
    for row in rows:
        file, wrong = answer(row, homes)
        if wrong is not None and not (options.write and file is not None):
            (moved if options.moving else findings).append(f"{PAGE}: {wrong}")
    if options.write:
        def fill(row):
            file = answer(row, homes)[0]
            cell = f"`{file}`" if file else row["file"]
            return f"| {row['question']} | {cell} | `{row['name']}` |"
        page.write_text(ROW.sub(fill, text), encoding="utf-8")
    print("\n".join(moved + findings + [f"{len(rows)} questions, {len(findings)} findings"]))
    return 1 if findings or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
