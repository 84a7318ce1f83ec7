"""scripts/mutants --check finds what is wrong with a list: test_mutants.py MUTANTS"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

GOOD = {
    "name": "reset-keeps-the-count",
    "file": "core/placement/placement.c",
    "text": "void maar_placement_reset(struct maar_placement* placement)\n{",
    "becomes": "void maar_placement_forget(struct maar_placement* placement)\n{",
    "breaks": "nothing, this is an example",
    "tests": ["test_placement"],
}


def check(*mutants):
    """The exit code and what is printed for a list of these."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for mutant in mutants:
            lines.append("[[mutant]]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in mutant.items()]
        Path(folder, "example.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run([sys.executable, sys.argv[1], "--check", "--lists", folder],
                              capture_output=True, text=True)
    if done.returncode == 77:
        print(done.stdout, end="")
        sys.exit(77)
    return done.returncode, done.stdout


def expect(words, *mutants):
    code, output = check(*mutants)
    assert code == 1 and words in output, (code, output)


code, output = check(GOOD)
assert code == 0 and "1 mutants fit" in output, (code, output)
expect("its text occurs 0 times in", GOOD | {"text": "no such words"})
expect("times in core/placement/placement.c", GOOD | {"text": "return"})
expect("it changes nothing", GOOD | {"becomes": GOOD["text"]})
expect("core/placement/gone.c does not exist", GOOD | {"file": "core/placement/gone.c"})
expect("include/maar/base.h is in neither core/ nor interop/ nor vma/", GOOD | {"file": "include/maar/base.h"})
expect("0 times in core/placement/range.c, once in core/placement/placement.c",
       GOOD | {"file": "core/placement/range.c"})
expect("no test test_nothing", GOOD | {"tests": ["test_nothing"]})
expect("this name occurs twice", GOOD, GOOD)
expect("must have", {key: value for key, value in GOOD.items() if key != "breaks"})
expect("must have", GOOD | {"remark": "a key that nobody reads"})
