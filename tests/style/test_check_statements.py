"""tools/check_statements.py finds what is missing or made up: test_check_statements.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_statements  # noqa: E402

HEADER = """/** @file
 * maar/a.h: things. */
/**
 * Makes a thing. Never blocks.
 *
 * @param pThing  not NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_DEVICE_LOST when it rains (or snows; both
 *         count); VK_ERROR_VALIDATION_FAILED_EXT
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarMakeThing(MaarThing* pThing);

/** What there is. */
typedef struct MaarThing {
    /** Its size; never zero. */
    uint32_t size;
} MaarThing;

/**
 * Takes a thing.
 *
 * @return as maarMakeThing, and what vkTakeThing returns
 */
MAAR_API VkResult VKAPI_CALL maarTakeThing(MaarThing* pThing);
"""

TABLE = """[maarMakeThing]
"Never blocks." = ["test_a.c:thing_is_made"]
"VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_DEVICE_LOST when it rains (or snows; both count) | VK_ERROR_OUT_OF_HOST_MEMORY" = ["test_a.c:thing_is_made"]
"VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_DEVICE_LOST when it rains (or snows; both count) | VK_ERROR_DEVICE_LOST" = { reason = "It never rains here." }
"VK_ERROR_VALIDATION_FAILED_EXT" = ["test_a.c:thing_is_made"]
["MaarThing.size"]
"Its size; never zero." = { by = "maarMakeThing", tests = ["test_a.c:thing_is_made"] }
[maarTakeThing]
"as maarMakeThing, and what vkTakeThing returns | VK_ERROR_OUT_OF_HOST_MEMORY" = ["test_a.c:listed"]
"as maarMakeThing, and what vkTakeThing returns | VK_ERROR_DEVICE_LOST" = ["test_a.c:listed"]
"as maarMakeThing, and what vkTakeThing returns | VK_ERROR_VALIDATION_FAILED_EXT" = ["test_a.c:listed"]
"as maarMakeThing, and what vkTakeThing returns | vkTakeThing" = ["test_a.c:listed"]
"""

TEST = """#include "tests/a/a_help.h"
struct row { const char* name; VkResult code; };
static const struct row rows[] = {
    {"maarTakeThing", VK_ERROR_OUT_OF_HOST_MEMORY}, {"maarTakeThing", VK_ERROR_DEVICE_LOST},
    {"maarTakeThing", VK_ERROR_VALIDATION_FAILED_EXT}, {"maarTakeThing", "vkTakeThing"},
};
static void make(VkResult wanted)
{
    assert_int_equal(maarMakeThing(NULL), wanted);
}
static void thing_is_made(void** state)
{
    make(VK_ERROR_OUT_OF_HOST_MEMORY);
    help();
}
static void listed(void** state)
{
    expect(rows);
}
static void forgotten(void** state)
{
    make(VK_ERROR_VALIDATION_FAILED_EXT);
}
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thing_is_made), cmocka_unit_test(listed)};
}
"""

HELP = '#include "tests/a/a_help.h"\nvoid help(void)\n{\n    make(VK_ERROR_VALIDATION_FAILED_EXT);\n}\n'


class Statements(unittest.TestCase):
    def run_on(self, header=HEADER, table=TABLE, test=TEST, fresh=True):
        """The exit code, and what was printed."""
        with tempfile.TemporaryDirectory() as folder:
            files = {"include/maar/a.h": header, "tests/statements/a.toml": table, "tests/a/test_a.c": test,
                     "tests/a/a_help.h": "void help(void);\n", "tests/a/a_help.c": HELP,
                     "docs/project/results/statements.md": ""}
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                for arguments in ([["--write"]] if fresh else []) + [[]]:
                    with mock.patch.object(sys, "argv", ["check", folder, *arguments]):
                        code = check_statements.main()
            return code, printed.getvalue()

    def expect_fault(self, words, **sources):
        code, printed = self.run_on(**sources)
        self.assertEqual(code, 1)
        self.assertIn(words, printed)
        self.assertIn(" 1 faults", printed)

    def test_full_table_passes(self):
        code, printed = self.run_on()
        self.assertEqual((code, "9 statements, 9 rows, 0 faults" in printed), (0, True), printed)

    def test_statement_without_a_row_is_found(self):
        self.expect_fault('maarMakeThing: no row for "Never blocks."',
                          table=TABLE.replace('"Never blocks." = ["test_a.c:thing_is_made"]\n', ""))

    def test_row_without_a_statement_is_found(self):
        self.expect_fault('the header does not state "VK_TIMEOUT"',
                          table=TABLE + '"VK_TIMEOUT" = ["test_a.c:listed"]\n')

    def test_changed_words_are_found_twice(self):
        code, printed = self.run_on(header=HEADER.replace("Never blocks", "Never sleeps"))
        self.assertEqual(code, 1)
        self.assertIn('no row for "Never sleeps."', printed)
        self.assertIn('does not state "Never blocks."', printed)

    def test_test_that_does_not_exist_is_found(self):
        self.expect_fault("no such test: test_a.c:nothing",
                          table=TABLE.replace('blocks." = ["test_a.c:thing_is_made"]',
                                              'blocks." = ["test_a.c:nothing"]'))

    def test_case_in_no_group_is_no_test(self):
        self.expect_fault("no such test: test_a.c:forgotten",
                          table=TABLE.replace('blocks." = ["test_a.c:thing_is_made"]',
                                              'blocks." = ["test_a.c:forgotten"]'))

    def test_test_without_the_name_is_found(self):
        self.expect_fault("test_a.c:listed does not hold maarMakeThing",
                          table=TABLE.replace('blocks." = ["test_a.c:thing_is_made"]',
                                              'blocks." = ["test_a.c:listed"]'))

    def test_test_without_the_code_is_found(self):
        self.expect_fault("test_a.c:thing_is_made does not hold maarMakeThing with VK_ERROR_OUT_OF_HOST_MEMORY",
                          test=TEST.replace("    make(VK_ERROR_OUT_OF_HOST_MEMORY);\n", ""))

    def test_code_of_another_row_does_not_count(self):
        self.expect_fault("test_a.c:listed does not hold maarTakeThing with VK_ERROR_DEVICE_LOST",
                          test=TEST.replace('{"maarTakeThing", VK_ERROR_DEVICE_LOST}',
                                            '{"maarMakeThing", VK_ERROR_DEVICE_LOST}'))

    def test_row_has_tests_or_a_reason(self):
        self.expect_fault("a row has tests, or else a reason", table=TABLE.replace('{ reason = "It never rains here." }',
                                                                                   "[]"))

    def test_by_is_for_what_is_no_function(self):
        self.expect_fault("`by` names a public function",
                          table=TABLE.replace('"Never blocks." = ["test_a.c:thing_is_made"]',
                                              '"Never blocks." = { by = "maarTakeThing", tests = ["test_a.c:listed"] }'))

    def test_page_out_of_date_is_found(self):
        self.expect_fault("statements.md is out of date", fresh=False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
