"""scripts/long-runs keeps what it does not run, counts what fuzzing used, and judges how programs end.

test_long_runs.py ROOT
"""

import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tools" / "longruns"))

import long_faults  # noqa: E402
import long_fuzz  # noqa: E402
import long_report  # noqa: E402
import long_threads  # noqa: E402


def row(target, cpu="1", findings="0"):
    return {"target": target, "command": "some command", "commit": "abc1234",
            "cpu": cpu, "steps": "10", "findings": findings}


def check_report(folder):
    page = folder / "results" / "long-runs.md"
    long_report.update(page, "fuzz", [row("trace"), row("plan")])
    long_report.update(page, "faults", [row("maar info")])
    long_report.update(page, "fuzz", [row("plan", cpu="77", findings="3"), row("dump")])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Long runs\n") and "## Threads" not in text, text
    runs = long_report.read(text)
    assert list(runs["fuzz"]) == ["trace", "plan", "dump"], runs
    assert runs["fuzz"]["plan"] == row("plan", cpu="77", findings="3"), runs
    assert runs["fuzz"]["trace"] == row("trace"), runs
    assert runs["faults"] == {"maar info": row("maar info")}, runs
    long_report.update(page, "threads", [])
    assert page.read_text(encoding="utf-8") == text  # nothing measured, nothing changed


def check_fuzz(folder):
    (folder / "fuzz").mkdir()
    runs = folder / "fuzz" / "runs"
    runs.write_text("trace 10.5 1000 200 30 0\nplan 1 5 6 7 1\ntrace 9.7 500 210 31 1\n",
                    encoding="utf-8")
    sums = long_fuzz.read_runs(runs)
    assert sums == {"trace": (20.2, 1500, 1), "plan": (1.0, 5, 1)}, sums
    assert long_fuzz.read_runs(folder / "none") == {}
    taken = long_fuzz.take(types.SimpleNamespace(take=folder, commit="abc1234", root=ROOT))
    assert [each["cpu"] for each in taken] == ["20", "1"], taken
    assert {"trace", "allocator", "command"} <= set(long_fuzz.targets_of(ROOT))
    report = folder / "report.md"
    done = subprocess.run([ROOT / "scripts/long-runs", "fuzz", "--take", folder, "--commit", "abc1234",
                           "--report", report], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "| `trace` |" in done.stdout, done  # there are findings
    assert long_report.read(report.read_text(encoding="utf-8"))["fuzz"]["trace"]["steps"] == "1500"


def check_faults():
    assert long_faults.find_fault(0, "") is None
    assert long_faults.find_fault(1, "maar: out of memory\n") is None
    assert "without a message" in long_faults.find_fault(1, " \n")
    assert "signal 11" in long_faults.find_fault(-11, "")
    assert "no end" in long_faults.find_fault(124, "")
    assert "exit code 99" in long_faults.find_fault(99, "AddressSanitizer")
    assert long_faults.choose_points(5, None) == [1, 2, 3, 4, 5]
    assert long_faults.choose_points(0, 3) == []
    assert long_faults.choose_points(100, 3) == [1, 50, 100]
    assert long_faults.choose_points(100, 1) == [1]


def check_threads(folder):
    code, output = long_threads.run_once(["sh", "-c", "echo $MAAR_TEST_SEED; exit 3"],
                                         {"MAAR_TEST_SEED": "5"}, folder, 10)
    assert (code, output) == (3, "5\n"), (code, output)
    code, output = long_threads.run_once(["sleep", "10"], {}, folder, 0.1)
    assert code == 124 and "no end" in output, (code, output)


def check_arguments():
    for words in (["nosuch"], [], ["threads", "--take", "/nonexistent"], ["fuzz", "--take", "/none"],
                  ["faults", "--points", "0"], ["threads", "--minutes", "-1"]):
        done = subprocess.run([ROOT / "scripts/long-runs", *words], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and done.stderr and not done.stdout, (words, done)


with tempfile.TemporaryDirectory() as name:
    check_report(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    check_fuzz(pathlib.Path(name))
    check_threads(name)
check_faults()
check_arguments()
