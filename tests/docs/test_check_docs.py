"""docs.blocks notices what it is there to notice: test_check_docs.py --root=ROOT --program=MAAR"""

import argparse
import pathlib
import sys
import tempfile
import unittest

from check_docs import Checker
from markdown_blocks import Block, anchors_of, blocks_of, links_of
from shell_lines import commands_of

OPTIONS = None


class Noticed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checker = Checker(OPTIONS, pathlib.Path(folder.name))

    def wrong(self, text, language="indented", page="docs/new.md"):
        return "\n".join(self.checker.check_block(Block(page, 1, language, text.splitlines())))

    def test_blocks_are_found(self):
        text = "a\n\n    maar info\n\n- b\n\n      maar plan x\n\n```c\nint x;\n```\n\n    last\n"
        found = [(block.language, block.lines) for block in blocks_of("p", text)]
        self.assertEqual(found, [("indented", ["maar info"]), ("indented", ["maar plan x"]),
                                 ("c", ["int x;"]), ("indented", ["last"])])
        with self.assertRaises(ValueError):
            blocks_of("p", "```c\nint x;\n")

    def test_block_without_a_check_is_refused(self):
        self.assertIn("no test takes", self.wrong("int x;", "c"))
        self.assertIn("no test takes", self.wrong("int x;", "cpp"))
        self.assertIn("no test takes", self.wrong("x = 1", "python"))
        self.assertIn("no check", self.wrong("x", "yaml"))
        self.assertIn("no check", self.wrong("x", "none"))
        self.assertIn("neither configured", self.wrong("add_subdirectory(maar)", "cmake"))
        self.assertIn("nothing is known", self.wrong("some output of something"))

    def test_command_must_have_what_it_is_given(self):
        self.assertEqual(self.wrong("maar info --device simulated:cpu-swiftshader"), "")
        self.assertIn("no --devise", self.wrong("maar info --devise auto"))
        self.assertIn("no command", self.wrong("maar inform"))
        self.assertIn("ended with 2", self.wrong("maar plan no_such_frame"))
        self.assertIn("no preset", self.wrong("cmake --preset relaese"))
        self.assertIn("no preset", self.wrong("cmake --build --preset nothing"))
        self.assertIn("no preset", self.wrong("ctest --preset nothing"))
        self.assertIn("nothing reads", self.wrong("cmake -S . -B build -DMAAR_NO_SUCH=ON"))
        self.assertIn("no target", self.wrong("ninja -C build/release maar_nothing"))
        self.assertIn("scripts/gpu-check has no", self.wrong("scripts/gpu-check --nothing"))
        self.assertIn("nothing is known", self.wrong("scripts/nothing"))
        self.assertIn("no file", self.wrong("diff samples/a.c samples/b.c"))

    def test_shader_must_compile(self):
        self.assertEqual(self.wrong("uint f() { return 1u; }", "glsl"), "")
        if "not compiled, since there is no glslangValidator" not in self.checker.counts:
            self.assertIn("ERROR", self.wrong("uint f() { return }", "glsl"))

    def test_commands_are_taken_apart(self):
        lines = ["$ A=1 one --x \\", "  y # why", "two $(three 'a b') && four | five",
                 "sh -c 'six; seven'"]
        self.assertEqual(commands_of(lines),
                         [["A=1", "one", "--x", "y"], ["three", "a b"], ["two", "SUBSTITUTED"],
                          ["four"], ["five"], ["six"], ["seven"]])

    def test_links_must_lead_somewhere(self):
        self.assertEqual(links_of("`[a](b)` [c](d.md#e)\n```\n[f](g)\n```\n"), [(1, "d.md#e")])
        self.assertEqual(anchors_of("# A `b`: c, d\n## A\n## A\n"), {"a-b-c-d", "a", "a-1"})
        self.assertEqual(self.checker.check_links("README.md", "[x](docs/design.md#threads)"), [])
        self.assertEqual(len(self.checker.check_links(
            "README.md", "[x](docs/nothing.md) [x](docs/design.md#nothing) [x](#nothing)")), 3)

    def test_names_must_exist(self):
        known = self.checker.names_known()
        self.assertEqual(self.checker.check_names("p", "maarCreateBuffer MAAR_SHARED_DATA", known),
                         [])
        text = "maarCreateBufer MaarNothing MAAR_NO_SUCH_BIT `test_no_such`"
        self.assertEqual(len(self.checker.check_names("p", text, known)), 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--program", action="append", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.compiled = OPTIONS.cpp = OPTIONS.python = OPTIONS.cmake = OPTIONS.env = ()
    OPTIONS.missing = "not needed here"
    unittest.main(argv=sys.argv[:1] + rest)
