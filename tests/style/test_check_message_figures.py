"""tools/check_message_figures.py finds messages without figures: test_check_message_figures.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_message_figures  # noqa: E402


class Figures(unittest.TestCase):
    def run_on(self, source):
        """The exit code, and what was printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "core" / "a.c"
            path.parent.mkdir(parents=True)
            path.write_text(source)
            printed = io.StringIO()
            with mock.patch.object(sys, "argv", ["check", folder]), \
                    contextlib.redirect_stdout(printed):
                code = check_message_figures.main()
            return code, printed.getvalue()

    def test_figures_pass(self):
        code, printed = self.run_on(
            'x = maar_fail(a, r, MAAR_MESSAGE_ID_OUT_OF_RANGE, call, "n is %u, not below "\n  "%u", n, m);\n'
            '{n > 4, MAAR_MESSAGE_ID_OUT_OF_RANGE, "n is above 4",\n MAAR_SHOW_LIMIT(n, 4)},\n'
            'return maar_fault(MAAR_MESSAGE_ID_OUT_OF_RANGE, text->text);\n'
            '{n == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "n is NULL"},\n')
        self.assertEqual((code, printed), (0, "1 files, 0 messages without their figures\n"))

    def test_fixed_sentence_is_found(self):
        code, printed = self.run_on(
            'f();\nmaar_misuse(a, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, call,\n"flags has unknown; bits");\n')
        self.assertEqual((code, "core/a.c:2: UNKNOWN_FLAGS" in printed), (1, True))

    def test_rule_without_its_number_is_found(self):
        source = ('{n > 4, MAAR_MESSAGE_ID_OUT_OF_RANGE, "n is above 4"},\n'
                  '{m > 4, MAAR_MESSAGE_ID_OUT_OF_RANGE, "m is above 4", MAAR_SHOW_LIMIT(m, 4)},\n')
        code, printed = self.run_on(source)
        self.assertEqual((code, printed.count("OUT_OF_RANGE")), (1, 1))

    def test_no_sources_are_a_finding(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(sys, "argv", ["check", folder]), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check_message_figures.main(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
