"""Print one table of the results of maar replay --json: demo_table.py results.jsonl

The table compares each strategy with "dedicated", which means one vkAllocateMemory per resource.
"""

import json
import sys

MIB = 1 << 20
COLUMNS = ("program", "strategy", "device calls", "peak reserved", "unused", "ns/event",
           "failures", "verified")


def row(result, dedicated):
    calls = result["device_allocation_calls"]
    reserved, live = result["peak_reserved_bytes"], result["peak_live_bytes"]
    fewer = ""
    if dedicated and result is not dedicated and calls:
        fewer = f" ({dedicated['device_allocation_calls'] / calls:.0f}x fewer)"
    verified = "bookkeeping"
    if result["verification"] != "bookkeeping":
        right, allocated = result["verified_bytes"], result["allocated_bytes"]
        verified = f"{allocated / MIB:.1f} MiB, all"
        if right != allocated:
            verified = f"{right / MIB:.1f} of {allocated / MIB:.1f} MiB"
    return (
        "",
        result["strategy"],
        f"{calls}{fewer}",
        f"{reserved / MIB:.1f} MiB",
        f"{100 * (reserved - live) / reserved:.1f} %" if reserved else "-",
        f"{result['ns_per_event']:.0f}",
        str(result["failures"]),
        verified,
    )


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        results = [json.loads(line) for line in file if line.strip()]
    if not results:
        sys.exit("demo: no results")
    rows = [COLUMNS]
    groups = {}
    for result in results:
        groups.setdefault(result["trace"], []).append(result)
    for trace, group in groups.items():
        dedicated = next((r for r in group if r["strategy"] == "dedicated"), None)
        name = trace.rsplit("/", 1)[-1].removesuffix(".csv").removeprefix("captured-")
        for index, result in enumerate(group):
            cells = row(result, dedicated)
            rows.append((name if index == 0 else "", *cells[1:]))
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    print(f"\nDevice: {results[0]['device']}\nDriver: {results[0]['driver']}\n\n"
          "\"dedicated\" is one vkAllocateMemory per resource; \"unused\" the part of the peak "
          "reservation that\nthe live peak leaves empty; \"verified\" what the device itself wrote "
          "and read back right.\n")
    for index, cells in enumerate(rows):
        aligned = [c.ljust(w) if i < 2 else c.rjust(w)
                   for i, (c, w) in enumerate(zip(cells, widths))]
        if index and cells[0]:
            print()
        print("  ".join(aligned).rstrip())


if __name__ == "__main__":
    sys.exit(main())
