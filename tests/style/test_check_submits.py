"""tools/check_submits.py finds calls that submit and are in no list: test_check_submits.py TOOLS"""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_submits  # noqa: E402

CORE = """static void submit(void)
{
    maar_queue_lock();
}

static void undo(void)
{
    submit();
}

void maarSubmitBinds(void)
{
    submit();
}

void maarRead(void)
{
}

void maarMake(void)
{
    undo();
}
"""
LOCK = """static inline void maar_queue_lock(void)
{
}
"""
PAGE = """# Threads

## Queues

%s
They use the queues that you give.
"""
HEADER = """struct MaarQueue {
    /** A comment of another member. */
    int other;
    /** Only these calls submit: %s. */
    PFN_maarQueueLock pfnLock;
};
"""


class Submits(unittest.TestCase):
    def run_on(self, page, header, core=CORE, pointers=None):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for place, text in (("core/thing.c", core), ("core/queue_lock.h", LOCK),
                                ("docs/threads.md", PAGE % page),
                                ("include/maar/allocator.h", HEADER % header)):
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                (root / place).write_text(text)
            (root / "interop").mkdir()
            with mock.patch.object(check_submits, "UNDO", {("maarMake", "undo")}), \
                    mock.patch.object(check_submits, "POINTERS", pointers or {}):
                return check_submits.findings_of(root)

    def test_true_lists_pass_and_calls_that_undo_do_not_count(self):
        self.assertEqual(self.run_on("maarSubmitBinds", "maarSubmitBinds"), [])

    def test_a_call_that_submits_is_missed_in_each_list(self):
        found = self.run_on("", "")
        self.assertEqual(len(found), 2)
        self.assertIn("docs/threads.md, Queues: lacks maarSubmitBinds", found[0])
        self.assertIn("maarSubmitBinds -> submit -> maar_queue_lock", found[0])
        self.assertIn("MaarQueue::pfnLock: lacks maarSubmitBinds", found[1])

    def test_a_call_that_does_not_submit_is_too_much(self):
        self.assertEqual(self.run_on("maarSubmitBinds, maarRead", "maarSubmitBinds"),
                         ["docs/threads.md, Queues: maarRead does not submit"])

    def test_a_function_behind_a_pointer_needs_its_callers(self):
        core = CORE + "static const struct hooks hooks = {\n    .end = undo,\n};\n"
        found = self.run_on("maarSubmitBinds", "maarSubmitBinds", core)
        self.assertEqual(len(found), 1)
        self.assertIn("undo reaches the lock and is used as a value", found[0])
        found = self.run_on("maarSubmitBinds", "maarSubmitBinds", core, {"undo": {"maarRead"}})
        self.assertEqual(len(found), 2)
        self.assertIn("lacks maarRead", found[0])

    def test_sources_that_are_not_understood_are_no_success(self):
        found = self.run_on("", "", "")
        self.assertIn("the sources were not understood", found[0])


if __name__ == "__main__":
    unittest.main()
