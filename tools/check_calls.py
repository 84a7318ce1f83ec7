#!/usr/bin/env python3
"""Check which file of core calls which: check_calls.py ROOT BUILD [OPTION...]

  --most-files N       files that a circle of calls may have; 2
  --most-rooms N       rooms that a circle of calls may have; 1
  --most-header N      lines of a header; 250
  --most-prototyped N  .c files whose functions one header prototypes; 2
  --most-upcalls N     internal function pointers; 18
  --any-upcalls        do not compare the pointers that are found with tools/upcalls.toml
  --nm PROGRAM         lists the symbols of objects; nm
  --table              print who calls whom, room by room, as Markdown
  --dot [ROOM]         print the rooms as a graph for dot, or the files of one room
  --write-upcalls      write what is found to tools/upcalls.toml; new entries lack a reason

BUILD is a build folder in which the library is built. tools/call_graph.py says how calls are found.
A room is a folder below core. core itself is one, and so are the folders of core/plan.

Rules:

1. A circle of calls has at most two files and does not leave its room. No circle leads through two
   rooms either, whichever files of theirs it touches.
2. A function pointer that a header of core declares stands in tools/upcalls.toml, with the files
   whose functions it holds and the files that call through it. Both lists are compared with the text.
   At most 18 such pointers exist. Pointers that hold the system's or the driver's functions alone
   ("foreign") do not count.
3. A listed pointer adds the edges from each caller to each implementer. Inside a room, and downward
   from room to room, such an edge is an edge like any other, and rule 1 applies to it.
4. An upward edge always closes a circle: the implementer's room calls the caller's room directly, to
   hand in the function. This circle is allowed for listed pointers, and it is the only one that is. In
   return, pointers lead from room to room in one direction: if one lets memory call paging, none lets
   paging call memory, neither directly nor through the pointers of other rooms.
5. A header of core has at most 250 lines, and prototypes the functions of at most two .c files.
   Each .c file of core is part of the library.

Prints each circle with the names that make it, then one line for each finding; exits with 1 if there
is any finding, and with 77 if the build folder has no objects.
"""

import argparse
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import call_graph
from call_graph import node_of, room_of

LIST = "tools/upcalls.toml"
LIST_HEAD = """# The internal function pointers of core. tools/check_calls.py compares this list with the sources:
# "implementers" are the files whose functions a pointer holds, "callers" the files that call through
# it. "foreign" says whose functions a pointer holds if they are not Maar's. "why" says why a direct
# call would not do. check_calls.py --write-upcalls renews the files and keeps the reasons.
"""


class Upcalls:
    """The list of function pointers, and what the sources have of it."""

    def __init__(self, root, sources):
        path = root / LIST
        entries = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        self.listed = {entry["pointer"]: entry for entry in entries.get("upcall", ())}
        self.found = {pointer.name: pointer for pointer in call_graph.find_pointers(sources)}

    def findings(self, most):
        for name, pointer in self.found.items():
            if name not in self.listed:
                yield f"{pointer.header}: the function pointer {name} is not in {LIST}"
        for name, entry in self.listed.items():
            if name not in self.found:
                yield f"{LIST}: {name}: no header of core declares this pointer"
            else:
                yield from self.differences(entry, self.found[name])
        counted = [name for name, entry in self.listed.items() if "foreign" not in entry]
        if len(counted) > most:
            yield f"{LIST}: {len(counted)} pointers; at most {most}"

    def differences(self, entry, pointer):
        if not entry.get("why") and "foreign" not in entry:
            yield f"{LIST}: {pointer.name}: no reason"
        for what, listed, found in (
                ("implementers", entry.get("implementers", ()), set(pointer.implementers)),
                ("callers", entry.get("callers", ()), pointer.callers)):
            for file in sorted(set(listed) - found):
                yield f"{LIST}: {pointer.name}: {file} is not among its {what}"
            if "foreign" in entry and what == "callers":
                continue
            # A call through a member whose name two structures have belongs to one of the two.
            others = [other for other in self.listed.values()
                      if other["pointer"].split(".")[-1] == pointer.name.split(".")[-1]]
            named = {file for other in others for file in other.get(what, ())}
            missing = found - (named if what == "callers" else set(listed))
            for file in sorted(missing):
                yield f"{LIST}: {pointer.name}: {file} is missing from its {what}"

    def edges(self, any_upcalls):
        """(caller, implementer, pointer) of each way that a call may go."""
        for name, pointer in self.found.items():
            entry = None if any_upcalls else self.listed.get(name)
            callers = entry.get("callers", ()) if entry else pointer.callers
            for caller in callers:
                for implementer in pointer.implementers:
                    yield caller, implementer, name

    def text(self):
        parts = [LIST_HEAD]
        for name, pointer in sorted(self.found.items()):
            entry = self.listed.get(name, {})
            callers = sorted(pointer.callers)
            if set(entry.get("callers", ())) and set(entry["callers"]) < pointer.callers:
                # Somebody has said which of two structures with this member is meant.
                callers = sorted(entry["callers"])
            lines = ["[[upcall]]", f'pointer = "{name}"', *list_lines("callers", callers),
                     *list_lines("implementers", sorted(pointer.implementers))]
            if "foreign" in entry:
                lines.append(f'foreign = "{entry["foreign"]}"')
            else:
                lines.append(f'why = "{entry.get("why", "")}"')
            parts.append("\n".join(lines) + "\n")
        return "\n".join(parts)


