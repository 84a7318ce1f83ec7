"""scripts/evidence: what is not shown is not kept. test_evidence.py SCRIPTS"""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(sys.argv.pop())

loader = importlib.machinery.SourceFileLoader("evidence", str(SCRIPTS / "evidence"))
evidence = importlib.util.module_from_spec(importlib.util.spec_from_loader("evidence", loader))
loader.exec_module(evidence)

OUTCOME = {"good": "passed", "good.radv": "skipped", "bad": "failed", "away": "skipped"}
FIGURES = {"size.ours": 3, "size.theirs": 4.5, "size.proved": True, "size.way": "pages"}


def judge(**promise):
    return evidence.judge(promise, OUTCOME, FIGURES)


class Verdicts(unittest.TestCase):
    def test_passed_entries_keep_a_promise(self):
        self.assertEqual(judge(tests=["good.*"], got="so"), ("kept", "so; 1 test entry"))

    def test_one_failed_entry_breaks_it(self):
        self.assertEqual(judge(tests=["good", "good|bad"])[0], "not kept")

    def test_skipped_and_absent_entries_show_nothing(self):
        for pattern in ("away", "nowhere"):
            self.assertEqual(judge(tests=["good", pattern]), ("not shown", f"no test {pattern}"))

    def test_a_failed_entry_alone_is_not_kept(self):
        self.assertEqual(judge(tests=["bad"])[0], "not kept")

    def test_figures_are_compared(self):
        self.assertEqual(judge(figures=["size.ours <= 3"], got="{size.theirs:.2f}"), ("kept", "4.50"))
        self.assertEqual(judge(figures=["size.ours < 3"])[0], "not kept")
        self.assertEqual(judge(figures=["size.ours < size.theirs"])[0], "kept")
        self.assertEqual(judge(figures=["size.proved == true"])[0], "kept")
        self.assertEqual(judge(figures=["size.way == pages"])[0], "kept")
        self.assertEqual(judge(figures=["size.way == copies"])[0], "not kept")

    def test_absent_figures_show_nothing(self):
        self.assertEqual(judge(figures=["size.none <= 3"])[0], "not shown")
        self.assertEqual(judge(got="{size.none}")[0], "not shown")

    def test_what_a_person_saw_is_marked(self):
        self.assertEqual(judge(by_hand=True, got="seen"), ("kept, by hand", "seen"))

    def test_a_malformed_condition_ends_the_run(self):
        with self.assertRaises(SystemExit):
            judge(figures=["size.ours about 3"])


class Promises(unittest.TestCase):
    def test_every_promise_names_what_shows_it(self):
        with open(SCRIPTS.parent / "docs" / "project" / "results" / "evidence.toml", "rb") as file:
            promises = evidence.tomllib.load(file)["promise"]
        self.assertGreater(len(promises), 0)
        for promise in promises:
            self.assertTrue(promise.keys() <= {"subject", "asked", "tests", "figures", "got", "by_hand",
                                               "short"}, promise)
            shown = promise.get("tests") or promise.get("figures") or promise.get("by_hand")
            self.assertTrue(shown, promise)
            for condition in promise.get("figures", []):
                self.assertRegex(condition, evidence.CONDITION)

    def test_figures_are_read_from_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            record = {"section": "size", "commit": "abc", "date": "today", "values": FIGURES}
            (pathlib.Path(folder) / "size.json").write_text(json.dumps(record), encoding="utf-8")
            self.assertEqual(evidence.read_figures(folder), (FIGURES, [("size", "abc", "today")]))


if __name__ == "__main__":
    unittest.main()
