"""docs/first-hour.md as a newcomer follows it: the program and the commands that compile and run it, as
they stand there, against an installed Maar.

test_first_hour.py --root=ROOT --build=FOLDER --work=FOLDER [--env=NAME=VALUE...]

What the page has built before it, build/library and an installation in $HOME, is here the build that
runs the tests, installed below --work.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys


def indented_blocks(text):
    """The indented blocks of a page, each as its lines."""
    blocks = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    return [[line[4:] for line in block.splitlines()] for block in blocks]


def require(condition, *what):
    if not condition:
        print(*what, sep="\n")
        sys.exit(1)


def run(command, cwd, environment):
    done = subprocess.run(["sh", "-euc", command], cwd=cwd, env=environment, capture_output=True,
                          text=True, check=False)
    require(done.returncode == 0, f"{command}\nended with {done.returncode}", done.stdout,
            done.stderr)
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--env", action="append", default=[])
    options = parser.parse_args()
    if not shutil.which("pkg-config"):
        print("skipped: no pkg-config")
        return 77

    text = (options.root / "docs/first-hour.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```c\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    require(len(programs) == 1, "the page has one program")
    blocks = indented_blocks(text)
    lines = [line for block in blocks for line in block]
    install = next(line for line in lines if "cmake --install" in line)
    amalgamate = next(line for line in lines if "amalgamate" in line)
    compile_along = lines[lines.index(amalgamate) + 1]
    compile_and_run = next(block for block in blocks if any(line.startswith("cc ") for line in block))
    shown = blocks[blocks.index(compile_and_run) + 1]

    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    # A shared library in a folder that the loader does not search.
    environment = dict(os.environ, HOME=str(options.work),
                       LD_LIBRARY_PATH=str(options.work / "maar/lib"))
    require("build/library" in install, install)
    run(install.replace("build/library", f"'{options.build}'"), options.work, environment)
    require((options.work / "maar/share/man/man1/maar.1").exists(), "no man page was installed")

    (options.work / "first.c").write_text(programs[0], encoding="utf-8")
    environment.update(item.split("=", 1) for item in options.env)
    require(compile_and_run[-1] == "./first", "the last command runs the program")
    output = run("\n".join(compile_and_run), options.work, environment)
    require(output.splitlines() == shown, "the page shows", *shown, "the program printed", output)
    require(len(programs[0].splitlines()) < 120, "it is a short program")
    (options.work / "first").unlink()
    run(amalgamate, options.root, environment)
    output = run(f"{compile_along}\n./first", options.work, environment)
    require(output.splitlines() == shown, "of one file, the program printed", output)
    shutil.rmtree(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
