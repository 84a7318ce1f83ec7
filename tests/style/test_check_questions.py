"""tools/check_questions.py finds each answer that moved or is gone: test_check_questions.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_questions  # noqa: E402

HEAD = "# Questions\n\n| question | file | function |\n| --- | --- | --- |\n"
SOURCES = {"core/a/a.c": "int maar_a(void)\n{\n    return 1;\n}\n",
           "core/a/a.h": "int maar_a(void);\nstatic inline int maar_b(void)\n{\n    return 2;\n}\n"}


class Questions(unittest.TestCase):
    def run_on(self, rows, *arguments):
        """The exit code, what was printed and the page afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {**SOURCES, check_questions.PAGE: HEAD + rows}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            printed = io.StringIO()
            with mock.patch.object(sys, "argv", ["check", folder, *arguments]), \
                    contextlib.redirect_stdout(printed):
                code = check_questions.main()
            return code, printed.getvalue(), (root / check_questions.PAGE).read_text()

    def test_right_answers_pass(self):
        code, _, _ = self.run_on("| Where is a? | `core/a/a.c` | `maar_a` |\n"
                                 "| Where is b? | `core/a/a.h` | `maar_b` |\n")
        self.assertEqual(code, 0)

    def test_moved_answer_is_found_and_written(self):
        row = "| Where is a? | `core/b/old.c` | `maar_a` |\n"
        code, printed, _ = self.run_on(row)
        self.assertEqual((code, "maar_a is in core/a/a.c" in printed), (1, True))
        self.assertEqual(self.run_on(row, "--moving")[0], 0)
        code, _, page = self.run_on(row, "--write")
        self.assertEqual((code, page), (0, HEAD + "| Where is a? | `core/a/a.c` | `maar_a` |\n"))

    def test_answer_that_is_gone_is_found(self):
        row = "| Where is c? | `core/a/a.c` | `maar_c` |\n"
        self.assertIn("no file defines maar_c", self.run_on(row)[1])
        self.assertEqual(self.run_on(row, "--write")[0], 1)

    def test_row_that_cannot_be_read_is_found(self):
        code, printed, _ = self.run_on("| Where is a? | `core/a/a.c` | `maar_a` |\n| Where? | x |\n")
        self.assertEqual((code, "2 rows, of which 1 are read" in printed), (1, True))


if __name__ == "__main__":
    unittest.main(verbosity=2)
