"""Every script explains itself and refuses what it does not know: test_scripts.py ROOT"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# What they do not know goes to ctest.
FOR_CTEST = {"test", "coverage"}


def run(script, *arguments):
    return subprocess.run([script, *arguments], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)


def find_faults(script):
    for option in ("--help", "-h"):
        done = run(script, option)
        if done.returncode != 0 or done.stderr or len(done.stdout.splitlines()) < 3:
            yield f"{option}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    if script.name not in FOR_CTEST:
        done = run(script, "--no-such-option")
        if done.returncode != 2 or done.stdout or not done.stderr:
            yield f"--no-such-option: exit code {done.returncode}: {done.stdout}{done.stderr}"


def main():
    root = Path(sys.argv[1])
    scripts = [path for folder in ("scripts", "tools", "bench") for path in (root / folder).iterdir()
               if path.is_file() and os.access(path, os.X_OK)]
    faults = [f"{script.name} {fault}" for script in sorted(scripts)
              for fault in find_faults(script)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.md"
        for script, *arguments in (("demo", "auto", "vulkan:0"), ("demo", "llvmpipe"), ("demo", ""),
                                   ("setup", "--list", "x"),
                                   ("capture-programs", "--only", "nosuch"),
                                   ("evidence", "--tests", "/nonexistent"),
                                   ("mutants", "nosuch"), ("mutants", "--check", "--lists", folder),
                                   ("package-matrix", folder, "--only", "x", "--out", table),
                                   ("package-matrix", folder, "--table-only", "--out", table),
                                   ("package-recipes", folder, "rpm", "--out", table),
                                   ("package-recipes", folder, "--table-only", "--out", table)):
            done = run(root / "scripts" / script, *arguments)
            if done.returncode != 2 or not done.stderr or table.exists():
                faults.append(f"{script} {arguments}: exit code {done.returncode}: {done.stderr}")
    print("\n".join(faults + [f"{len(scripts)} scripts, {len(faults)} faults"]))
    return 1 if faults or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())
