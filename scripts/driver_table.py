"""Write the table of scripts/driver-matrix from its results.

driver_table.py --results FOLDER --out FILE NAME...

FOLDER/NAME contains the results of one driver: tests.xml from ctest, info.json and replay.json from
the maar command, and versions (one package a line). Names without a result are omitted. The part of
FILE from its heading Findings on is kept, since people write it. The first column of the table there
is a number; the second names the drivers of the finding, as `sid.nvk-*`. A case that was skipped
without a reason is an error.
"""

import argparse
import fnmatch
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

import skipped

HEAD = """# Drivers

Written by `scripts/driver-matrix` ([testing.md](../testing.md#the-driver-matrix)), which runs every
program that has an entry on a real driver once more on each of these. `base` is Debian 12 with the
drivers of its backports and Chromium's SwiftShader, `trixie` is Debian 13, `sid` is unstable. lavapipe
and SwiftShader execute on the CPU; the others are the vendors' drivers over kernel interfaces that
execute nothing: their memory, their requirements and their answers are real, contents are not compared.
Cases are counted, not programs. Every case that can runs under the validation layer with
synchronization validation, and a message of it is a failure.
"""
FINDINGS = "## Findings"
SAYS_NOTHING = """## Findings

| no. | drivers | what was found | whose | what was done |
| --- | --- | --- | --- | --- |
"""
PASSED = re.compile(r"^\[       OK \] (\S+)", re.MULTILINE)
FAILED = re.compile(r"^\[  (?:FAILED|ERROR ) *\] (?!---|\S+: )(\w+)\s*$", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
RED = re.compile(r"^(?:FAIL|ERROR): (\S+)", re.MULTILINE)


def count_cases(test):
    """Returns the names of the passed and failed cases, and (name, reason) of the skipped cases, of one
    entry of ctest."""
    output = test.findtext("system-out") or ""
    name = test.get("name").rsplit(".", 1)[0]
    whole = test.find("failure") is not None or test.get("status") == "fail"
    left_out = list(skipped.skipped_cases(output))
    if test.find("skipped") is not None and not left_out:
        reasons = [m[1] for m in map(skipped.REASON.match, output.splitlines()) if m]
        return [], [], [(name, reasons[-1] if reasons else "no reason given")]
    ran = RAN.findall(output)
    if ran:
        failed = sorted(set(RED.findall(output)))
        passed = int(ran[-1]) - len(failed) - len(left_out)
        passed = [f"{name} {i}" for i in range(passed)]
    else:
        failed = sorted(set(FAILED.findall(output)))
        passed = sorted(set(PASSED.findall(output)) - set(failed))
        if not passed and not failed and not left_out and not whole:
            passed = [name]
    if whole and not failed:
        failed = ["the whole program"]
    return passed, [f"{name}: {case}" for case in failed], \
        [(f"{name}: {case}", reason) for case, reason in left_out]


class Driver:
    """What one driver gave."""

    def __init__(self, folder):
        self.name = folder.name
        self.passed, self.failed, self.skipped = [], [], []
        self.programs = 0
        for test in xml.parse(folder / "tests.xml").getroot().iter("testcase"):
            self.programs += 1
            for mine, found in zip((self.passed, self.failed, self.skipped), count_cases(test)):
                mine += found
        self.info = first_object(folder / "info.json")
        self.replay = first_object(folder / "replay.json")
        lines = (folder / "versions").read_text(encoding="utf-8").split("\n")
        self.versions = dict(line.split(" ", 1) for line in lines if " " in line)

    def suite(self):
        return self.name.split(".")[0]


def first_object(path):
    """The first line of a file, as JSON; nothing where the program failed."""
    try:
        return json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    except (OSError, IndexError, ValueError):
        return {}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def size(number):
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if number >= 1 << bits:
            return f"{number / (1 << bits):.3g} {unit}"
    return str(number)


def findings_of(text, name):
    """Numbers of the rows that are about this driver."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and cells[1].isdigit():
            if any(fnmatch.fnmatch(name, each) for each in re.findall(r"`([^`]+)`", cells[2])):
                found.append(cells[1])
    return found


def result_rows(drivers, findings):
    for driver in drivers:
        yield (f"`{driver.name}`", driver.info.get("device", "?").strip(),
               driver.info.get("driver", "?"), driver.programs, len(driver.passed),
               len(driver.failed), len(driver.skipped),
               ", ".join(findings_of(findings, driver.name)) or "none")


def system_rows(drivers):
    for suite in dict.fromkeys(driver.suite() for driver in drivers):
        known = next(driver.versions for driver in drivers if driver.suite() == suite)
        yield (suite, *(known.get(package, "?") for package in (
            "mesa-vulkan-drivers", "vulkan-validationlayers", "libvulkan-dev", "gcc", "libc6")))


def info_rows(drivers):
    for driver in drivers:
        info = driver.info
        if not info:
            yield (f"`{driver.name}`", *["failed"] * 8)
            continue
        heaps = [size(heap["size"]) + (" DL" if heap["device_local"] else "")
                 for heap in info["heaps"]]
        limits, paging, sharing = info["limits"], info["paging"] or {}, info["sharing"] or {}
        none = [use["purpose"] for use in info["uses"] if use["type"] is None]
        yield (f"`{driver.name}`", ", ".join(heaps), len(info["types"]),
               limits["maxMemoryAllocationCount"] if limits["maxMemoryAllocationCount"] < 2**32 - 1
               else "none", limits["bufferImageGranularity"],
               "driver" if info["heaps"][0].get("budget_from_driver") else "assumed",
               size(paging.get("sparse_buffer_page", 0)) if paging.get("sparse_buffer_page") else
               "none", sharing.get("shared_buffers", "?"), ", ".join(none) or "each")


def replay_rows(drivers):
    for driver in drivers:
        run = driver.replay
        if not run:
            yield (f"`{driver.name}`", *["failed"] * 6)
            continue
        yield (f"`{driver.name}`", run["allocations"], run["failures"], run["real_buffers"],
               run["real_images"], size(run["peak_live_bytes"]), size(run["peak_reserved_bytes"]),
               run["verification"])


def skip_rows(drivers):
    """By reason: in how many cases, in which programs, on which drivers."""
    by_reason = {}
    for driver in drivers:
        for case, reason in driver.skipped:
            names, cases = by_reason.setdefault(reason, ({}, {}))
            names[driver.name] = True
            cases[case] = True
    for reason, (names, cases) in sorted(by_reason.items(), key=lambda item: -len(item[1][1])):
        shown = list(cases)
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        yield reason, ", ".join(f"`{case}`" for case in shown[:3]) + more, shorten(names, drivers)


def shorten(names, drivers):
    others = [driver.name for driver in drivers if driver.name not in names]
    if not others:
        return "all"
    if len(others) < len(names):
        return "all but " + ", ".join(f"`{name}`" for name in others)
    return ", ".join(f"`{name}`" for name in names)


def write(drivers, findings):
    text = HEAD + "\n" + table(
        ("driver", "device", "version", "programs", "passed", "failed", "skipped", "findings"),
        result_rows(drivers, findings))
    failed = [(f"`{driver.name}`", case) for driver in drivers for case in driver.failed]
    if failed:
        text += "\n## Failed\n\n" + table(("driver", "case"), failed)
    text += "\n## Skipped\n\n" + table(("reason", "cases", "drivers"), skip_rows(drivers))
    text += "\n## Systems\n\n" + table(
        ("system", "Mesa", "validation layer", "Vulkan headers", "GCC", "libc"),
        system_rows(drivers))
    text += "\n## What `maar info` sees\n\n" + table(
        ("driver", "heaps (DL: device-local)", "types", "allocations", "granularity", "budget from",
         "sparse page", "shared buffers", "purposes with a type"), info_rows(drivers))
    text += "\n## One captured trace, verified\n\n`maar replay --verify` of a game " \
        "(`captured-supertuxkart`). `gpu`: the device wrote and read every byte; `bookkeeping`: " \
        "ranges and\nalignments were checked, since nothing executes.\n\n" + table(
            ("driver", "allocations", "failures", "buffers", "images", "peak live", "peak reserved",
             "verification"), replay_rows(drivers))
    return text + "\n" + findings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    drivers = [Driver(options.results / name) for name in options.names
               if (options.results / name / "tests.xml").exists()]
    if not drivers:
        print(f"driver_table.py: no results in {options.results}", file=sys.stderr)
        return 1
    old = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    at = old.find(FINDINGS)
    text = write(drivers, old[at:] if at >= 0 else SAYS_NOTHING)
    options.out.write_text(text, encoding="utf-8")
    for driver in drivers:
        print(f"  {driver.name:18} {len(driver.passed):4} passed {len(driver.failed):3} failed "
              f"{len(driver.skipped):3} skipped")
    mute = [f"{driver.name} {case}" for driver in drivers for case, reason in driver.skipped
            if reason == "no reason given"]
    if mute:
        print(f"driver_table.py: skipped without a reason: {', '.join(mute)}", file=sys.stderr)
    return 1 if mute else 0


if __name__ == "__main__":
    sys.exit(main())
