#!/usr/bin/env python3
"""Measure how the cost of each public function grows: growth.py PROGRAM [OPTION...]

PROGRAM is bench_growth. Runs its cases at n, 4 n and 16 n, fits the exponents of the cost of an operation
(or, where an operation works off n things, of its cost for each), and prints a table. Exits with 1 if an
exponent above 0.15 has no reason in reasons.toml, or a public function no case.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import growth_page
import growth_profile

STEPS = (1, 4, 16)
# Callgrind runs at n divided by this, but not below the second number unless n is.
COUNTED_PART = 16
COUNTED_LEAST = 256


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="bench_growth")
    parser.add_argument("--fakes", metavar="FOLDER",
                        help="of the stand-ins for CUDA and HIP; default: tests/fakes of the build")
    parser.add_argument("--case", metavar="PATTERN", default="", help="only cases that match")
    parser.add_argument("--runs", type=int, default=3, help="processes a case, of which the median "
                        "counts; default 3")
    parser.add_argument("--instructions", action="store_true", help="count instructions too, by "
                        "Callgrind; the exponents are then theirs")
    parser.add_argument("--jobs", type=int, default=1, help="processes of Callgrind at a time")
    parser.add_argument("--results", metavar="FILE", help="keep results here, and take from here "
                        "what does not run")
    parser.add_argument("--write", action="store_true", help=f"write {growth_page.PAGE.name}")
    parser.add_argument("--check", action="store_true", help="check the lists and the page, and run "
                        "each case at a tiny n; measure nothing")
    return parser.parse_args()


class Program:
    def __init__(self, path, fakes):
        self.path = Path(path).resolve()
        self.fakes = Path(fakes) if fakes else self.path.parent.parent / "tests/fakes"

    def cases(self, pattern):
        listed = subprocess.run([self.path, "--list"], capture_output=True, text=True, check=True)
        cases = []
        for line in listed.stdout.splitlines():
            name, kind, n, functions, dimension = line.split("\t")
            cases.append({"name": name, "kind": kind, "n": int(n), "functions": functions.split(),
                          "dimension": dimension})
        return [case for case in cases if re.search(pattern, case["name"])]

    def has_fakes(self):
        return (self.fakes / "libmaar_FAKE_cuda.so").exists()

    def run(self, case, sizes, runs, before=()):
        command = [*before, self.path, "--runs", str(runs), "--case", case["name"],
                   "--cuda", self.fakes / "libmaar_FAKE_cuda.so",
                   "--hip", self.fakes / "libmaar_FAKE_hip.so", *map(str, sizes)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{case['name']}: {done.stderr.strip() or done.returncode}")
        return [json.loads(line) for line in done.stdout.splitlines()]


def fit(sizes, figures):
    """The exponent of figures over sizes, by least squares of the logarithms."""
    x = [math.log(size) for size in sizes]
    y = [math.log(max(figure, 1e-9)) for figure in figures]
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return above / sum((a - mean_x) ** 2 for a in x)


def measure_native(program, case, runs):
    sizes = [case["n"] * step for step in STEPS]
    lines = [program.run(case, sizes, 5) for _ in range(runs)]
    figures = [statistics.median(line[i]["ns"] for line in lines) for i in range(len(sizes))]
    return {"n": sizes, "figures": figures, "exponent": fit(sizes, figures)}


def measure_instructions(program, case):
    least = min(case["n"], max(COUNTED_LEAST, case["n"] // COUNTED_PART))
    sizes = [least * step for step in STEPS]
    simulated = all(name.startswith("maarSimulated") for name in case["functions"])
    with tempfile.TemporaryDirectory() as folder:
        before = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                  "--toggle-collect=growth_timed", "--dump-after=growth_timed"]
        lines = program.run(case, sizes, 2, before)
        paths = [f"{folder}/out.{i}" for i in range(1, 2 * len(sizes) + 1)]
        counts = list(growth_profile.read_profiles(paths))
    figures, driver = [], []
    for i, line in enumerate(lines):
        runs = counts[2 * i:2 * i + 2]
        own = [whole - (0 if simulated else below) for whole, below in runs]
        figures.append(min(own) / line["figures"])
        driver.append(min(below for _, below in runs) / line["figures"])
    return {"n": sizes, "figures": figures, "driver": driver, "exponent": fit(sizes, figures)}


def measure(program, cases, options, results):
    for case in cases:
        results[case["name"]] = {**case, "native": measure_native(program, case, options.runs)}
    if options.instructions:
        with ThreadPoolExecutor(options.jobs) as pool:
            counted = pool.map(lambda case: measure_instructions(program, case), cases)
            for case, count in zip(cases, counted):
                results[case["name"]]["counted"] = count
    for case in cases:
        result = results[case["name"]]
        result["exponent"] = result.get("counted", result["native"])["exponent"]


def print_table(results):
    for result in results.values():
        native, counted = result["native"], result.get("counted")
        text = f"{result['name']:34} {result['kind']:7} {native['n'][0]:7}"
        text += "".join(f" {figure:11.1f}" for figure in native["figures"])
        text += f" {native['exponent']:6.2f}"
        if counted is not None:
            text += f" |{counted['n'][0]:6}"
            text += "".join(f" {figure:11.1f}" for figure in counted["figures"])
            text += f" {counted['exponent']:6.2f} | driver {counted['driver'][-1]:9.0f}"
        print(text)


def check(program, cases, book):
    findings = [*growth_page.check_cases(cases, book), *growth_page.check_claims(cases, book),
                *growth_page.check_page()]
    for case in cases:
        if program.has_fakes() or not re.search("cuda|hip", case["name"]):
            try:
                program.run(case, [min(case["n"], 64)], 1)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                findings.append(str(error))
    return findings


def main():
    options = arguments()
    program = Program(options.program, options.fakes)
    book = growth_page.Book()
    cases = program.cases("")
    if options.check:
        findings = check(program, cases, book)
    else:
        kept = Path(options.results) if options.results else None
        results = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
        measure(program, program.cases(options.case), options, results)
        results = {case["name"]: results[case["name"]] for case in cases if case["name"] in results}
        if kept is not None:
            kept.write_text(json.dumps(results, indent=1))
        print_table(results)
        findings = [*growth_page.check_cases(cases, book), *growth_page.check_exponents(results, book)]
        if options.write:
            growth_page.PAGE.write_text(growth_page.write_page(results, book), encoding="utf-8")
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
