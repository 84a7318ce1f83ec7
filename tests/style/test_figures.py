"""scripts/figures without running anything: test_figures.py ROOT

The tables and claims of the documents agree with docs/project/results/figures; a number that is changed, a
claim that is new, a table by hand and a result that differs are each found; the rules do what the head
of figure_claims.py says.
"""

import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "tools" / "figures"))

import figure_beside  # noqa: E402
import figure_claims  # noqa: E402
import figure_runner  # noqa: E402
import figure_tables  # noqa: E402
import sections_memory  # noqa: E402,F401
import sections_programs  # noqa: E402,F401
import sections_residency  # noqa: E402,F401

VALUES, ORIGINS, DISTURBED = figure_runner.load_results(ROOT / "docs" / "project" / "results" / "figures")


def claims_of(text):
    return figure_claims.parse(text)


def check(claims, document, values):
    (name, entry), = claims_of(claims).items()
    return figure_claims.check_document(name, document, entry, values)


class Documents(unittest.TestCase):
    def test_tables_agree_with_results(self):
        self.assertEqual(figure_tables.check_all(ROOT, VALUES, DISTURBED), [])

    def test_claims_agree_with_results(self):
        self.assertEqual(figure_claims.check_all(ROOT, VALUES, DISTURBED), [])

    def every_number_pages(self):
        """(name, text, entry) of the pages whose every number is claimed."""
        claims = claims_of((ROOT / "docs/project/results/claims.txt").read_text(encoding="utf-8"))
        for name, entry in claims.items():
            if entry[0] == "every number":
                yield name, (ROOT / name).read_text(encoding="utf-8"), entry

    def test_mistakes_are_found(self):
        names = []
        for name, page, entry in self.every_number_pages():
            def findings(text, values, name=name, entry=entry):
                return figure_claims.check_document(name, text, entry, values, DISTURBED)
            names.append(name)
            self.assertEqual(findings(page, VALUES), [])
            self.assertTrue(findings(page.replace("245 ", "254 "), VALUES))
            self.assertTrue(findings(page + "\nIt is 17 times faster.\n", VALUES))
            for place in (place for claim in entry[1] for place in claim.places):
                without = {key: value for key, value in VALUES.items() if key != place.key}
                if place.key not in DISTURBED:
                    self.assertTrue(findings(page, without), place.key)
        self.assertEqual(names, ["README.md", "docs/gallery.md"])

    def test_each_counted_number_matters(self):
        """Another result than stands there is found, wherever no tolerance is given."""
        tried = 0
        for name, page, entry in self.every_number_pages():
            for place in (place for claim in entry[1] for place in claim.places):
                if place.rule or place.words is not None or place.key in DISTURBED:
                    continue
                other = {**VALUES, place.key: VALUES[place.key] * 1.2 + 1}
                self.assertTrue(figure_claims.check_document(name, page, entry, other, DISTURBED),
                                place.key)
                tried += 1
        self.assertGreater(tried, 70)

    def test_map_names_every_section(self):
        """CONTRIBUTING.md says for each room which sections it may move."""
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        table = text.partition("<!-- map -->")[2].partition("<!-- map end -->")[0]
        named, folders = set(), set()
        for row in table.strip().splitlines()[2:]:
            cells = re.split(r"(?<!\\)\|", row)
            named.update(re.findall(r"`([^`]+)`", cells[4]))
            for folder in re.findall(r"`([^`]+)`", cells[2]):
                self.assertTrue(list(ROOT.glob(folder)), folder)
                folders.add(folder)
        self.assertEqual(named, set(figure_runner.SECTIONS))
        rooms = {f"core/{each.name}" for each in (ROOT / "core").iterdir() if each.is_dir()}
        rooms |= {"interop", "layer", "support", "tools", "vma"}
        self.assertEqual(rooms - folders, set())

    def test_map_names_the_tests_of_each_room(self):
        """Each unit test of a room is selected by a row of that room."""
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        table = text.partition("<!-- map -->")[2].partition("<!-- map end -->")[0]
        patterns = {}
        for row in table.strip().splitlines()[2:]:
            cells = re.split(r"(?<!\\)\|", row)
            for folder in re.findall(r"`core/(\w+)`", cells[2]):
                patterns.setdefault(folder, []).extend(
                    text.replace("\\|", "|") for text in re.findall(r"`([^`]+)`", cells[3]))
        seen = 0
        for room, wanted in patterns.items():
            for test in (ROOT / "tests" / "unit" / room).glob("test_*.c"):
                self.assertTrue(any(re.search(text, test.stem) for text in wanted), f"{room}: {test.stem}")
                seen += 1
        self.assertGreater(seen, 50)

    def test_sections_left_what_they_should(self):
        for path in (ROOT / "docs" / "project" / "results" / "figures").glob("*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(record["section"], path.stem)
            if path.stem not in figure_runner.SECTIONS:
                continue  # another script's
            self.assertTrue(record["commit"] and record["date"] and record["values"])
            for command in record["commands"]:
                self.assertNotIn(str(ROOT), command)


class Rules(unittest.TestCase):
    def test_number_is_rounded_to_its_digits(self):
        claim = "[d]\nIt takes {a} ns."
        self.assertEqual(check(claim, "It takes\n  2.5 ns.", {"a": 2.4501}), [])
        self.assertEqual(check(claim, "It takes 2 ns.", {"a": 2.4501}), [])
        self.assertTrue(check(claim, "It takes 2.4 ns.", {"a": 2.4501}))
        self.assertTrue(check(claim, "It takes 2.5 ns.", {}))
        self.assertTrue(check(claim, "It takes about 2.5 ns.", {"a": 2.5}))
        self.assertTrue(check(claim, "It takes 2.5 ns. It takes 2.5 ns.", {"a": 2.5}))
        self.assertEqual(check("[d]\n{a} calls", "1,234 calls", {"a": 1234}), [])

    def test_tolerances_and_bounds(self):
        self.assertEqual(check("[d]\n{a ~10} ns", "108 ns", {"a": 100}), [])
        self.assertTrue(check("[d]\n{a ~10} ns", "111 ns", {"a": 100}))
        self.assertEqual(check("[d]\n{a >=} %", "99.4 %", {"a": 99.5}), [])
        self.assertTrue(check("[d]\n{a >=} %", "99.4 %", {"a": 99.3}))
        self.assertEqual(check("[d]\n{a <=} %", "5 %", {"a": 5}), [])
        self.assertTrue(check("[d]\n{a <=} %", "5 %", {"a": 5.01}))

    def test_words_stand_for_values(self):
        claim = "[d]\n{half = a 0.49..0.51} of it"
        self.assertEqual(check(claim, "half of it", {"a": 0.5}), [])
        self.assertTrue(check(claim, "half of it", {"a": 0.6}))
        self.assertTrue(check(claim, "most of it", {"a": 0.5}))
        self.assertEqual(check("[d]\n{proved = a True}", "proved", {"a": True}), [])
        self.assertTrue(check("[d]\n{proved = a True}", "proved", {"a": False}))
        mixed = "[d]\n{two = a 2..2} and {b}"
        self.assertEqual(check(mixed, "two and 3", {"a": 2, "b": 3}), [])
        self.assertTrue(check(mixed, "two and 3", {"a": 2, "b": 4}))

    def test_unclaimed_numbers_are_found(self):
        text = "In `7` and [x](y8) and 9 more.\n\n    10 in code\n\n```c\n11\n```\n"
        self.assertEqual(len(check("[d every number]", text, {})), 1)
        self.assertEqual(check("[d every number]\n! 9 more", text, {}), [])
        self.assertEqual(check("[d every time]", text, {}), [])
        self.assertEqual(len(check("[d every time]", "It takes 3 us and 4 MiB.", {})), 1)

    def test_disturbed_times_prove_nothing(self):
        claim = "[d]\nIt takes {a} ns."
        (_, entry), = claims_of(claim).items()
        self.assertTrue(figure_claims.check_document("d", "It takes 9 ns.", entry, {"a": 2}))
        self.assertEqual(
            figure_claims.check_document("d", "It takes 9 ns.", entry, {"a": 2}, {"a"}), [])
        marked = "<!-- figures: tree -->\nas before\n<!-- figures end -->\n"
        self.with_table(lambda values: f"{values['a']}\n")
        self.assertIn("2\n", figure_tables.rendered(marked, {"a": 2}, set(), [], "d"))
        self.assertEqual(figure_tables.rendered(marked, {"a": 2}, {"a"}, [], "d"), marked)

    def with_table(self, function):
        figure_tables.TABLES["tree"] = function
        self.addCleanup(figure_tables.TABLES.pop, "tree")

    def test_value_not_measured_makes_no_table(self):
        marked = "<!-- figures: tree -->\n<!-- figures end -->\n"
        self.with_table(lambda values: figure_tables.number(values["a"]))
        findings = []
        self.assertEqual(figure_tables.rendered(marked, {"a": None}, set(), findings, "d"), marked)
        self.assertEqual(len(findings), 1)
        figure_tables.TABLES["tree"] = lambda values: figure_tables.number(values.get("a")) + "blank\n"
        self.assertIn("\nblank\n", figure_tables.rendered(marked, {"a": None}, set(), [], "d"))

    def test_table_by_hand_is_found(self):
        marked = "a\n<!-- figures: tree -->\nby hand\n<!-- figures end -->\nb\n"
        self.with_table(lambda values: f"| {values['a']} |\n")
        findings = []
        made = figure_tables.rendered(marked, {"a": 2}, set(), findings, "d")
        self.assertEqual(findings, [])
        self.assertNotIn("by hand", made)
        self.assertEqual(figure_tables.rendered(made, {"a": 2}, set(), findings, "d"), made)
        figure_tables.rendered(marked, {}, set(), findings, "d")
        self.assertEqual(len(findings), 1)


class Beside(unittest.TestCase):
    def test_verdicts(self):
        for key, old, new, verdict in (
                ("a.calls", 100, 103, "worse"), ("a.calls", 100, 97, "better"),
                ("a.calls", 1000, 1001, "equal"), ("a.ns_timed", 100, 109, "equal"),
                ("a.ns_timed", 100, 111, "worse"), ("a.occupancy", 0.98, 0.95, "worse"),
                ("a.speedup_timed", 1, 2, "better"), ("a.failures", 0, 1, "worse"),
                ("a.failures", 0, 0, "equal")):
            self.assertEqual(figure_beside.judge(key, old, new)[0], verdict, key)

    def test_other_programs_are_left_out(self):
        self.assertTrue(figure_beside.is_compared("x.maar.calls"))
        self.assertFalse(figure_beside.is_compared("x.vma.calls"))
        self.assertFalse(figure_beside.is_compared("x.maar.live_mib"))

    def test_page_names_what_is_worse(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for version, calls in (("old", 10), ("new", 20)):
                (folder / version).mkdir()
                (folder / version / "a.json").write_text(json.dumps(
                    {"section": "a", "commit": version,
                     "values": {"a.maar.calls": calls, "a.maar.bytes": 5, "a.only": calls}}))
            (folder / "empty").mkdir()
            page = folder / "beside.md"
            self.assertEqual(figure_beside.write(folder / "new", folder / "old", page), 0)
            text = page.read_text(encoding="utf-8")
            self.assertIn("| `a` | old | new | 1 | 0 | 1 | 2 |", text)
            self.assertIn("| `a.maar.calls` | 10 | 20 | 2.00 |", text)
            self.assertEqual(figure_beside.write(folder / "new", folder / "empty", page), 2)

    def test_several_runs_are_medians(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for run, calls in enumerate((10, 70, 11)):
                (folder / str(run)).mkdir()
                (folder / str(run) / "a.json").write_text(json.dumps(
                    {"section": "a", "commit": str(run), "values": {"a.maar.calls": calls, "yes": True}}))
            (folder / "0" / "tree.json").write_text(json.dumps(
                {"section": "tree", "commit": "0", "values": {"tree.files": 3}}))
            values, runs = figure_beside.read(folder)
            self.assertEqual(values, {"a": {"a.maar.calls": 11}})
            self.assertEqual(runs, {"a": ("2", 3)})


if __name__ == "__main__":
    unittest.main(verbosity=2)
