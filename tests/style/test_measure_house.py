"""tools/measure_house.py counts rightly: test_measure_house.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import measure_house  # noqa: E402

TREE = {
    "core/check.h": "#define MAAR_ASSERT(a) \\\n    do {  \\\n    } while (0)\nint maar_a(void);\n",
    "core/a/a.h": "struct a {\n    int b;\n};\nint maar_a(void);\nint maar_b(int c);\nvoid maar_c(void);\n"
                  "static inline int twice(int a)\n{\n    return 2 * a;\n}\n",
    "core/a/a.c": "int maar_a(void)\n{\n    return 1;\n}\nstatic int maar_c(void)\n{\n    return 2;\n}\n",
    "core/objects/b/b.c": "int maar_b(int c)\n{\n    return c;\n}\n",
}


class House(unittest.TestCase):
    def tree(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in TREE.items():
            (Path(folder.name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder.name) / path).write_text(text)
        return Path(folder.name)

    def test_statements(self):
        for count, body in (
                (1, "return a;"), (2, "if (a) { return b; }"), (0, ""),
                (2, "for (int i = 0; i < n; ++i) { a(); }"), (1, "call((struct b){.c = 1});"),
                (0, "MAAR_ASSERT(a == (b));"), (1, "maar_assert_held(&a->lock);\nb();"),
                (2, "MAAR_HEAVY_ASSERT(\n    check(a, (b)));\nMAAR_DEBUG_ASSERT(b);\nc(); d();"),
                (4, "switch (a) { case 1: b(); break; default: c(); }"),
                (1, "assert_nothing();")):
            self.assertEqual(measure_house.count_statements(body), count, body)

    def test_rooms_and_headers(self):
        house = measure_house.read_house(self.tree(), "build")
        self.assertEqual(sorted(house.rooms), ["a", "b", "core"])
        self.assertEqual((house.rooms["a"].files, house.rooms["a"].statements), (2, 3))
        self.assertEqual(house.rooms["b"].lengths, [4])
        # maar_c is static in a.c, twice has its body in the header.
        self.assertEqual(house.headers["core/a/a.h"], (10, 2, 2))
        self.assertIsNone(house.circles)
        self.assertEqual(house.all().statements, 4)

    def test_tables_have_a_row_for_each_room_of_either_tree(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            before, after = (measure_house.read_house(self.tree(), "build") for _ in range(2))
            del before.rooms["b"]
            measure_house.print_rooms(before, after)
            measure_house.print_headers(before, after)
        self.assertIn("| b |  | 1 |  | 4 |  | 1 |", printed.getvalue())
        self.assertIn("not measured", printed.getvalue())


if __name__ == "__main__":
    unittest.main(verbosity=2)
