"""Each mistake of docs/findings.md, planted and mended, under the layer.

test_planted.py --maar=PROGRAM --planted=PROGRAM [--env=NAME=VALUE]... [--missing=WHY]

A planted mistake is found with its verdict; the bytes or calls are those by which the mended run
has less; the mended program has no finding.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None
PROVED = ("wrong_heap", "small_bar", "never_bound", "not_freed", "growth_by_copy", "own_memory",
          "refused")
BOUNDED = ("aliasing", "tiny_buffers")
SUSPECTED = ("leak", "readback", "churn")


class Planted(unittest.TestCase):
    def run_planted(self, name, form):
        """Returns the findings and the totals of one run."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        prefix = pathlib.Path(folder.name) / "c"
        environment = dict(os.environ, **dict(e.split("=", 1) for e in OPTIONS.env))
        done = subprocess.run([OPTIONS.maar, "capture", "-o", prefix, "--", OPTIONS.planted, name,
                               form], capture_output=True, text=True, timeout=100,
                              env=environment, check=False)
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        captures = list(pathlib.Path(folder.name).glob("*.maarcap"))
        self.assertEqual(len(captures), 1, captures)
        advice = subprocess.run([OPTIONS.maar, "advise", "--json", captures[0]],
                                capture_output=True, text=True, timeout=100, check=True)
        value = json.loads(advice.stdout)
        return {f["finding"]: f for f in value["findings"]}, value["totals"]

    def pair(self, name):
        wrong, wrong_totals = self.run_planted(name, "wrong")
        right, right_totals = self.run_planted(name, "right")
        word = name.replace("_", "-")
        self.assertIn(word, wrong)
        self.assertEqual(right, {})
        return wrong[word], wrong_totals, right_totals

    def peak_of(self, totals, finding):
        return next(h["peakBytes"] for h in totals["heaps"] if h["heap"] == finding["heap"])

    def test_wrong_heap(self):
        found, wrong, right = self.pair("wrong_heap")
        self.assertEqual(found["verdict"], "proved")
        self.assertEqual(found["mostBytes"], self.peak_of(wrong, found) - self.peak_of(right, found))

    def test_small_bar(self):
        found, wrong, right = self.pair("small_bar")
        self.assertEqual(found["verdict"], "proved")
        self.assertEqual(found["mostBytes"], self.peak_of(wrong, found) - self.peak_of(right, found))

    def test_never_bound(self):
        found, wrong, right = self.pair("never_bound")
        self.assertEqual(found["verdict"], "proved")
        self.assertEqual(found["mostBytes"], self.peak_of(wrong, found) - self.peak_of(right, found))

    def test_not_freed(self):
        found, wrong, right = self.pair("not_freed")
        self.assertEqual(found["verdict"], "proved")
        self.assertEqual(found["mostBytes"], wrong["bytesAtEnd"] - right["bytesAtEnd"])

    def test_growth_by_copy(self):
        found, wrong, right = self.pair("growth_by_copy")
        self.assertEqual(found["verdict"], "proved")
        peaks = [max(h["peakBytes"] for h in t["heaps"]) for t in (wrong, right)]
        self.assertEqual(found["mostBytes"], peaks[0] - peaks[1])

    def test_own_memory(self):
        found, wrong, right = self.pair("own_memory")
        self.assertEqual((found["verdict"], found["mostBytes"]), ("proved", 0))
        self.assertEqual(found["calls"], wrong["allocations"] - right["allocations"])
        self.assertGreater(found["driverTime_ns"], 0)

    def test_refused(self):
        found, wrong, right = self.pair("refused")
        self.assertEqual((found["verdict"], found["calls"]), ("proved", 1))
        self.assertEqual(wrong["refused"] - right["refused"], 1)

    def test_bounded(self):
        for name in BOUNDED:
            with self.subTest(name):
                found, wrong, right = self.pair(name)
                self.assertEqual(found["verdict"], "bounded")
                saved = self.peak_of(wrong, found) - self.peak_of(right, found)
                self.assertGreater(saved, 0)
                self.assertLessEqual(found["leastBytes"], saved)
                self.assertLessEqual(saved, found["mostBytes"])

    def test_suspected(self):
        for name in SUSPECTED:
            with self.subTest(name):
                found, wrong, right = self.pair(name)
                self.assertEqual(found["verdict"], "suspected")
                self.assertGreater(found["objectCount"], 0)
                if name == "churn":
                    self.assertEqual(found["calls"], wrong["allocations"] - right["allocations"])

    def test_totals(self):
        totals = self.run_planted("growth_by_copy", "wrong")[1]
        self.assertEqual((totals["allocations"], totals["resources"]), (5, 5))
        for left_over in ("unbound", "strays", "unknown", "unfinished", "bytesAtEnd", "frames"):
            self.assertEqual(totals[left_over], 0, left_over)
        self.assertGreater(totals["events"], 20)
        self.assertTrue(totals["devices"][0]["name"])
        for heap in totals["heaps"]:
            if "RADV" in totals["devices"][0]["name"]:
                self.assertGreaterEqual(heap["usageReadings"], 1)
                self.assertEqual(heap["usageAboveLeast"], heap["usageAboveMost"])

    def test_programs_without_a_mistake(self):
        for name in ("uploads", "shadow_map", "gaps"):
            with self.subTest(name):
                self.assertEqual(self.run_planted(name, "right")[0], {})

    def test_exit_codes(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        prefix = pathlib.Path(folder.name) / "c"
        environment = dict(os.environ, **dict(e.split("=", 1) for e in OPTIONS.env))
        subprocess.run([OPTIONS.maar, "capture", "-o", prefix, "--", OPTIONS.planted, "never_bound",
                        "wrong"], capture_output=True, timeout=100, env=environment, check=True)
        capture = next(pathlib.Path(folder.name).glob("*.maarcap"))
        for fail_on, code in (("never", 0), ("proved", 1), ("suspected", 1)):
            done = subprocess.run([OPTIONS.maar, "advise", capture, "--fail-on", fail_on],
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, code)
            self.assertIn("[never-bound] 63.0 MiB", done.stdout)
        done = subprocess.run([OPTIONS.maar, "advise", capture, "--fail-on", "sometimes"],
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("sometimes", done.stderr)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--missing", default="")
    OPTIONS = parser.parse_args()
    if OPTIONS.missing:
        print(f"skipped: {OPTIONS.missing}")
        return 77
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Planted)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
