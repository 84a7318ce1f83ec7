"""tools/check_words.py finds each retired word and nothing else: test_check_words.py TOOLS"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import check_words  # noqa: E402

BOOK = {**check_words.RETIRED, **check_words.AVOID}


class Words(unittest.TestCase):
    def findings(self, files, rooms=(), table=check_words.RETIRED, allowed=""):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {check_words.ALLOWED: allowed, **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            entries = check_words.Allowed(root)
            found = [(path, line, word.lower())
                     for path, line, word in check_words.search_tree(root, table, rooms, entries)]
            return found + entries.unused()

    def test_each_word_is_found_in_prose(self):
        for line in BOOK:
            for form in line.split():
                words = form.replace("_", " ")
                self.assertEqual(self.findings({"docs/a.md": f"One.\nIt {words} them.\n"}, table=BOOK),
                                 [("docs/a.md", 2, words)])
                self.assertTrue(check_words.advice_for(BOOK, words))

    def test_words_that_contain_one_are_left_alone(self):
        text = "ftell(file); a planet, an airplane, swished, intelligent, unwished-for\n"
        self.assertEqual(self.findings({"docs/a.md": text.replace(", unwished-for", "")}), [])

    def test_identifiers_count_in_the_library_alone(self):
        text = "/* A. */\nint maar_tell_misuse, laneCount, aWish, MAAR_LANES;\n"
        self.assertEqual([word for _, _, word in self.findings({"core/a.c": text})],
                         ["tell", "lane", "wish", "lanes"])
        self.assertEqual(self.findings({"samples/a.c": text}), [])

    def test_comments_and_strings_count_everywhere(self):
        text = '/* A lane. */\nint lane; // it tells\nputs("told");\n'
        self.assertEqual(self.findings({"tests/a.c": text}),
                         [("tests/a.c", 1, "lane"), ("tests/a.c", 2, "tells"),
                          ("tests/a.c", 3, "told")])

    def test_phrase_may_be_broken_over_lines(self):
        text = '/* It sees\n * to it. */\nputs("liked "\n     "best");\n'
        self.assertEqual([word for _, _, word in self.findings({"core/a.c": text})],
                         ["sees to it", "liked best"])

    def test_file_names_count(self):
        self.assertEqual(self.findings({"core/memory/lane.c": "/* A. */\n"}),
                         [("core/memory/lane.c", 0, "lane")])

    def test_generated_results_and_old_changes_are_left_out(self):
        changes = "# Changelog\n\n## Unreleased\n\nA lane.\n\n## 0.1.0\n\nIt told them.\n"
        self.assertEqual(self.findings({"CHANGELOG.md": changes, "docs/project/results/code.md": "told\n",
                                        "docs/project/results/figures/a.json": '"told"\n'}),
                         [("CHANGELOG.md", 5, "lane")])

    def test_list_of_the_words_may_stand_between_marks(self):
        text = "told\n<!-- words -->\ntold\n<!-- words end -->\ntold\n"
        self.assertEqual([line for _, line, _ in self.findings({"docs/a.md": text})], [1, 5])

    def test_exceptions_are_used_or_found(self):
        files = {"interop/cuda/a.c": "int lane; /* a warp's lane */\nint lane;\n"}
        self.assertEqual(self.findings(files, allowed="interop/cuda/\twarp\n"),
                         [("interop/cuda/a.c", 2, "lane")])
        self.assertEqual(len(self.findings(files, allowed="interop/hip/\twarp\n")), 4)

    def test_rooms_are_checked_alone(self):
        files = {"core/memory/a.c": "/* told */\n", "core/memory_map.c": "/* told */\n",
                 "README.md": "told\n"}
        for room, count in (("core/memory", 1), ("core", 2), ("README.md", 1), ("docs", 0)):
            self.assertEqual(len(self.findings(files, [room])), count)


if __name__ == "__main__":
    unittest.main(verbosity=2)
