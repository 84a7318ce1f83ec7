#!/usr/bin/env python3
"""Measure how the cost of every public operation grows: growth.py BENCH_GROWTH [OPTION...]

Runs each case of bench_growth at n, 4 n and 16 n, fits the exponent of the cost of one operation by
least squares, and prints a table. With --instructions also counts instructions, by Callgrind, at
smaller n: these exponents know no noise, no caches and no driver, so they decide.

  --write FILE      write the page docs/project/results/growth.md
  --case NAME       only this case; may be given several times
  --runs N          runs of a case, of which the fastest counts; 3 by default
  --fakes FOLDER    of the stand-ins for CUDA and HIP; by default tests/fakes of the build
  --instructions    count instructions too
  --check           run nothing: check that each public function has a case or a reason, and a row of the
                    page, and each claim of "O(...)" in the documents a case
  --quick           tiny numbers, to see that every case runs

reasons.toml, beside this script, has the reasons. Exits with 1 if an operation grows faster than
O(log n) without a reason, or if something is missing.
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import growth_profile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REASONS = HERE / "reasons.toml"
PAGE = ROOT / "docs/project/results/growth.md"
SYMBOLS = ("tests/abi/symbols.txt", "tests/abi/symbols-simulated.txt")
CLAIMED = ("README.md", "docs/*.md", "docs/design/*.md", "include/maar/*.h")
CLAIM = re.compile(r"(?<![A-Za-z_])O\([^()]*(?:\([^()]*\)[^()]*)?\)")
STEPS = (1, 4, 16)
# An exponent up to this one is that of O(log n): from 256 to 4096, a logarithm grows by a half.
LOGARITHMIC = 0.15
# Callgrind is about fifty times slower, so it counts at a smaller n, in two runs.
INSTRUCTION_SHARE = 16
LEAST_N = 256
COUNTED_RUNS = 2
# Some cases take the first things of the n, 64 at most.
QUICK_N = 64
PEERS = re.compile("cuda|hip")
TIMEOUT_S = 600


@dataclass
class Case:
    name: str
    kind: str
    least: int
    functions: list
    dimension: str
    times: list = field(default_factory=list)  # ns, by step
    counts: list = field(default_factory=list)  # Maar's instructions, by step
    driver: list = field(default_factory=list)  # the driver's, by step

    def exponent(self):
        """The exponent that decides."""
        return fit(self.counts) if self.counts else fit(self.times)


def fit(figures):
    """The slope of the figures at n, 4 n and 16 n, both axes logarithmic. 0 where all cost nothing."""
    points = [(math.log(step), math.log(max(figure, 1e-3))) for step, figure in zip(STEPS, figures)]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return slope / sum((x - mean_x) ** 2 for x, _ in points)


def read_cases(program):
    lines = subprocess.run([program, "--list"], check=True, text=True, capture_output=True).stdout
    cases = []
    for line in lines.splitlines():
        name, kind, least, functions, dimension = line.split("\t")
        cases.append(Case(name, kind, int(least), functions.split(), dimension))
    return cases


def run_program(arguments):
    """Standard output and standard error, or None after a failure, which is reported."""
    try:
        done = subprocess.run(arguments, text=True, capture_output=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        print(f"growth.py: no end after {TIMEOUT_S} s: {' '.join(arguments)}", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"growth.py: {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}",
              file=sys.stderr)
        return None
    return done


def command(arguments, case, runs, least):
    peers = []
    for name in ("cuda", "hip"):
        library = Path(arguments.fakes) / f"libmaar_FAKE_{name}.so"
        peers += [f"--{name}", str(library)] if library.exists() else []
    return [arguments.program, "--case", case.name, "--runs", str(runs), *peers,
            *(str(least * step) for step in STEPS)]


def time_case(arguments, case, least):
    done = run_program(command(arguments, case, arguments.runs, least))
    if done is None:
        return False
    case.times = [json.loads(line)["ns"] for line in done.stdout.splitlines()]
    return len(case.times) == len(STEPS)


def count_case(arguments, case, least):
    """Callgrind writes a profile after each timed run."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_program(["valgrind", "-q", "--tool=callgrind",
                            f"--callgrind-out-file={folder}/out", "--toggle-collect=growth_timed",
                            "--dump-after=growth_timed",
                            *command(arguments, case, COUNTED_RUNS, least)])
        if done is None:
            return False
        paths = [f"{folder}/out.{i + 1}" for i in range(COUNTED_RUNS * len(STEPS))]
        profiles = list(growth_profile.read_profiles(paths))
    # The driver is what these functions are.
    simulated = all(name.startswith("maarSimulated") for name in case.functions)
    for i, line in enumerate(done.stdout.splitlines()):
        figures = json.loads(line)["figures"]
        runs = profiles[COUNTED_RUNS * i:COUNTED_RUNS * (i + 1)]
        case.counts.append(min(whole - (0 if simulated else driver)
                               for whole, driver in runs) / figures)
        case.driver.append(0 if simulated else min(driver for _, driver in runs) / figures)
    return True


