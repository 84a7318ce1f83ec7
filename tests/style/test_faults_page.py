#!/usr/bin/env python3
"""Checks docs/faults.md and docs/project/results/traps.md: test_faults_page.py ROOT

Every case that a page names is one of the program that it names, every program is a test, every
row has one, and every case of the programs that are about faults alone is on docs/faults.md. A row of
traps.md may have a sentence of another page instead, which must be on that page.
"""

import re
import sys
from pathlib import Path

# All of these programs' cases must be on the page.
WHOLE = {"radv_faults", "test_scarce_memory", "test_lost_device", "test_odd_devices", "test_allocation_failure"}
RIGS = {"simulated", "RADV", "lavapipe"}
CASE = re.compile(r"(?:(?:cmocka|rig)_unit_test\w*\(\s*|\b(?:CASE|ON_RIG|SIMULATED_TEST)\()(\w+)|\{\s*\"(\w+)\",\s*\2\b")
GROUP = re.compile(r"`(\w+)`: ((?:`\w+`(?:, )?)+)")
SENTENCE = re.compile(r"\[\S+\]\((\S+)\): \"([^\"]+)\"")


def cases_of(text):
    """Names that a source registers as cases."""
    return {macro or row for macro, row in CASE.findall(text)}


class Programs:
    def __init__(self, root):
        self.tests = Path(root) / "tests"
        self.known = {}

    def find(self, program):
        """The cases of a program; None if there is no such program."""
        if program not in self.known:
            self.known[program] = self.read(program)
        return self.known[program]

    def read(self, program):
        mains = list(self.tests.rglob("%s.c" % program))
        mains += list(self.tests.rglob("test_%s.c" % program))
        if len(mains) != 1:
            return None
        folder = mains[0].parent
        if folder.parent.name != "unit":
            listed = (folder / "CMakeLists.txt").read_text()
            if not re.search(r"\b%s\b" % program, listed):
                return None
        sources = [mains[0]]
        if program == "radv_faults":
            sources = sorted(folder.glob("radv_*.c"))
        return set().union(*(cases_of(source.read_text()) for source in sources))


def check(text, programs):
    """Sentences about what is wrong with the page."""
    wrong = []
    named = {}
    rows = 0
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|") or "rig" in (cells[-1], "") or set(line) <= set("|- "):
            continue
        if len(cells) == 2:
            continue  # results and their meanings
        rows += 1
        groups = GROUP.findall(cells[-2])
        left = GROUP.sub("", cells[-2]).replace(";", "").strip()
        if not groups or left:
            wrong.append("line %d: not `program`: `case`, ... : %s" % (number, left or "nothing"))
        rigs = {rig.split(" (")[0] for rig in cells[-1].split(", ")}
        if not rigs <= RIGS:
            wrong.append("line %d: no rigs: %s" % (number, ", ".join(sorted(rigs - RIGS))))
        wrong += check_groups(groups, programs, number)
        for program, names in groups:
            named.setdefault(program, set()).update(re.findall(r"\w+", names))
    for program in sorted(WHOLE):
        for case in sorted((programs.find(program) or {"(the program)"}) - named.get(program, set())):
            wrong.append("%s: %s is not on the page" % (program, case))
    return rows, wrong


def check_groups(groups, programs, number):
    """Sentences about programs and cases that do not exist."""
    wrong = []
    for program, names in groups:
        cases = programs.find(program)
        if cases is None:
            wrong.append("line %d: no test program %s" % (number, program))
            continue
        wrong += ["line %d: %s has no case %s" % (number, program, case)
                  for case in re.findall(r"\w+", names) if case not in cases]
    return wrong


def check_traps(page, text, programs):
    """Sentences about what is wrong with a page whose rows end in tests or sentences."""
    wrong = []
    rows = 0
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|") or "test or sentence" in cells or set(line) <= set("|- "):
            continue
        rows += 1
        groups = GROUP.findall(cells[-1])
        sentences = SENTENCE.findall(cells[-1])
        left = SENTENCE.sub("", GROUP.sub("", cells[-1])).replace(";", "").strip()
        if len(cells) != 3 or left or not groups + sentences:
            wrong.append("line %d: neither a test nor a sentence: %s" % (number, left or "nothing"))
        wrong += check_groups(groups, programs, number)
        for target, sentence in sentences:
            said = " ".join((page.parent / target).read_text().replace("**", "").split())
            if sentence not in said:
                wrong.append("line %d: %s does not say \"%s\"" % (number, target, sentence))
    return rows, wrong


def check_traps_can_fail(page, text, programs):
    """Spoils the page in four ways; each must be noticed."""
    spoilt = {
        "a case of another name": text.replace("`array_names_its_buffer`", "`array_is_shy`"),
        "a program of another name": text.replace("`test_arrays`", "`test_lists`"),
        "a row without a test": text + "\n| a | b | nobody knows |\n",
        "another sentence": text.replace("is asked only before", "is asked long before"),
    }
    for name, other in spoilt.items():
        assert other != text, name
        if not check_traps(page, other, programs)[1]:
            sys.exit("not noticed: %s" % name)


def check_can_fail(text, programs):
    """Spoils the page in four ways; each must be noticed."""
    case = "objects_run_out_at_4096"
    assert case in text
    spoilt = {
        "a case of another name": text.replace(case, case + "_or_so"),
        "a program of another name": text.replace("`test_lost_device`", "`test_found_device`"),
        "a row without a test": text + "\n| a | b | c | by hand | RADV |\n",
        "another rig": text.replace("| simulated |", "| a friend's |", 1),
    }
    for name, page in spoilt.items():
        assert page != text, name
        if not check(page, programs)[1]:
            sys.exit("not noticed: %s" % name)


def main():
    root = Path(sys.argv[1])
    text = (root / "docs" / "faults.md").read_text()
    programs = Programs(root)
    rows, wrong = check(text, programs)
    for sentence in wrong:
        print("docs/faults.md: " + sentence)
    if wrong or rows < 30:
        sys.exit("%d rows, %d mistakes" % (rows, len(wrong)))
    check_can_fail(text, programs)
    page = root / "docs" / "project" / "results" / "traps.md"
    text = page.read_text()
    traps, wrong = check_traps(page, text, programs)
    for sentence in wrong:
        print("traps.md: " + sentence)
    if wrong or traps < 20:
        sys.exit("%d traps, %d mistakes" % (traps, len(wrong)))
    check_traps_can_fail(page, text, programs)
    print("%d rows and %d traps, every test is there" % (rows, traps))


if __name__ == "__main__":
    main()