def list_lines(key, files):
    if len(files) < 2:
        return [f"{key} = [" + "".join(f'"{file}"' for file in files) + "]"]
    return [f"{key} = [", *(f'    "{file}",' for file in files), "]"]


def reaches(edges, start, goal):
    """Whether a way of at least one edge leads from start to goal."""
    seen, waiting = set(), [start]
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other == goal:
                return True
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return False


def add_upcalls(graph, upcalls, any_upcalls):
    """Adds the pointers' edges to the graph, but for the upward ones.

    Returns the pointers that cross rooms, {room: {room: pointers}}.
    """
    direct = {room: set(others) for room, others in graph.rooms().items()}
    crossing = defaultdict(lambda: defaultdict(set))
    for caller, implementer, name in upcalls.edges(any_upcalls):
        low, high = room_of(node_of(caller)), room_of(node_of(implementer))
        if not caller.startswith("core/") or not implementer.startswith("core/"):
            continue
        if low != high:
            crossing[low][high].add(name)
        if low == high or not reaches(direct, high, low):
            graph.add(caller, implementer, f"{name} (a pointer)")
    return crossing


def show_names(names, most=4):
    ordered = sorted(names)
    more = len(ordered) - most
    return ", ".join(ordered[:most]) + (f" and {more} more" if more > 0 else "")


def circle_text(members, edges):
    lines = [f"circle of {len(members)}: " + ", ".join(members)]
    for start in members:
        for end in sorted(set(edges[start]) & set(members)):
            lines.append(f"    {start} -> {end}: {show_names(edges[start][end])}")
    return "\n".join(lines)


def check_circles(graph, crossing, options):
    """Prints the circles of files and of rooms; yields the findings."""
    for members in call_graph.components(graph.edges):
        print(circle_text(members, graph.edges))
        rooms = {room_of(member) for member in members}
        if len(members) > options.most_files:
            yield f"a circle of {len(members)} files ({members[0]} ...); at most {options.most_files}"
        if len(rooms) > options.most_rooms:
            yield f"a circle of files through {', '.join(sorted(rooms))}"
    rooms = graph.rooms()
    for members in call_graph.components(rooms):
        print(circle_text(members, rooms))
        if len(members) > options.most_rooms:
            yield f"a circle of {len(members)} rooms: {', '.join(members)}"
    for members in call_graph.components(crossing):
        print(circle_text(members, crossing))
        if len(members) > options.most_rooms:
            yield f"function pointers in both directions between {', '.join(members)}"


def check_sources(graph):
    for path in graph.core:
        if path.endswith(".c") and path not in graph.symbols:
            yield f"{path}: no object of the library is made of it"