def instruction_least(case):
    return max(case.least // INSTRUCTION_SHARE, min(case.least, LEAST_N))


def public_functions():
    lines = [line for path in SYMBOLS
             for line in (ROOT / path).read_text(encoding="utf-8").splitlines()]
    return sorted(line for line in lines if line.startswith("maar"))


def find_claims():
    """Each claim of the documents: its file and the words around it."""
    claims = []
    for pattern in CLAIMED:
        for path in sorted(ROOT.glob(pattern)):
            text = " ".join(re.sub(r"^[ \t]*[*/]+", " ", line)
                            for line in path.read_text(encoding="utf-8").splitlines())
            text = re.sub(r"\s+", " ", text)
            for match in CLAIM.finditer(text):
                begin = max(0, match.start() - 60)
                claims.append((str(path.relative_to(ROOT)), text[begin:match.end() + 20]))
    return claims


def find_missing(cases, reasons):
    """Sentences about functions, claims and reasons that lack their other half."""
    functions = public_functions()
    measured = {function for case in cases for function in case.functions}
    excused = reasons.get("functions", {})
    names = {case.name for case in cases}
    missing = [f"{function} has neither a case nor a reason" for function in functions
               if function not in measured and function not in excused]
    missing += [f"{function} has a case, and a reason in reasons.toml too" for function in excused
                if function in measured]
    missing += [f"{function} is no public function" for function in sorted(measured | set(excused))
                if function not in functions]
    missing += [f"the case {name} of reasons.toml does not exist" for name in reasons.get("cases", {})
                if name not in names]
    claims = reasons.get("claims", [])
    for path, words in find_claims():
        if not any(claim["file"] == path and claim["words"] in words for claim in claims):
            missing.append(f"{path}: no case is named for \"{words}\"")
    for claim in claims:
        found = any(claim["file"] == path and claim["words"] in words
                    for path, words in find_claims())
        if not found:
            missing.append(f"{claim['file']} does not claim \"{claim['words']}\" any more")
        missing += [f"the case {name} of a claim does not exist" for name in claim["cases"]
                    if name not in names]
    return missing


def find_unlisted(page):
    """Sentences about public functions that the page lacks."""
    return [f"{PAGE.name} lacks {function}; run growth.py with --write"
            for function in public_functions() if f"| `{function}` |" not in page]


def judge(case, reasons):
    """The verdict on a case, and whether it stands."""
    exponent = case.exponent()
    reason = reasons.get("cases", {}).get(case.name)
    if exponent <= LOGARITHMIC:
        return "", True
    return (reason, True) if reason else ("**no reason**", False)


def number(figure):
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def row_of(case, reasons):
    note, _ = judge(case, reasons)
    times = " / ".join(number(time) for time in case.times)
    counts = "–"
    if case.counts:
        least = instruction_least(case)
        counts = (f"{least:,}: {number(case.counts[0])}, "
                  f"{least * STEPS[-1]:,}: {number(case.counts[-1])}")
    slope = f"{fit(case.counts):.2f}" if case.counts else "–"
    what = {"beside": "beside", "each": "each of", "over": "each of"}.get(case.kind, case.kind)
    return (f"| {case.name} | {what} {number(case.least)} {case.dimension} | {times} | "
            f"{fit(case.times):.2f} | {counts} | {slope} | {note} |")


HEAD = """# Growth: figures

How does the cost of each public operation grow with what a program has? Rewritten by

    bench/growth/growth.py build/release/bench/bench_growth --instructions --write docs/project/results/growth.md

Each case runs one operation at n, 4 n and 16 n, on a simulated device. The exponent e is that of the cost of one
operation, c n^e, or of the cost for each thing where an operation works off all n. 0 is constant, 0.1 about a
logarithm, 1 linear. Times are nanoseconds of one core at n, 4 n and 16 n; they include the caches' misses, which
grow with the memory in use, and the simulated driver's part. Instructions are Maar's alone, counted by Callgrind
at a smaller n and at 16 times that, and they decide: an exponent above {limit} needs a reason. CUDA and HIP are
stand-ins, libraries of `tests/fakes`; what these do is not counted.

| case | n | ns at n / 4 n / 16 n | e | instructions | e | reason |
| --- | --- | --- | --- | --- | --- | --- |
"""


def write_page(path, cases, reasons):
    lines = [HEAD.format(limit=LOGARITHMIC) + "\n".join(row_of(case, reasons) for case in cases)]
    lines.append("\n## Every public function\n\n| function | cases | largest exponent |\n"
                 "| --- | --- | --- |")
    for function in public_functions():
        own = [case for case in cases if function in case.functions]
        if own:
            worst = max(case.exponent() for case in own)
            lines.append(f"| `{function}` | {', '.join(case.name for case in own)} | {worst:.2f} |")
        else:
            lines.append(f"| `{function}` | {reasons['functions'][function]} | |")
    lines.append("\n## What documents claim\n\n| claim | measured by |\n| --- | --- |")
    for claim in reasons.get("claims", []):
        lines.append(f"| {claim['file']}: \"{claim['words']}\" | {', '.join(claim['cases'])} |")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(arguments, cases):
    """Measures all cases. Returns false if one failed."""
    complete = True
    for case in cases:
        least = min(case.least, max(case.least // 64, QUICK_N)) if arguments.quick else case.least
        good = time_case(arguments, case, least)
        if good and arguments.instructions:
            good = count_case(arguments, case, instruction_least(case))
        complete = complete and good
        if good:
            slope = f"{fit(case.counts):6.2f}" if case.counts else "     -"
            print(f"{case.name:28} {' '.join(f'{number(t):>10}' for t in case.times)} "
                  f"{fit(case.times):6.2f} {slope}", flush=True)
    return complete


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="BENCH_GROWTH")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--case", action="append", metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--fakes", metavar="FOLDER")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.instructions and shutil.which("valgrind") is None:
        parser.error("--instructions needs valgrind, which is missing")
    if arguments.fakes is None:
        arguments.fakes = Path(arguments.program).resolve().parent.parent / "tests/fakes"
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    cases = read_cases(arguments.program)
    unknown = set(arguments.case or []) - {case.name for case in cases}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    missing = find_missing(cases, reasons)
    for sentence in missing:
        print(f"growth.py: {sentence}", file=sys.stderr)
    if arguments.check or arguments.quick:
        page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        for sentence in find_unlisted(page):
            print(f"growth.py: {sentence}", file=sys.stderr)
            missing.append(sentence)
    if arguments.check:
        print(f"{len(cases)} cases, {len(missing)} missing")
        return 1 if missing else 0
    chosen = [case for case in cases if not arguments.case or case.name in arguments.case]
    if not (Path(arguments.fakes) / "libmaar_FAKE_cuda.so").exists():
        if arguments.write:
            parser.error("--write needs the stand-ins for CUDA and HIP: build the tests, and name "
                         "their folder by --fakes")
        print("growth.py: no stand-ins for CUDA and HIP; their cases are skipped", file=sys.stderr)
        chosen = [case for case in chosen if not PEERS.search(case.name)]
    complete = measure(arguments, chosen)
    grown = [] if arguments.quick else [case for case in chosen if case.times
                                        and not judge(case, reasons)[1]]
    for case in grown:
        print(f"growth.py: {case.name} grows with the exponent {case.exponent():.2f} without a reason",
              file=sys.stderr)
    if arguments.write and complete and not arguments.case:
        write_page(arguments.write, cases, reasons)
    return 1 if missing or grown or not complete else 0


if __name__ == "__main__":
    sys.exit(main())
