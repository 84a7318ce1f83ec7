#!/usr/bin/env python3
"""Measure the structure of core, before and after: measure_house.py ROOT [OPTION...]

  --before ROOT   another tree, an older one; the tables then have two columns for each measure
  --build DIR     build folder of a tree, relative to it; build/test by default. Without objects in
                  it the circles are left out

Prints Markdown: lines, statements and functions of each room of core, then the headers and circles.

A statement is a semicolon of a function's body outside parentheses, or an if, for, while or switch.
Assertions are not counted (MAAR_ASSERT and its kin, maar_assert_held), nor are comments or declarations
outside functions. A room is the last folder of a file's path, so that a room that moved out of another
one keeps its row. A header prototypes a file if it declares a function that this .c file defines.
"""

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import call_graph
import measure_code

ASSERTION = re.compile(r"\b(?:\w*_ASSERT|maar_assert_\w+)\s*\(")
BRANCH = re.compile(r"\b(?:if|for|while|switch)\b")


def count_statements(body):
    """Statements of a function's body, its comments and strings blanked."""
    asserted = "".join(cut_assertions(body))
    count, depth = len(BRANCH.findall(asserted)), 0
    for letter in asserted:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        count += letter == ";" and depth == 0
    return count


def cut_assertions(body):
    """The body without assertions, each with its semicolon."""
    place = 0
    for match in ASSERTION.finditer(body):
        if match.start() >= place:
            yield body[place:match.start()]
            place = call_graph.closing(body, match.end())
            place += len(re.match(r"\s*;?", body[place:]).group(0))
    yield body[place:]


@dataclass
class Room:
    files: int = 0
    lines: int = 0
    statements: int = 0
    lengths: list = field(default_factory=list)


@dataclass
class House:
    rooms: dict = field(default_factory=lambda: defaultdict(Room))
    headers: dict = field(default_factory=dict)  # path: (lines, prototypes, files prototyped)
    circles: list = None

    def all(self):
        whole = Room()
        for room in self.rooms.values():
            whole.files += room.files
            whole.lines += room.lines
            whole.statements += room.statements
            whole.lengths += room.lengths
        return whole


def read_house(root, build):
    house = House()
    sources = call_graph.read_sources(root)
    homes = {}
    for path, source in sources.items():
        lines = (root / path).read_text(encoding="utf-8").count("\n")
        room = house.rooms[Path(path).parent.name if path.count("/") > 1 else "core"]
        room.files += 1
        room.lines += lines
        room.statements += sum(count_statements(body) for body in source.functions.values())
        reader = measure_code.CReader(path, source.text)
        room.lengths += [function.length for function in reader.read()]
        if path.endswith(".c"):
            homes.update((name, path) for name in source.functions
                         if not re.match(r"\s*(?:static|MAAR_NOINLINE)\b", source.heads[name]))
    for path, source in sources.items():
        if path.endswith(".h"):
            names = call_graph.prototypes(source) & set(homes)
            lines = (root / path).read_text(encoding="utf-8").count("\n")
            house.headers[path] = lines, len(names), len({homes[name] for name in names})
    symbols = call_graph.read_objects(root, root / build)
    if symbols:
        house.circles = [len(members) for members in call_graph.components(
            call_graph.Graph(sources, symbols).edges)]
    return house


def room_cells(room):
    if room is None:
        return ["", "", "", "", "", ""]
    return [room.files, room.lines, room.statements, len(room.lengths),
            measure_code.percentile(room.lengths, 50), measure_code.percentile(room.lengths, 90)]


def pairs(before, after):
    """The cells of both trees, those of one measure side by side."""
    return [cell for pair in zip(before, after) for cell in pair]


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def print_rooms(before, after):
    head = ["files", "lines", "statements", "functions", "median", "p90"]
    heads = pairs([f"{name} before" for name in head], head) if before else head
    print(row(["room"] + heads))
    print(row(["---"] * (len(heads) + 1)))
    names = sorted(set(after.rooms) | set(before.rooms if before else ()))
    for name in names + ["all"]:
        cells = []
        for house in (before, after):
            if house is not None:
                room = house.all() if name == "all" else house.rooms.get(name)
                cells.append(room_cells(room))
        print(row([name] + (pairs(*cells) if before else cells[0])))


def header_measures(house):
    lines = [measure[0] for measure in house.headers.values()]
    names = [measure[1] for measure in house.headers.values() if measure[1]]
    files = [measure[2] for measure in house.headers.values() if measure[1]]
    circles = "not measured" if house.circles is None else \
        ", ".join(map(str, house.circles)) or "none"
    return [("headers", len(lines)), ("lines of the longest header", max(lines, default=0)),
            ("headers of more than 250 lines", sum(count > 250 for count in lines)),
            ("prototypes in a header: median, p90, most",
             f"{measure_code.percentile(names, 50)}, {measure_code.percentile(names, 90)}, "
             f"{max(names, default=0)}"),
            ("headers that prototype more than two files", sum(count > 2 for count in files)),
            ("most files that one header prototypes", max(files, default=0)),
            ("files in circles of calls, without function pointers", circles)]


def print_headers(before, after):
    columns = [header_measures(house) for house in (before, after) if house is not None]
    print(row([""] + (["before", "after"] if before else ["now"])))
    print(row(["---"] * (len(columns) + 1)))
    for entries in zip(*columns):
        print(row([entries[0][0]] + [value for _, value in entries]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--build", default="build/test")
    options = parser.parse_args()
    before = read_house(options.before, options.build) if options.before else None
    after = read_house(options.root, options.build)
    print_rooms(before, after)
    print()
    print_headers(before, after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