def check_headers(root, graph, options):
    for path, source in graph.core.items():
        if not path.endswith(".h"):
            continue
        lines = (root / path).read_text(encoding="utf-8").count("\n")
        if lines > options.most_header:
            yield f"{path}: {lines} lines; at most {options.most_header}"
        files = {graph.home[name] for name in call_graph.prototypes(source) if name in graph.home}
        if len(files) > options.most_prototyped:
            yield (f"{path}: prototypes {len(files)} files ({show_names(files, 20)}); "
                   f"at most {options.most_prototyped}")


def print_table(graph, crossing):
    rooms = graph.rooms()
    names = sorted({room_of(node_of(path)) for path in graph.core})
    # From below: a room stands behind all rooms that it calls, as far as there is no circle.
    order = []
    while len(order) < len(names):
        rest = [name for name in names if name not in order]
        ready = [name for name in rest if not set(rooms[name]) - set(order)]
        order += ready or [min(rest, key=lambda name: len(set(rooms[name]) - set(order)))]
    print("| room | calls | is called through pointers by |\n| --- | --- | --- |")
    for room in order:
        below = [f"`{other}` {len(rooms[room][other])}" for other in order if other in rooms[room]]
        above = [f"`{other}` ({show_names(crossing[other][room], 9)})" for other in order
                 if room in crossing[other]]
        print(f"| `{room}` | {', '.join(below) or 'nothing'} | {', '.join(above)} |")


def print_dot(graph, crossing, room):
    print("digraph calls {\n    node [shape=box];")
    if room is None:
        edges = graph.rooms()
        for start, ends in sorted(crossing.items()):
            for end in sorted(ends):
                print(f'    "{start}" -> "{end}" [style=dashed];')
    else:
        edges = {start: {end: names for end, names in ends.items() if room_of(end) == room}
                 for start, ends in graph.edges.items() if room_of(start) == room}
    for start, ends in sorted(edges.items()):
        for end, names in sorted(ends.items()):
            print(f'    "{start}" -> "{end}" [label="{len(names)}"];')
    print("}")


def parse_options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("build", type=Path)
    for name, value in (("files", 2), ("rooms", 1), ("header", 250), ("prototyped", 2),
                        ("upcalls", 18)):
        parser.add_argument(f"--most-{name}", type=int, default=value)
    for name in ("any-upcalls", "table", "write-upcalls"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--dot", nargs="?", const="", default=None)
    return parser.parse_args(arguments)


def read_tree(options, symbols):
    sources = call_graph.read_sources(options.root, ("core", "interop", "backends/vulkan"))
    return call_graph.Graph(sources, symbols), Upcalls(options.root, sources)


def find_breaches(options, symbols):
    """Prints the circles; returns the findings and the number of edges."""
    graph, upcalls = read_tree(options, symbols)
    crossing = add_upcalls(graph, upcalls, options.any_upcalls)
    findings = list(check_circles(graph, crossing, options))
    findings += check_sources(graph)
    findings += check_headers(options.root, graph, options)
    if not options.any_upcalls:
        differences = list(upcalls.findings(options.most_upcalls))
        findings += differences + [f"{LIST}: --write-upcalls renews the files"][:len(differences)]
    return findings, sum(len(ends) for ends in graph.edges.values())


def main():
    options = parse_options()
    symbols = call_graph.read_objects(options.root, options.build, options.nm)
    if not symbols:
        print(f"skipped: {options.build} has no objects of the library")
        return 77
    if options.write_upcalls or options.table or options.dot is not None:
        graph, upcalls = read_tree(options, symbols)
        crossing = add_upcalls(graph, upcalls, options.any_upcalls)
        if options.write_upcalls:
            (options.root / LIST).write_text(upcalls.text(), encoding="utf-8")
        elif options.table:
            print_table(graph, crossing)
        else:
            print_dot(graph, crossing, options.dot or None)
        return 0
    findings, edges = find_breaches(options, symbols)
    print("\n".join(findings + [f"{edges} edges between files, {len(findings)} findings"]))
    return 1 if findings or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
