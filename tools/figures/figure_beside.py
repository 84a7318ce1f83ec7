"""Results of scripts/figures beside those of another version."""

import json
import statistics
import sys

# Ratios nearer to 1 than this are called equal: counts vary less, times on a quiet machine about so.
EQUAL = {False: 0.01, True: 0.1}
# Endings of keys of which more is better. Of all others less is better.
MORE = ("occupancy", "occupancy_min", "speedup", "speedup_timed", "speedup_min", "speedup_median",
        "speedup_max", "solved", "vma_of_maar", "edges_less_percent", "lower_bound", "gbps_timed", "pages_s")
# Sections that say how much was tested or written; endings of keys that describe the run; parts of keys
# of other programs.
LEFT_OUT = ("tree", "faults", "replay-faults", "pictures")
NEITHER = ("objects", "resources", "events", "entries", "runs", "quiet_timed", "quiet_runs", "rounds",
           "live", "live_mib", "frames", "rows", "states", "parts", "injections", "points", "lines")
OTHERS = ("vma", "minimalloc", "single", "system", "raw")


def read_run(folder):
    """Returns {section: (commit, {key: number})} of one run."""
    records = {}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record.get("section") not in (None, *LEFT_OUT):
            records[record["section"]] = (record["commit"], {
                key: value for key, value in record["values"].items()
                if isinstance(value, (int, float)) and not isinstance(value, bool)})
    return records


def read(folder):
    """Returns {section: {key: median}} and {section: (commit, number of runs)}. The folder has the results
    of one run, or a folder for each run."""
    found = [read_run(each) for each in (folder, *sorted(each for each in folder.iterdir() if each.is_dir()))]
    values, runs = {}, {}
    for name in sorted({name for run in found for name in run}):
        of_name = [run[name] for run in found if name in run]
        keys = set.intersection(*(set(numbers) for _, numbers in of_name))
        values[name] = {key: statistics.median(numbers[key] for _, numbers in of_name) for key in keys}
        runs[name] = (of_name[-1][0], len(of_name))
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
        rows.append(f"| `{name}` | {old_runs[name][0]} | {runs[name][0]} | "
                    f"{min(old_runs[name][1], runs[name][1])} | {counts['better']} | {counts['equal']} | "
                    f"{counts['worse']} |")
    worse.sort(key=lambda row: (-max(row[0], 1 / row[0] if row[0] else 1), row[1]))
    text = f"""# Beside the version before

Every figure of the sections that both versions of `scripts/figures` have, each measured by its own.
Made by

    scripts/figures --beside BEFORE --now NOW    # folders of results: one for each run

Of several runs the median counts. Counts that differ by 1 %, and times that differ by 10 %, are called equal.
Figures of other libraries, and those that only describe a run, are left out.

- That small programs make more calls for memory is the price of holding less: [blocks](../../design.md#blocks).
- Times of `sparse`, `paging` and `tiles` on simulated devices contain the simulated driver, which keeps its page
  tables in trees since and takes longer for a bind; `paging` also has the driver alone.

| section | commit before | commit now | runs | better | equal | worse |
| --- | --- | --- | --- | --- | --- | --- |
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
