"""scripts/driver_table.py counts cases, names what failed and was skipped, and keeps findings.

test_driver_table.py SCRIPTS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(sys.argv[1])
CASES = """[==========] tests: Running 4 test(s).
[ RUN      ] first
[       OK ] first
[ RUN      ] second
skipped: nothing executes
[  SKIPPED ] second
[ RUN      ] third
[  ERROR   ] --- 1 != 2
[   LINE   ] --- file.c:1: error: Failure!
[  FAILED  ] third
[ RUN      ] fourth
[       OK ] fourth
[  ERROR   ] fourth
[==========] tests: 4 test(s) run.
[  PASSED  ] 1 test(s).
[  SKIPPED ] tests: 1 test(s), listed below:
[  SKIPPED ] second
[  FAILED  ] tests: 1 test(s), listed below:
[  FAILED  ] third
 2 FAILED TEST(S)
"""
PYTHON = """test_a (__main__.OnDevice.test_a) ... ok
test_b (__main__.OnDevice.test_b) ...
[ RUN      ] test_b
skipped: no sparse binding
[  SKIPPED ] test_b
skipped 'no sparse binding'
test_c (__main__.OnDevice.test_c) ... FAIL

======================================================================
FAIL: test_c (__main__.OnDevice.test_c)
----------------------------------------------------------------------
Ran 3 tests in 1.0s

FAILED (failures=1, skipped=1)
"""
ENTRIES = [
    ("test_device_allocator.nvk-172", "fail", CASES, "<failure/>"),
    ("tool.nvk-172", "fail", PYTHON, "<failure/>"),
    ("test_crash.nvk-172", "fail", "[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n", "<failure/>"),
    ("sample.first_buffer.nvk-172", "run", "all well\n", ""),
    ("test_other.nvk-172", "notrun", "skipped: no | device\n", "<skipped/>"),
]
INFO = {
    "device": "NVK ", "driver": "NVK, Mesa 26", "uses": [{"purpose": "upload", "type": None}],
    "heaps": [{"size": 3 << 30, "device_local": True, "budget_from_driver": True}],
    "types": [1, 2, 3], "paging": {"sparse_buffer_page": 4096}, "sharing": {"shared_buffers": "no"},
    "limits": {"maxMemoryAllocationCount": 4096, "bufferImageGranularity": 1024},
}
REPLAY = {"allocations": 7, "failures": 0, "real_buffers": 5, "real_images": 2,
          "peak_live_bytes": 2048, "peak_reserved_bytes": 4096, "verification": "bookkeeping"}
FINDING = "| 3 | `*.nvk-*` | mip tails | the layer | reported |\n| 4 | `*.anv-*` | x | y | z |\n"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def make_results(folder):
    driver = folder / "sid.nvk-172"
    driver.mkdir(parents=True)
    tests = "".join(f'<testcase name="{name}" status="{status}">{extra}<system-out>{escape(output)}'
                    "</system-out></testcase>" for name, status, output, extra in ENTRIES)
    (driver / "tests.xml").write_text(f"<testsuite>{tests}</testsuite>", encoding="utf-8")
    (driver / "info.json").write_text(json.dumps(INFO) + "\n", encoding="utf-8")
    (driver / "replay.json").write_text(json.dumps(REPLAY) + "\n", encoding="utf-8")
    (driver / "versions").write_text("gcc 4:15\nmesa-vulkan-drivers 26.2\n", encoding="utf-8")


def run(results, out):
    return subprocess.run([sys.executable, "-B", SCRIPTS / "driver_table.py", "--results", results,
                           "--out", out, "base.lavapipe", "sid.nvk-172"],
                          capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as name:
    results, out = pathlib.Path(name) / "results", pathlib.Path(name) / "drivers.md"
    results.mkdir()
    assert run(results, out).returncode == 1, "no results are no table"
    make_results(results)
    done = run(results, out)
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    # first and a of the crash, test_a, the sample; third, fourth, test_c, the crash; three skips
    assert "| `sid.nvk-172` | NVK | NVK, Mesa 26 | 5 | 4 | 4 | 3 | none |" in text, text
    for failed in ("test_device_allocator: third", "test_device_allocator: fourth", "tool: test_c",
                   "test_crash: the whole program"):
        assert f"| `sid.nvk-172` | {failed} |" in text, (failed, text)
    for reason in ("nothing executes | `test_device_allocator: second` | all",
                   "no sparse binding | `tool: test_b` | all", "no \\| device | `test_other` | all"):
        assert f"| {reason} |" in text, (reason, text)
    assert "| 3 GiB DL | 3 | 4096 | 1024 | driver | 4 KiB | no | upload |" in text, text
    assert "| 7 | 0 | 5 | 2 | 2 KiB | 4 KiB | bookkeeping |" in text, text
    assert "base.lavapipe" not in text and name not in text, text
    # No skip without a reason.
    path = results / "sid.nvk-172/tests.xml"
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace("skipped: nothing executes\n", ""), encoding="utf-8")
    done = run(results, out)
    assert done.returncode == 1 and "test_device_allocator: second" in done.stderr, done
    path.write_text(right, encoding="utf-8")
    # What people wrote stays, and its numbers come to the drivers that it names.
    out.write_text(text + FINDING, encoding="utf-8")
    assert run(results, out).returncode == 0
    again = out.read_text(encoding="utf-8")
    assert again.endswith(FINDING) and "| 4 | 4 | 3 | 3 |" in again, again
    # A driver on which the command fails is in the table all the same.
    (results / "sid.nvk-172/info.json").write_text("", encoding="utf-8")
    assert run(results, out).returncode == 0
    assert "| `sid.nvk-172` | failed |" in out.read_text(encoding="utf-8")
