"""tools/check_message_tests.py finds sentences of messages: test_check_message_tests.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_message_tests  # noqa: E402


class Sentences(unittest.TestCase):
    def run_on(self, source):
        """The exit code, and what was printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tests" / "unit" / "test_a.c"
            path.parent.mkdir(parents=True)
            path.write_text(source)
            printed = io.StringIO()
            with mock.patch.object(sys, "argv", ["check", folder]), \
                    contextlib.redirect_stdout(printed):
                code = check_message_tests.main()
            return code, printed.getvalue()

    def test_identifiers_and_names_pass(self):
        code, _ = self.run_on('rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "\\"left\\"");\n'
                              'rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);\n'
                              'assert_true(rig_message_names(&desk.rig, "pInfo"));\n'
                              'if (strstr(rig.messages.last, own) == NULL) { fail_msg("no id"); }\n'
                              'assert_non_null(strstr(text, "a sentence of something else"));\n')
        self.assertEqual(code, 0)

    def test_sentence_beside_an_identifier_is_found(self):
        code, printed = self.run_on('f();\nexpect(result, MAAR_MESSAGE_ID_LEAK,\n   "was never freed");\n')
        self.assertEqual((code, "test_a.c:3: \"was never freed\"" in printed), (1, True))

    def test_sentence_that_is_compared_is_found(self):
        for call in ('strstr(rig->messages.last, "of which some")', 'strcmp(report->pText, "a b")',
                     'rig_message_names(&c->rig, "two words")'):
            self.assertEqual(self.run_on(f"assert_true({call});\n")[0], 1, call)

    def test_no_tests_are_a_finding(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(sys, "argv", ["check", folder]), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check_message_tests.main(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
