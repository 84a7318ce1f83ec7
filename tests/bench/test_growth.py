"""The script of the growth of operations: test_growth.py FOLDER, which holds growth.py."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))

import growth  # noqa: E402
import growth_profile  # noqa: E402

FIRST = """# callgrind format
events: Ir
summary: 500
ob=(1) /build/bench_growth
fl=(1) core/memory/allocate.c
fn=(1) maarAllocateMemory
10 100
cfi=(2) /src/backends/simulated/sim_memory.c
cfn=(2) sim_allocate
calls=2 7
12 240
cfn=(3) own_step
calls=1 3
13 30
fl=(2)
fn=(2)
7 200
cfn=(4) sim_step
calls=1 9
8 40
"""
SECOND = """summary: 90
ob=(1)
fl=(1)
fn=(1)
10 20
cob=(2) /build/libmaar_FAKE_cuda.so
cfi=(3) ???
cfn=(5) cuMemFree
calls=1 0
11 70
"""


def case_of(name, functions, counts=(1, 1, 1)):
    return growth.Case(name, "beside", 10, functions, "things", [1, 1, 1], list(counts))


class Fit(unittest.TestCase):
    def test_powers_are_found(self):
        self.assertAlmostEqual(growth.fit([7, 7, 7]), 0)
        self.assertAlmostEqual(growth.fit([3, 12, 48]), 1)
        self.assertAlmostEqual(growth.fit([2, 32, 512]), 2)
        self.assertLess(growth.fit([8, 10, 12]), growth.LOGARITHMIC)

    def test_nothing_costs_nothing(self):
        self.assertAlmostEqual(growth.fit([0, 0, 0]), 0)


class Judge(unittest.TestCase):
    def test_growth_needs_a_reason(self):
        grown = case_of("walk", ["maarTrim"], (10, 40, 160))
        self.assertEqual(growth.judge(grown, {}), ("**no reason**", False))
        self.assertEqual(growth.judge(grown, {"cases": {"walk": "why"}}), ("why", True))

    def test_instructions_decide(self):
        case = case_of("flat", ["maarTrim"])
        case.times = [10, 40, 160]
        self.assertEqual(growth.judge(case, {}), ("", True))


class Missing(unittest.TestCase):
    def setUp(self):
        self.functions = growth.public_functions()
        self.claims = [{"file": path, "words": words, "cases": ["all"]}
                       for path, words in growth.find_claims()]

    def find(self, functions, reasons):
        return growth.find_missing([case_of("all", functions)], {"claims": self.claims, **reasons})

    def test_complete_lists_miss_nothing(self):
        self.assertEqual(self.find(self.functions, {}), [])

    def test_function_without_a_case_is_named(self):
        found = self.find(self.functions[1:], {})
        self.assertEqual(found, [f"{self.functions[0]} has neither a case nor a reason"])
        self.assertEqual(self.find(self.functions[1:], {"functions": {self.functions[0]: "why"}}), [])

    def test_unknown_names_are_named(self):
        found = self.find([*self.functions, "maarNothing"], {"cases": {"none": "why"}})
        self.assertEqual(found, ["maarNothing is no public function",
                                 "the case none of reasons.toml does not exist"])

    def test_claim_without_a_case_is_named(self):
        self.claims.pop()
        self.assertTrue(any("no case is named for" in text for text in self.find(self.functions, {})))

    def test_function_that_the_page_lacks_is_named(self):
        page = "".join(f"| `{name}` | a case | 0.00 |\n" for name in self.functions)
        self.assertEqual(growth.find_unlisted(page), [])
        found = growth.find_unlisted(page.replace(f"`{self.functions[3]}`", ""))
        self.assertEqual(len(found), 1)
        self.assertIn(self.functions[3], found[0])

    def test_simulated_functions_are_public(self):
        self.assertIn("maarSimulatedGetCounters", self.functions)


class Profile(unittest.TestCase):
    def test_calls_of_the_driver_are_subtracted_once(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / "out.1", Path(folder) / "out.2"]
            for path, text in zip(paths, (FIRST, SECOND)):
                path.write_text(text, encoding="utf-8")
            self.assertEqual(list(growth_profile.read_profiles(paths)), [(500, 240), (90, 70)])


if __name__ == "__main__":
    unittest.main()
