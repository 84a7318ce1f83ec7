"""The programs of tests/stress in scripts/long-runs, one after another with new seeds."""

import json
import os
import subprocess
import time

from long_common import build, commit_of, cpu_of_children, keep_log

# Of one run of a program, in seconds; under ThreadSanitizer ten times as long.
TIME_LIMIT = 600


def list_programs(folder, *selection):
    """Returns the name, the command and the environment of each ctest entry that is selected."""
    done = subprocess.run(["ctest", "--test-dir", folder, *selection, "--show-only=json-v1"],
                          capture_output=True, text=True, check=True)
    programs = []
    for test in json.loads(done.stdout)["tests"]:
        values = {each["name"]: each["value"] for each in test.get("properties", [])}
        if "command" in test:
            environment = dict(item.split("=", 1) for item in values.get("ENVIRONMENT", []))
            programs.append((test["name"], test["command"], environment,
                             values.get("WORKING_DIRECTORY")))
    return programs


def run_once(command, environment, folder, limit):
    """Returns the exit code and the output; 124 after the time limit."""
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit,
                              errors="replace", check=False)
    except subprocess.TimeoutExpired as late:
        return 124, f"{late.stdout or ''}\nlong-runs: no end after {limit} s\n"
    return done.returncode, done.stdout


def run(options, minutes):
    folder = options.build / ("tsan" if options.tsan else "threads")
    settings = ["-DCMAKE_BUILD_TYPE=Debug", "-DMAAR_BUILD_BENCH=OFF",
                f"-DCMAKE_C_FLAGS_DEBUG=-g -O{1 if options.tsan else 2}",
                f"-DMAAR_SANITIZE={'thread' if options.tsan else ''}"]
    commit = commit_of(options.root)
    build(options.root, folder, ["maar_stress_tests"], *settings)
    programs = list_programs(folder, "-L", "stress")
    suffix = " (tsan)" if options.tsan else ""
    command = f"scripts/long-runs threads --minutes {minutes:g}{' --tsan' if options.tsan else ''}"
    totals = {name: [0.0, 0, 0] for name, *_ in programs}
    end = time.monotonic() + minutes * 60
    seed = options.seed
    while time.monotonic() < end:
        for name, words, environment, place in programs:
            before = cpu_of_children()
            seeded = {**environment, "MAAR_TEST_SEED": str(seed)}
            code, output = run_once(words, seeded, place, TIME_LIMIT * (10 if options.tsan else 1))
            total = totals[name]
            total[0] += cpu_of_children() - before
            total[1] += 0 if code == 77 else 1
            if code not in (0, 77):
                total[2] += 1
                keep_log(options.build, f"{name}{'-tsan' if options.tsan else ''}-{seed}.log",
                         output)
                print(f"{name}{suffix}: seed {seed}: exit code {code}", flush=True)
            if time.monotonic() >= end:
                break
        seed += 1
    return [{"target": name + suffix, "command": command, "commit": commit,
             "cpu": f"{total[0]:.0f}", "steps": str(total[1]), "findings": str(total[2])}
            for name, total in totals.items() if total[1] > 0]
