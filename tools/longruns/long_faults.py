"""Faults in whole programs for scripts/long-runs: each host allocation and each call of the
simulated driver of a program's run fails in turn (tests/fault/whole_program.c)."""

import os
import subprocess
import tempfile
from pathlib import Path

from long_common import build, commit_of, cpu_of_children, keep_log

CARD = "amd-rx7900xtx-radv25.0"
PROGRAMS = {
    "maar info": ("whole_maar", "info --device simulated:{card}"),
    "maar replay": ("whole_maar", "replay {data}/traces/captured-vkcube.csv --device simulated:{card}"),
    "maar replay, pages": ("whole_maar", "replay {data}/traces/captured-pbr-basic.csv --device "
                                         "simulated:{card} --strategy sparse --json"),
    "maar replay, all strategies": ("whole_maar", "replay {data}/traces/captured-vkcube.csv --device "
                                                  "simulated:{card} --strategy all"),
    "maar plan": ("whole_maar", "plan {data}/frames/deferred_1080p.csv"),
    "deferred_frame": ("whole_deferred_frame", "--memory-only --device simulated:{card}"),
    "growing_array, pages": ("whole_growing_array", "--memory-only --device simulated:{card}"),
    "growing_array, copies": ("whole_growing_array", "--memory-only --copying --device "
                                                     "simulated:{card}"),
}
# What a program may answer to a failure: an error, or that its input is of no use.
FAILURE_CODES = (1, 2)
TIME_LIMIT = 60
SANITIZER_CODE = 99


def names():
    return list(PROGRAMS)


def run_program(command, variables):
    """Returns the exit code and the output. The code is 124 after the time limit."""
    environment = {**os.environ, **variables,
                   "ASAN_OPTIONS": f"exitcode={SANITIZER_CODE}:allocator_may_return_null=1",
                   "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER_CODE}"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True,
                              timeout=TIME_LIMIT, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return 124, "", ""
    return done.returncode, done.stdout, done.stderr


def find_fault(code, errors):
    """Returns what is wrong with the end of a program in which a call failed, or None."""
    if code == 0:
        return None  # the program found another way
    if code == 124:
        return f"no end after {TIME_LIMIT} s"
    if code < 0:
        return f"ended by signal {-code}"
    if code not in FAILURE_CODES:
        return f"exit code {code}"
    return None if errors.strip() else f"exit code {code} without a message"


def choose_points(count, most):
    """Returns the numbers of the calls that fail: all, or so many, evenly spread."""
    if not most or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + i * (count - 1) // max(most - 1, 1) for i in range(most)})


def count_calls(command):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "count"
        code, _, errors = run_program(command, {"MAAR_FAIL_COUNT": str(path)})
        if code != 0 or not path.is_file():
            raise SystemExit(f"long-runs: {' '.join(command)} fails by itself: {errors}")
        host, driver = path.read_text(encoding="utf-8").split()
    return {"HOST": int(host), "DRIVER": int(driver)}


def fail_each(options, name, command):
    """Returns the number of runs and the findings of a program."""
    runs, findings = 0, []
    for kind, count in count_calls(command).items():
        for point in choose_points(count, options.points):
            for last in ("", "1"):
                variables = {f"MAAR_FAIL_{kind}": str(point)}
                if last:
                    variables["MAAR_FAIL_LAST"] = last
                code, output, errors = run_program(command, variables)
                fault = find_fault(code, errors)
                runs += 1
                if fault:
                    words = " ".join(f"{key}={value}" for key, value in variables.items())
                    findings.append(f"{words} {' '.join(command)}: {fault}")
                    keep_log(options.build, f"faults-{len(findings)}-{name.replace(' ', '_')}.log",
                             f"{findings[-1]}\n{output}{errors}")
                    print(findings[-1], flush=True)
    return runs, findings


def run(options, minutes):
    del minutes
    commit = commit_of(options.root)
    folder = options.programs
    if folder is None:
        folder = options.build / "asan" / "tests" / "fault"
        build(options.root, options.build / "asan", ["maar_whole_programs"],
              "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-g -O1", "-DMAAR_BUILD_BENCH=OFF",
              "-DMAAR_SANITIZE=address,undefined")
    rows = []
    for name, (program, words) in PROGRAMS.items():
        if not (folder / program).is_file():
            print(f"{name}: not built")
            continue
        command = [str(folder / program),
                   *words.format(card=CARD, data=options.root / "data").split()]
        before = cpu_of_children()
        runs, findings = fail_each(options, name, command)
        rows.append({"target": name, "command": "scripts/long-runs faults", "commit": commit,
                     "cpu": f"{cpu_of_children() - before:.0f}", "steps": str(runs),
                     "findings": str(len(findings))})
    return rows
