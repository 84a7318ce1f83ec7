"""What the runs of scripts/long-runs share: builds, CPU time, the commit."""

import resource
import subprocess
from pathlib import Path


class Skipped(Exception):
    """Something that a run needs is missing."""


def commit_of(root):
    """Returns the commit of the sources, with a mark when they differ from it."""
    def git(*words):
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True,
                              check=False).stdout.strip()
    # The report itself changes while the runs go on.
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".",
                  ":!docs/project/results")
    return (git("rev-parse", "--short=7", "HEAD") or "unknown") + ("+" if changed else "")


def cpu_of_children():
    """Returns the CPU seconds of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(root, folder, targets, *settings):
    """Configures and builds targets. Raises an exception with the log's end if that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "long-runs-build.log"
    with log.open("w", encoding="utf-8") as file:
        for command in (["cmake", "-S", root, "-B", folder, "-G", "Ninja", *settings],
                        ["cmake", "--build", folder, "--target", *targets]):
            if subprocess.run(command, stdout=file, stderr=file, check=False).returncode != 0:
                raise SystemExit(f"long-runs: the build failed; {log} says why")


def keep_log(folder, name, text):
    """Keeps the output of a finding."""
    found = Path(folder) / "found"
    found.mkdir(parents=True, exist_ok=True)
    (found / name).write_text(text, encoding="utf-8", errors="replace")
