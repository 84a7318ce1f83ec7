"""maar advise of captures that are made up: what it says around the findings.

test_advise.py --maar=PROGRAM --maker=PROGRAM

tests/findings runs programs with the mistakes, and tests/unit/support has the detectors.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None


def maar(*arguments):
    return subprocess.run([OPTIONS.maar, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, check=False)


class Advised(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def make(self, name, *arguments):
        path = self.folder / f"{name}.maarcap"
        subprocess.run([OPTIONS.maker, path, *map(str, arguments)], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def advise(self, *arguments, code=0):
        done = maar("advise", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_a_capture_without_memory_says_what_to_check(self):
        without_device = self.advise(self.make("probe", 0, "empty"))
        self.assertIn("probe: no device memory: the program created no device\n", without_device)
        self.assertIn("--vulkan-device", without_device)
        without_memory = self.advise(self.make("idle", 1, "empty"))
        self.assertIn("idle: no device memory: the program created a device and allocated nothing "
                      "on it\n", without_memory)
        for text in (without_device, without_memory):
            self.assertNotIn("0 findings", text)
            self.assertIn("docs/captures.md", text)
        values = json.loads(self.advise("--json", self.folder / "idle.maarcap"))
        self.assertEqual(values["totals"]["allocations"], 0)
        self.assertNotIn("no device memory", self.advise(self.make("plain", 2000)))

    def test_the_size_of_blocks_is_distinguished_from_placement(self):
        mib = 1 << 20
        path = self.make("doubling", 1, "doubling")
        peak = json.loads(self.advise("--json", path))["peaks"][0]
        self.assertEqual(peak["heldBytes"], 112 * mib)
        sizes = peak["blockSizes"]
        self.assertEqual([s["blockBytes"] for s in sizes], [64 * mib, 32 * mib, 16 * mib, 8 * mib])
        self.assertGreaterEqual(sizes[0]["maarBytes"], 100 * mib)
        self.assertLess(sizes[-1]["maarBytes"], 90 * mib)
        for size in sizes:
            self.assertGreaterEqual(size["maarBytes"], peak["boundBytes"])
        text = self.advise(path)
        self.assertIn("Maar with blocks of up to 64.0 MiB, as the program's largest: ", text)
        self.assertRegex(text, r"try \S+ MiB \(VulkanMemoryAllocator: preferredLargeHeapBlockSize = "
                               r"(8388608|16777216)\)")
        # Blocks that are small already: nothing to try.
        text = self.advise(self.make("plain", 2000))
        self.assertNotIn("preferredLargeHeapBlockSize =", text)
        # The page has a row for each size.
        page = self.folder / "page.html"
        self.assertEqual(maar("report", path, "--output", page).returncode, 0)
        self.assertIn("Maar, blocks of up to 64.0 MiB, the program's size",
                      page.read_text(encoding="utf-8").replace("\\u0027", "'"))

    def test_a_folder_stands_for_its_captures(self):
        paths = [self.make(name, 2000) for name in ("b", "a")]
        (self.folder / "notes.txt").write_text("no capture", encoding="utf-8")
        both = self.advise(self.folder, "--names", "1")
        self.assertEqual(both, self.advise(paths[1], paths[0], "--names", "1"))
        self.assertEqual(len(re.findall(r"^[ab]: \d+ findings? in", both, re.M)), 2)
        empty = self.folder / "empty"
        empty.mkdir()
        done = maar("advise", empty)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no capture", done.stderr)
        self.assertEqual(maar("advise", self.folder / "absent").returncode, 2)

    def test_report_takes_the_short_option(self):
        page = self.folder / "short.html"
        done = maar("report", self.make("plain", 2000), "-o", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(page.exists())


def main():
    parser = argparse.ArgumentParser()
    for name in ("maar", "maker"):
        parser.add_argument(f"--{name}", required=True)
    global OPTIONS
    OPTIONS = parser.parse_args()
    suite = unittest.TestLoader().loadTestsFromTestCase(Advised)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
