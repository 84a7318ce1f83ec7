"""Results of scripts/figures beside those of another version."""

import json
import sys

# Ratios nearer to 1 than this are called equal: counts vary less, times on a quiet machine about so.
EQUAL = {False: 0.01, True: 0.05}
# Endings of keys of which more is better. Of all others less is better.
MORE = ("occupancy", "occupancy_min", "speedup", "speedup_timed", "speedup_min", "speedup_median",
        "speedup_max", "solved", "vma_of_maar", "edges_less_percent", "lower_bound", "gbps_timed", "pages_s")
# Endings of keys that describe the run, and parts of keys of other programs.
NEITHER = ("objects", "resources", "events", "entries", "runs", "quiet_timed", "quiet_runs", "rounds",
           "live", "live_mib", "frames", "rows", "states", "parts", "injections", "points", "lines")
OTHERS = ("vma", "minimalloc", "single", "system", "raw")


def read(folder):
    """Returns {section: {key: number}}, {section: (commit, whether its values are times)}."""
    values, runs = {}, {}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        values[record["section"]] = {
            key: value for key, value in record["values"].items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)}
        runs[record["section"]] = record["commit"]
    return values, runs


def is_compared(key):
    """Whether a figure is one of Maar's, and says how well it does."""
    parts = key.split(".")
    return parts[-1] not in NEITHER and not any(
        part in OTHERS or part.startswith(("driver", "vma-")) for part in parts[:-1])


def is_time(key):
    return any(part in key for part in ("_timed", "_us", "_ns", "cpu_", ".us", ".ns", "speedup"))


def judge(key, old, new):
    """Returns "better", "equal" or "worse", and the ratio."""
    if old == new:
        return "equal", 1.0
    if old == 0:
        return "worse" if key.split(".")[-1] not in MORE else "better", float("inf")
    ratio = new / old
    if abs(ratio - 1) <= EQUAL[is_time(key)]:
        return "equal", ratio
    return ("better" if (ratio > 1) == (key.split(".")[-1] in MORE) else "worse"), ratio


def shown(number):
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def write(folder, other, output):
    """Writes the page. Returns an exit code."""
    new, runs = read(folder)
    old, old_runs = read(other)
    shared = [name for name in new if name in old]
    if not shared:
        print(f"figures: {other} has no results of the same sections", file=sys.stderr)
        return 2
    rows, worse = [], []
    for name in shared:
        counts = {"better": 0, "equal": 0, "worse": 0}
        for key in sorted(set(new[name]) & set(old[name])):
            if not is_compared(key):
                continue
            verdict, ratio = judge(key, old[name][key], new[name][key])
            counts[verdict] += 1
            if verdict == "worse":
                worse.append((ratio, key, old[name][key], new[name][key]))
        rows.append(f"| `{name}` | {old_runs[name]} | {runs[name]} | {counts['better']} | "
                    f"{counts['equal']} | {counts['worse']} |")
    worse.sort(key=lambda row: (-max(row[0], 1 / row[0] if row[0] else 1), row[1]))
    text = f"""# Beside the version before

Every figure of the sections that both versions of `scripts/figures` have, each measured by its own. Made by

    scripts/figures --beside DIR    # docs/project/results/figures of the other version's sources

Counts that differ by 1 %, and times that differ by 5 %, are called equal. Figures of other libraries, and
those that only describe a run, are left out. That small programs make more calls for memory is the price of
holding less: [blocks](../../design.md#blocks).

| section | commit before | commit now | better | equal | worse |
| --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}

## What is worse

| figure | before | now | ratio |
| --- | --- | --- | --- |
"""
    text += "".join(f"| `{key}` | {shown(before)} | {shown(now)} | {ratio:.2f} |\n"
                    for ratio, key, before, now in worse)
    output.write_text(text, encoding="utf-8")
    print(f"figures: {output} has {len(shared)} sections, {len(worse)} figures are worse")
    return 0
