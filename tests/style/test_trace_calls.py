"""tools/trace_calls.py counts a trace rightly: test_trace_calls.py TOOLS"""

import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import trace_calls  # noqa: E402

NAMED = {"a": ("allocate", "core/a.c"), "b": ("place", "core/b.c"), "h": ("add", "core/h.h"),
         "s": ("sim", "backends/s.c")}


class Traces(unittest.TestCase):
    def read(self, text):
        return trace_calls.read_journeys("journey one\n" + "\n".join(text.split()) + "\n")["one"]

    def measure(self, text, prefix=("core/",)):
        return trace_calls.measure(self.read(text), NAMED, prefix)

    def test_each_function_and_file_counts_once(self):
        self.assertEqual(self.measure("a h -h h -h -a"), (2, 2, 1, 1))

    def test_changes_are_counted_at_entries(self):
        self.assertEqual(self.measure("a h -h b -b h -h -a")[3], 3)

    def test_other_rooms_are_passed_over(self):
        self.assertEqual(self.measure("a s h -h -s -a"), (2, 2, 1, 1))
        self.assertEqual(self.measure("a s h -h -s -a", ("",)), (3, 3, 2, 2))

    def test_depth_follows_entries_and_exits(self):
        depths = [depth for depth, _, _, is_exit in trace_calls.entered(
            self.read("a s h -h -s b -b -a"), NAMED, ("core/",)) if not is_exit]
        self.assertEqual(depths, [0, 2, 1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
