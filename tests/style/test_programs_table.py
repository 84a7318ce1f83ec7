"""scripts/programs_table.py: the page of scripts/capture-programs, from results that are made up.

test_programs_table.py SCRIPTS
"""

import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SCRIPTS))

import programs_list  # noqa: E402
import programs_table  # noqa: E402

GOOD, BAD, ABSENT = "vkcube", "ffmpeg", "godot"
RADV = "draw_with_maar.radv"


def capture(driver="llvmpipe", **totals):
    heap = {"device": 1, "heap": 0, "peakBytes": 3 << 20, "usageReadings": 2,
            "usageAboveLeast": 4096, "usageAboveMost": 8192}
    counts = {"allocations": 5, "resources": 6, "unbound": 1, "events": 100, "strays": 0,
              "unknown": 0, "unfinished": 0}
    device = {"device": 1, "name": "llvmpipe (LLVM 15.0.6, 256 bits)", "driver": driver,
              "driverInfo": "Mesa 25.0.7-2 (LLVM 15.0.6)"}
    found = [{"finding": "never-bound", "verdict": "proved", "leastBytes": 1 << 20,
              "mostBytes": 1 << 20, "calls": 0, "driverTime_ns": 0},
             {"finding": "own-memory", "verdict": "proved", "leastBytes": 0, "mostBytes": 0,
              "calls": 16, "driverTime_ns": 1500000},
             {"finding": "aliasing", "verdict": "bounded", "leastBytes": 0, "mostBytes": 2 << 20,
              "calls": 0, "driverTime_ns": 0}]
    return {"used": 65536 + 8000, "findings": found,
            "totals": {**counts, **totals, "devices": [device], "heaps": [heap]}}


def result(captures, **more):
    return {"version": "7:1.2", "mesa": "25.0.7-2~x", "codes": [0, 0], "compared": ["5.png", "6.png"], "differ": [],
            "missing": False, "captures": captures, **more}


def cells_of(text, name):
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return dict(zip(programs_table.COLUMNS, [cell.strip() for cell in line.split("|")[1:-1]]))


def check(holds, what):
    if not holds:
        print(f"test_programs_table: {what}")
        sys.exit(1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page = folder / "page.md"
        page.write_text("old\n\n## What was learned\n\nby hand\n", encoding="utf-8")
        for name, value in ((GOOD, result([capture(), capture(strays=2)])),
                            (BAD, result([capture()], differ=["6.png"])),
                            (RADV, result([capture("radv")])), (ABSENT, {"skipped": "no godot"})):
            (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        programs_table.write(page, programs_list.PROGRAMS, folder)
        text = page.read_text(encoding="utf-8")
    good = cells_of(text, GOOD)
    check(good["processes"] == "2" and good["events"] == "200" and good["bytes"] == "80", good)
    check(good["left over"] == "2" and good["never bound"] == "2", good)
    check(good["peak"] == "3 MiB" and good["driver"] == "lavapipe 25.0.7 (LLVM 15.0.6)", good)
    check(good["same"] == "5.png and 1 more", good)
    check(good["would save"].split("<br>")[:3] == ["1 MiB", "16 calls, 1.50 ms", "0 B to 2 MiB"], good)
    check(cells_of(text, BAD)["same"] == "**no**", "a difference is shown")
    check("| draw_with_maar.radv | 0 | 2 | 3 MiB | 4096 | 8192 |" in text, "the budget's table")
    check("**Skipped: no godot.**" in text, "the reason of a skipped program")
    check(text.endswith("## What was learned\n\nby hand\n") and "old" not in text.split("\n")[0],
          "what people wrote is kept")
    names = [program.name for program in programs_list.PROGRAMS]
    check(len(set(names)) == len(names), "names are unique")
    check(all(p.same or p.why for p in programs_list.PROGRAMS), "what cannot be compared has a reason")
    return 0


if __name__ == "__main__":
    sys.exit(main())
