#!/usr/bin/env python3
"""Prints a table of line coverage by room, and the lines that no test reached, by their reason.

Usage: coverage_table.py COVERAGE.json REASONS.txt ROOT

REASONS has lines `kind <tab> pattern of the path <tab> pattern of the line's text`. Both patterns
are regular expressions that must match somewhere. The first matching reason counts. Exits with 1 when
a line of core has no reason, or when a reason matches no line.
"""
import collections
import json
import re
import sys
from pathlib import Path


def read_lines(path):
    """Returns the counts of each line, by file. A header's counts are summed over all includers."""
    files = {}
    for entry in json.loads(Path(path).read_text())["files"]:
        counts = files.setdefault(entry["file"], collections.Counter())
        for line in entry["lines"]:
            if not line.get("gcovr/noncode"):
                counts[line["line_number"]] += line["count"]
    return files


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def read_reasons(path):
    reasons = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        kind, place, text = line.split("\t")
        reasons.append([number, kind, re.compile(place), re.compile(text), 0])
    return reasons


def find_reason(reasons, path, text):
    for reason in reasons:
        if reason[2].search(path) and reason[3].search(text):
            reason[4] += 1
            return reason[1]
    return None


def print_table(files):
    rooms = collections.defaultdict(lambda: [0, 0])
    for path, counts in files.items():
        for name in {room_of(path), path.split("/")[0] + ", all"}:
            rooms[name][0] += sum(1 for count in counts.values() if count)
            rooms[name][1] += len(counts)
    print("| room | lines | reached | |")
    print("| --- | --- | --- | --- |")
    for name, (reached, total) in sorted(rooms.items()):
        print(f"| {name} | {total} | {reached} | {100 * reached / total:.1f} % |")


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    files = read_lines(sys.argv[1])
    reasons = read_reasons(sys.argv[2])
    kinds = collections.defaultdict(list)
    bare = 0
    for path in sorted(files):
        source = (Path(sys.argv[3]) / path).read_text().splitlines()
        for number in sorted(n for n, count in files[path].items() if count == 0):
            text = source[number - 1] if number <= len(source) else ""
            kind = find_reason(reasons, path, text)
            bare += kind is None and path.startswith("core/")
            kinds[kind or "no reason"].append((path, number, text.strip()))
    print_table(files)
    for kind, lines in sorted(kinds.items()):
        in_core = sum(1 for line in lines if line[0].startswith("core/"))
        print(f"\n## {kind}: {len(lines)} lines, {in_core} of core\n")
        for path, number, text in lines:
            print(f"{path}:{number}: {text}")
    for reason in reasons:
        if reason[4] == 0:
            print(f"\ncoverage_reasons.txt:{reason[0]}: matches no line", end="")
    print(f"\n{bare} lines of core without a reason")
    return 1 if bare else 0


if __name__ == "__main__":
    sys.exit(main())
