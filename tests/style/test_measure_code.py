"""tools/measure_code.py measures rightly and finds each limit passed: test_measure_code.py TOOLS"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import measure_code  # noqa: E402


def function(lines=4, name="helper", head="static int {}(int a, int b)", body="    a += b;\n"):
    """A function of so many lines."""
    filling = "".join(f"    a += {number};\n" for number in range(lines - 3 - body.count("\n")))
    return head.format(name) + "\n{\n" + body + filling + "}\n"


def nested(depth):
    """Loops and branches of every kind, so many deep, with braces besides that do not count."""
    opening = ["if (a) {", "for (;;) {", "while (b) {", "switch (a) {", "do {", "EACH(x) {"]
    lines = ["    struct pair p = {.a = {1, 2}};"]
    lines += ["    " * (level + 1) + opening[level % len(opening)] for level in range(depth)]
    lines.append("    " * (depth + 1) + "use(&(struct pair){.a = {a, b}});")
    lines += ["    " * (level + 1) + "}" for level in reversed(range(depth))]
    return "\n".join(lines) + "\n"


PYTHON_DEEP = """def walk(a):
    for b in a:
        if b:
            while b:
                with b:
                    try:
                        b()
                    except ValueError:
                        pass
"""
PYTHON_CHAIN = "def choose(a):\n    if a == 0:\n        a()\n" + "".join(
    f"    elif a == {number}:\n        a()\n" for number in range(1, 9))


class Measures(unittest.TestCase):
    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return measure_code.read_tree(root)

    def findings(self, files):
        return measure_code.find_passed_limits(self.tree(files))

    def only(self, files):
        (file,) = self.tree(files)
        return file.functions

    def test_function_is_measured(self):
        (found,) = self.only({"core/a.c": "/* A. */\nint x;\n" + function(30, "sum")})
        self.assertEqual((found.name, found.line, found.length, found.parameters, found.nesting),
                         ("sum", 3, 30, 2, 0))

    def test_head_of_several_lines_and_functions_as_parameters(self):
        head = "static VkResult {}(int (*compare)(const void*, const void*),\n        int a, int b)"
        (found,) = self.only({"core/a.c": function(10, "sort", head)})
        self.assertEqual((found.name, found.length, found.parameters), ("sort", 11, 3))

    def test_braces_in_strings_comments_and_macros_are_none(self):
        body = '    /* { */ puts("{"); // {\n    b = \'{\';\n#define OPEN {\n'
        (found,) = self.only({"core/a.c": function(12, body=body)})
        self.assertEqual((found.length, found.nesting), (12, 0))

    def test_no_parameters(self):
        (found,) = self.only({"core/a.c": function(5, "none", "int {}(void)")})
        self.assertEqual(found.parameters, 0)

    def test_nesting_counts_branches_and_loops_alone(self):
        for depth in range(7):
            (found,) = self.only({"core/a.c": function(40, body=nested(depth))})
            self.assertEqual(found.nesting, depth)

    def test_elif_is_no_deeper(self):
        (found,) = self.only({"tools/a.py": PYTHON_CHAIN})
        self.assertEqual(found.nesting, 1)

    def test_comments_are_counted_once_a_line(self):
        (file,) = self.tree({"core/a.c": "/* One\n * two */\nint a; /* three */ // three\n\n"})
        self.assertEqual((file.lines, file.code, file.comments), (4, 3, 3))

    def test_percentiles(self):
        self.assertEqual(measure_code.percentile(range(1, 11), 50), 5)
        self.assertEqual(measure_code.percentile(range(1, 11), 90), 9)
        self.assertEqual(measure_code.percentile([7], 90), 7)

    def test_includes_are_counted_by_direction(self):
        files = self.tree({"core/plan/a.c": '#include "core/check.h"\n#include "core/plan/b.h"\n',
                           "core/plan/b.h": "", "core/check.h": ""})
        self.assertEqual(dict(measure_code.count_includes(files)), {("core/plan", "core"): 1})

    def test_what_is_within_limits_passes(self):
        head = "static int {}(" + ", ".join(f"int a{i}" for i in range(8)) + ")"
        small = "".join(function(9, f"small{i}", body=f"    b += {i};\n") for i in range(30))
        text = function(100, "long", head) + small + function(20, "deep", body=nested(4))
        self.assertEqual(self.findings({"core/a.c": text}), [])

    def test_each_limit_is_found(self):
        small = "".join(function(9, f"small{i}", body=f"    b += {i};\n") for i in range(30))
        nine = "static int {}(" + ", ".join(f"int a{i}" for i in range(9)) + ")"
        breaches = {
            "101 lines; at most 100": {"tests/a.c": small + function(101, "long")},
            "5 levels of nesting": {"tools/a.c": small + function(30, "deep", body=nested(5))},
            "9 parameters": {"core/a.c": small + function(9, "many", nine)},
            "1001 lines; at most 1000": {"samples/a.c": "\n" * 1001},
            "501 lines; at most 500": {"scripts/do": "#!/bin/sh\n" * 501},
            "levels of nesting": {"tools/a.py": PYTHON_DEEP},
            "median of functions is 19": {"core/a.c": function(19, "a"), "bench/a.c": small},
            "p90 of functions is 41": {
                "core/a.c": function(9, "a") * 8 + function(41, "b") + function(41, "c")},
            "occurs 2 times: core/a.c:1, support/b.c:1": {
                "core/a.c": function(6), "support/b.c": function(6)},
            "occurs 2 times: tests/a.c:1, tests/b.c:1": {
                "tests/a.c": function(8), "tests/b.c": function(8)},
        }
        for words, files in breaches.items():
            with self.subTest(words):
                self.assertTrue(any(words in finding for finding in self.findings(files)),
                                self.findings(files))

    def test_a_test_may_work_out_anew_what_the_library_does(self):
        self.assertEqual(self.findings({"core/a.c": function(9), "tests/b.c": function(9)}), [])

    def test_interfaces_of_others_have_their_parameters(self):
        head = "static void VKAPI_CALL {}(" + ", ".join(f"int a{i}" for i in range(12)) + ")"
        self.assertEqual(self.findings({"backends/a.c": function(9, "call", head)}), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
