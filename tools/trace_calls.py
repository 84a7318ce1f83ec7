#!/usr/bin/env python3
"""Count the functions and files that a few calls run through: trace_calls.py ROOT [OPTION...]

  --driver FILE   the driver's manifest for the Vulkan loader; lavapipe's by default
  --build DIR     where to build; ROOT/build/trace by default
  --show JOURNEY  print this journey as a tree of calls instead of the table
  --all           count functions of all rooms; by default those of core alone

Builds the library of ROOT with -O0 -DNDEBUG -finstrument-functions, links tools/trace/trace_calls.c with it
and runs it. The table has, for each call: the functions that ran, each counted once; the files that
define them, and how many of them are .c files (an inline function counts as its header's); and how
often the next function to be entered was one of another file. The last column leaves out what lies
in core itself: ports, host memory, bits.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

# Ports, host memory, bits: what every room stands on.
BASE = re.compile(r"core/[^/]+\.[ch]")
HERE = Path(__file__).resolve().parent
DRIVERS = ("/usr/share/vulkan/icd.d/lvp_icd.json", "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"trace_calls: {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def build_program(root, build):
    # DWARF 4: of version 5, addr2line 2.40 takes functions of headers for those of the including file.
    flags = "-O0 -g -gdwarf-4 -finstrument-functions -DNDEBUG"
    run(["cmake", "-S", root, "-B", build, "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={flags}",
         "-DMAAR_BUILD_TESTS=OFF", "-DMAAR_BUILD_TOOLS=OFF", "-DMAAR_BUILD_SAMPLES=OFF",
         "-DMAAR_BUILD_BENCH=OFF", "-DBUILD_SHARED_LIBS=OFF"])
    run(["cmake", "--build", build, "--target", "maar", "--parallel", "2"])
    program = build / "trace_calls"
    run(["cc", "-std=gnu11", "-no-pie", "-I", root / "include", HERE / "trace" / "trace_calls.c",
         build / "libmaar.a", "-lvulkan", "-ldl", "-lpthread", "-o", program])
    return program


def read_journeys(output):
    """{name: [(address, is an exit)]}"""
    journeys, events = {}, []
    for line in output.splitlines():
        if line.startswith("journey "):
            events = journeys.setdefault(line[len("journey "):], [])
        elif line.startswith("failed "):
            sys.exit(f"trace_calls: {line}")
        else:
            events.append((line.lstrip("-"), line.startswith("-")))
    return journeys


def name_addresses(program, addresses, root):
    """{address: (function, file)}"""
    ordered = sorted(addresses)
    lines = run(["addr2line", "-f", "-e", program], input="\n".join(ordered)).splitlines()
    named = {}
    for address, function, place in zip(ordered, lines[::2], lines[1::2]):
        path = os.path.relpath(os.path.realpath(re.sub(r":\S+( .*)?$", "", place)), root)
        named[address] = (function, path)
    return named


def entered(events, named, prefix):
    """The events inside the rooms in question, as (depth, function, file, is an exit)."""
    depth = 0
    for address, is_exit in events:
        function, file = named.get(address, ("", "?"))
        depth -= is_exit
        if file != "?" and file.startswith(prefix):
            yield depth, function, file, is_exit
        depth += not is_exit


def measure(events, named, prefix):
    functions, files, changes, previous = set(), set(), 0, None
    for _, function, file, is_exit in entered(events, named, prefix):
        if not is_exit:
            changes += previous not in (None, file)
            previous = file
            functions.add((function, file))
            files.add(file)
    return len(functions), len(files), sum(file.endswith(".c") for file in files), changes


def print_table(journeys, named, prefix):
    print("| call | functions | files (.c) | changes of file | files above the base, changes |\n"
          "| --- | --- | --- | --- | --- |")
    for name, events in journeys.items():
        functions, files, sources, changes = measure(events, named, prefix)
        above = measure(events, {address: place for address, place in named.items()
                                 if not BASE.fullmatch(place[1])}, prefix)
        print(f"| {name} | {functions} | {files} ({sources}) | {changes} | {above[1]}, {above[3]} |")


def print_tree(events, named, prefix):
    previous = None
    for depth, function, file, is_exit in entered(events, named, prefix):
        if not is_exit:
            print(f"{'  ' * depth}{function}" + (f"  [{file}]" if file != previous else ""))
            previous = file


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--driver")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--show")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    driver = options.driver or next(filter(os.path.exists, DRIVERS), None)
    if driver is None:
        sys.exit("trace_calls: lavapipe is missing; see --driver")
    program = build_program(root, (options.build or root / "build" / "trace").resolve())
    environment = {**os.environ, "VK_ICD_FILENAMES": driver, "VK_DRIVER_FILES": driver}
    journeys = read_journeys(run([program], env=environment, timeout=60))
    named = name_addresses(program, {a for events in journeys.values() for a, _ in events}, root)
    prefix = ("",) if options.all else ("core/",)
    if options.show:
        found = next((events for name, events in journeys.items() if name == options.show), None)
        if found is None:
            sys.exit(f"trace_calls: no such journey; there are: {'; '.join(journeys)}")
        print_tree(found, named, prefix)
    else:
        print_table(journeys, named, prefix)
    return 0


if __name__ == "__main__":
    sys.exit(main())
