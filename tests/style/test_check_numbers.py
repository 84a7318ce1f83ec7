"""tools/check_numbers.py finds each number that is wrong or not checked: test_check_numbers.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_numbers  # noqa: E402

SOURCE = """/* Begins with 1 MiB, a 256th of it,
 * and then an eighth. */
enum { FIRST = 256, SECOND = 8, LATER };
#define PREFERRED ((VkDeviceSize)256 << 20)
#define HALF (PREFERRED / 2u)
static const size_t limit = (size_t)1 << 30;
"""
PAGE = "Blocks of a pool\nadd up to 32, 96, 224 MiB. Up to eight.\n"


class Numbers(unittest.TestCase):
    def findings(self, lines, page=PAGE, source=SOURCE, claims=""):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {"core/a/a.c": source, "docs/a.md": page, check_numbers.LIST: lines,
                               check_numbers.CLAIMS: claims, "include/maar/a.h": "/* A. */\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return list(check_numbers.Check(root).findings())

    def test_values(self):
        constants = check_numbers.Constants()
        constants.add_file("core/a.c", SOURCE)
        for text, value in (("FIRST", 256), ("HALF", 128 << 20), ("limit", 1 << 30),
                            ("SECOND / 3", 8 / 3), ("words(SECOND)", "eight"),
                            ("mib(HALF)", "128"), ("gib(limit)", "1"), ("kib(PREFERRED)", "262,144"),
                            ("share(SECOND)", "an eighth"), ("share(FIRST)", "a 256th"),
                            ("share(2)", "half"), ("share(4)", "a quarter"), ("ordinal(16)", "sixteenth"),
                            ("ordinal(22)", "22nd"), ("ordinal(111)", "111th"),
                            ("growth(PREFERRED, SECOND, 4)", "32, 96, 224, 480"),
                            ("blocks(PREFERRED, SECOND, 1 << 30)", "seven")):
            self.assertEqual(constants.evaluate(text), value, text)

    def test_fractions_are_rounded(self):
        for value, text in ((4.75, "4.75"), (10.67, "10.7"), (1.333, "1.3"), (12.0, "12"), (0.5, "0.5")):
            self.assertEqual(check_numbers.number(value), text)

    def test_right_texts_pass(self):
        self.assertEqual(self.findings(
            "[docs/a.md]\n# A comment.\nadd up to {growth(PREFERRED, SECOND, 3)} MiB\n{words(SECOND)}\n"
            "[source of FIRST]\n{share(FIRST)} of it, and then {share(SECOND)}\n"), [])

    def test_changed_constant_is_found(self):
        found = self.findings("[docs/a.md]\nUp to {words(SECOND)}.\n[source of FIRST]\n{share(SECOND)}\n",
                              source=SOURCE.replace("= 8", "= 4"))
        self.assertEqual(len(found), 2, found)
        self.assertIn('docs/a.md: does not say "Up to four." (SECOND of core/a/a.c)', found)

    def test_unknown_and_doubtful_constants_are_found(self):
        for line in ("{GONE}", "{LATER}", "{FIRST.real}", "{exec(FIRST)}", "{FIRST +}"):
            self.assertEqual(len(self.findings(f"[docs/a.md]\n{line}\n")), 1, line)
        self.assertEqual(len(self.findings("[source of GONE]\nanything\n")), 1)

    def test_page_that_is_gone_is_found(self):
        self.assertEqual(len(self.findings("[docs/b.md]\n{FIRST}\n")), 1)

    def test_every_number_is_checked_where_the_page_says_so(self):
        line = "32, 96, 224 MiB"
        self.assertEqual(len(self.findings("[docs/a.md every number]\nUp to {words(SECOND)}\n")), 3)
        self.assertEqual(self.findings(f"[docs/a.md every number]\n! {line}\n"), [])
        self.assertEqual(self.findings("[docs/a.md every number]\nUp to {words(SECOND)}\n",
                                       claims=f"[docs/a.md]\n! {line}\n"), [])
        found = self.findings(f"[docs/a.md every number]\n! {line}\n", PAGE + "It takes 7 us.\n")
        self.assertEqual(found, ["docs/a.md:3: 7 is neither in docs/project/numbers.txt nor in "
                                 "docs/project/results/claims.txt"])

    def test_map_names_the_pages_of_a_constant(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {"core/a/a.c": SOURCE, "docs/a.md": PAGE, "include/maar/a.h": "",
                               check_numbers.LIST: "[docs/a.md]\n{words(SECOND)}\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            for arguments, text in ((["--map"], "SECOND (core/a/a.c): docs/a.md\n"),
                                    (["--of", "core/a/b.c"], "")):
                printed = io.StringIO()
                with mock.patch.object(sys, "argv", ["check", folder, *arguments]), \
                        contextlib.redirect_stdout(printed):
                    self.assertEqual(check_numbers.main(), 0)
                self.assertEqual(printed.getvalue(), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
