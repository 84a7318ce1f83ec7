"""The fuzz targets of scripts/long-runs, by tests/fuzz/run.sh."""

import os
import re
import subprocess

from long_common import Skipped, commit_of

# The shortest run of libFuzzer that is worth its start, in seconds.
LEAST_SECONDS = 20
# With less CPU than this share of a second in a second, the machine is too busy for more.
MOST_TURNS = 50


def targets_of(root):
    """Returns the names of the targets, from run.sh itself."""
    text = (root / "tests/fuzz/run.sh").read_text(encoding="utf-8")
    names = re.findall(r'^targets="(?:\$targets )?([a-z_ ]+)"$', text, re.MULTILINE)
    return " ".join(names).split()


def read_runs(path):
    """Returns CPU seconds, executions and findings by target: lines of `target cpu executions edges
    inputs findings`."""
    sums = {}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for line in text.splitlines():
        name, cpu, executions, _, _, findings = line.split()
        old = sums.get(name, (0.0, 0, 0))
        sums[name] = (old[0] + float(cpu), old[1] + int(executions), old[2] + int(findings))
    return sums


def row_of(name, sums, command, commit):
    return {"target": name, "command": command, "commit": commit, "cpu": f"{sums[0]:.0f}",
            "steps": str(sums[1]), "findings": str(sums[2])}


def take(options):
    sums = read_runs(options.take / "fuzz" / "runs")
    commit = options.commit or commit_of(options.root)
    return [row_of(name, each, f"tests/fuzz/run.sh {name} SECONDS", commit)
            for name, each in sums.items()]


def run_target(options, name, seconds):
    """Runs a target until it has used so many CPU seconds, or found something. Returns what it
    used, executed and found."""
    folder = options.build / "fuzz"
    runs = folder / "fuzz" / "runs"
    before = read_runs(runs).get(name, (0.0, 0, 0))
    used = (0.0, 0, 0)
    for _ in range(MOST_TURNS):
        left = seconds - used[0]
        if left < 1 or used[2] > 0:
            break
        done = subprocess.run(
            ["sh", options.root / "tests/fuzz/run.sh", name, str(int(max(left, LEAST_SECONDS)))],
            env={**os.environ, "MAAR_BUILD_DIR": str(folder)}, check=False)
        if done.returncode == 77:
            raise Skipped("run.sh found no clang with libFuzzer")
        now = read_runs(runs).get(name, before)
        used = tuple(new - old for new, old in zip(now, before))
        if done.returncode not in (0, 1):
            raise SystemExit(f"long-runs: run.sh {name} ended with {done.returncode}")
    return used


def run(options, minutes):
    if options.take:
        return take(options)
    command = f"scripts/long-runs fuzz --minutes {minutes:g}"
    rows = []
    for name in targets_of(options.root):
        commit = commit_of(options.root)
        rows.append(row_of(name, run_target(options, name, minutes * 60), command, commit))
    return rows
