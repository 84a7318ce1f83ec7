"""Write the page of scripts/capture-programs from its results. What people wrote, from the heading
"What was learned" on, is kept."""

import json
import re

HEAD = """# Programs

Written by `scripts/capture-programs`: programs of other people under `maar capture`, without a person at
the screen. Each ran twice, without and with the layer, on lavapipe or on RADV over a kernel that executes
nothing. [findings.md](../../findings.md) explains each finding.

- *same*: what was equal in both runs besides the exit code. A dash: nothing else can be compared, for the
  reason in the list of the commands.
- *events*, *bytes*: entries of the captures, and bytes of the file for each, without its header of 64 KiB.
- *never bound*: resources that never had bytes. *left over*: entries that the reader could not place
  (objects of unknown origin, unknown kinds, unfinished records).
- *would save*: bytes of the peak, or calls of `vkAllocateMemory` and their time, by a finding's arithmetic.
"""
LEARNED = "## What was learned"
SYSTEMS = {"bookworm": "Debian 12", "trixie": "Debian 13", "sid": "sid"}


def size(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    return ""


def driver_of(program, result):
    """The driver, its package's version, and the chip."""
    for capture in result["captures"]:
        for device in capture["totals"]["devices"]:
            chip = re.search(r"\((?:RADV )?(NAVI\d+|LLVM [\d.]+)", device["name"])
            version = re.match(r"[\d.]+", result["mesa"])
            return " ".join(filter(None, (program.rig, version and version[0],
                                          chip and f"({chip[1]})")))
    return ""


def peak_of(capture):
    return max((heap["peakBytes"] for heap in capture["totals"]["heaps"]), default=0)


def saving(finding):
    if finding["mostBytes"] == 0 and finding["calls"]:
        return f"{finding['calls']} calls, {finding['driverTime_ns'] / 1e6:.2f} ms"
    if finding["verdict"] == "proved":
        return size(finding["mostBytes"])
    return f"{size(finding['leastBytes'])} to {size(finding['mostBytes'])}"


def row(program, result):
    captures = result["captures"]
    used = [c for c in captures if c["totals"]["allocations"]] or captures
    events = sum(c["totals"]["events"] for c in captures)
    data = sum(max(c["used"] - 65536, 0) for c in captures)
    found = [(c, f) for c in captures for f in c["findings"]]
    total = {name: sum(c["totals"][name] for c in captures) for name in
             ("allocations", "resources", "unbound", "strays", "unknown", "unfinished")}
    left = total["strays"] + total["unknown"] + total["unfinished"]
    same = ", ".join(result["compared"][:1]) + \
        (f" and {len(result['compared']) - 1} more" if len(result["compared"]) > 1 else "")
    if result["differ"] or result["codes"][0] != result["codes"][1] or result["missing"]:
        same = "**no**"
    return [program.name, program.kind, re.sub(r"^\d+:", "", result["version"]) or "this", driver_of(program, result),
            str(len(captures)), str(result["codes"][1]), same or "–", str(events),
            f"{data / events:.0f}" if events else "–", size(sum(c["used"] for c in captures)),
            str(total["allocations"]), str(total["resources"]),
            size(max(map(peak_of, used), default=0)), str(total["unbound"]), str(left),
            "<br>".join(f"{f['finding']} ({f['verdict']})" for _, f in found) or "none",
            "<br>".join(saving(f) for _, f in found) or "–"]


COLUMNS = ("program", "what", "version", "driver", "processes", "exit", "same", "events", "bytes",
           "size", "memories", "resources", "peak", "never bound", "left over", "findings",
           "would save")


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for cells in rows]) + "\n"


def budget_rows(programs, results):
    """How far the driver's figure of a heap's use lies above the bytes of the capture."""
    for program in programs:
        for capture in results.get(program.name, {}).get("captures", []):
            if program.rig != "radv":
                continue
            for heap in capture["totals"]["heaps"]:
                if heap.get("usageReadings"):
                    yield [program.name, str(heap["heap"]), str(heap["usageReadings"]),
                           size(heap["peakBytes"]), str(heap["usageAboveLeast"]),
                           str(heap["usageAboveMost"])]


def commands(programs, results):
    for program in programs:
        system = SYSTEMS[program.system]
        reason = results.get(program.name, {}).get("skipped")
        environment = "".join(f"{name}={value} " for name, value in program.environment.items())
        ends = f"; ended by SIGTERM after {program.seconds} s" if program.seconds else ""
        why = f"; {program.why}" if program.why else ""
        shot = f"; frames {program.frames} by Mesa's screenshot layer" if program.frames else ""
        skipped = f" **Skipped: {reason}.**" if reason else ""
        yield f"- **{program.name}** ({system}{ends}{shot}{why}):{skipped}\n" \
              f"  `{environment}{program.command}`\n"


def write(path, programs, folder):
    results = {}
    for program in programs:
        file = folder / f"{program.name}.json"
        if file.exists():
            results[program.name] = json.loads(file.read_text(encoding="utf-8"))
    ran = [p for p in programs if "captures" in results.get(p.name, {})]
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    learned = old[old.index(LEARNED):] if LEARNED in old else LEARNED + "\n"
    text = HEAD + "\n" + table(COLUMNS, [row(p, results[p.name]) for p in ran])
    text += """
## The driver's own figures

`VK_EXT_memory_budget` over the shim counts the bytes of the process exactly, at the most every 100 ms. The
difference is what the driver holds besides the program's memory. lavapipe reports the memory of the whole
machine, so nothing can be compared there.

"""
    text += table(("program", "heap", "readings", "peak", "least above, bytes", "most above, bytes"),
                  list(budget_rows(programs, results)))
    text += "\n## Commands\n\n" + "".join(commands(programs, results)) + "\n" + learned
    path.write_text(text, encoding="utf-8")
