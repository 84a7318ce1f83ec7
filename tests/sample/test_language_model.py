"""A language model larger than its memory from outside: arguments, figures, texts, pictures, validation, mistakes noticed.

test_language_model.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, simulated the uses in virtual time, lavapipe everything else.
"""

import json
import os
import pathlib
import sys
import tempfile
from xml.etree import ElementTree

from sample_case import SampleCase, main, run

SIMULATED = "simulated:nvidia-rtx4090-linux"


class Case(SampleCase):
    def check_picture(self, path, words):
        root = ElementTree.parse(path).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        texts = [element.text for element in root.iter() if element.tag.endswith("text")]
        for word in words:
            self.assertTrue(any(word in (text or "") for text in texts), f"{word}: {texts}")
        return root


class WithoutDriver(Case):
    def test_wrong_arguments_exit_2(self):
        self.refused("no such option", "--nonsense", "1")
        self.refused("expected 8 to 64", "--layers", "7")
        self.refused("expected 32 to 512", "--width", "16")
        self.refused("expected a multiple of 32", "--width", "100")
        self.refused("expected 1 to 128", "--prompt", "0")
        self.refused("expected 8 to 128", "--tokens", "129")
        self.refused("expected 1 to 4", "--times", "5")
        self.refused("expected access, restore or wait", "--plant", "tree")
        self.refused("value is missing", "--picture")
        self.refused("plays many budgets", "--device", SIMULATED, "--times", "2")
        self.refused("computes nothing", "--device", SIMULATED, "--plant", "access")
        self.refused("only a simulated device", "--plant", "wait")
        self.refused("no_such", "--device", "simulated:no_such")

    def test_help_exits_0(self):
        self.check_help("--layers", "--width", "--prompt", "--tokens", "--times", "--picture",
                        "--plant", "--validate")

    def test_folder_that_is_missing_is_named(self):
        os.environ["TMPDIR"] = "/no/such/folder"
        try:
            done = run("--device", SIMULATED)
        finally:
            del os.environ["TMPDIR"]
        self.assertEqual(done.returncode, 1)
        self.assertIn("see TMPDIR", done.stderr)


class Simulated(Case):
    """Uses without shaders, in virtual time."""

    small = ("--layers", "12", "--width", "32", "--tokens", "12", "--json")
    profiles = ("nvidia-rtx4090-linux", "amd-rx7900xtx-radv25.0", "intel-arc-a770m-anv25.0")

    def figures(self, profile, *arguments):
        return json.loads(self.finished(0, "--device", "simulated:" + profile, *self.small,
                                        *arguments).stdout)

    def test_maar_is_faster_than_lru(self):
        for profile in self.profiles:
            with self.subTest(profile=profile):
                result = self.figures(profile)
                points = result["points"]
                self.assertEqual([point["percent"] for point in points], list(range(30, 101, 10)))
                for point in points:
                    for way in ("hinted", "unhinted"):
                        self.assertLessEqual(point[way]["speed"], result["roomy"] * 1.01, point)
                        self.assertGreaterEqual(point[way]["speed"], point["lru"]["speed"], point)
                    # Bytes that a token restores pass the bus.
                    self.assertLess(point["hinted"]["restored"], 1.0, point)
                half = points[2]
                self.assertGreater(half["hinted"]["speed"], 1.4 * half["lru"]["speed"])
                self.assertGreater(half["lru"]["restored"], 0.9)
                self.assertLess(half["hinted"]["restored"], 0.7)

    def test_budget_that_can_keep_nothing_is_no_failure(self):
        self.finished(0, "--device", SIMULATED, "--layers", "8", "--width", "32", "--tokens", "8")

    def test_device_without_a_bus_is_named(self):
        done = self.finished(0, "--device", "simulated:imagination-gx6250-pvr24.0",
                             *self.small[:-1])
        self.assertIn("This device has one memory", done.stdout)

    def test_every_run_is_the_same(self):
        self.assertEqual(self.figures(self.profiles[0]), self.figures(self.profiles[0]))

    def test_missing_wait_is_noticed(self):
        done = self.finished(1, "--device", SIMULATED, *self.small, "--plant", "wait")
        self.assertIn("without a dependency", done.stderr)

    def test_picture_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "speed.svg"
            self.figures(self.profiles[0], "--picture", path)
            root = self.check_picture(path, ("Tokens a second in virtual time", "LRU",
                                             "room for everything", "GeForce RTX 4090"))
            lines = [element for element in root.iter() if element.tag.endswith("polyline")]
            self.assertEqual([len(line.get("points").split()) for line in lines], [8, 8, 8])

    def test_picture_that_cannot_be_written_is_an_error(self):
        done = self.finished(1, "--device", SIMULATED, *self.small, "--picture",
                             "/no/such/folder/speed.svg")
        self.assertIn("/no/such/folder/speed.svg", done.stderr)


class Executing(Case):
    """A small model."""

    small = ("--layers", "10", "--width", "64", "--prompt", "56", "--tokens", "16", "--json")

    def figures(self, *arguments):
        return json.loads(self.finished(0, *self.small, *arguments).stdout)

    def check(self, result):
        for way in ("roomy", "tight", "lru"):
            figures = result[way]
            self.assertEqual((figures["different"], figures["pins"], figures["lost"]), (0, 0, 0))
            self.assertLessEqual(figures["peak"], figures["budget"])

    def test_text_is_that_of_a_run_with_room(self):
        result = self.figures("--validate")
        self.check(result)
        self.assertEqual(len(result["text"]), 16)
        self.assertGreater(len(set(result["text"])), 8)  # it does not say the same all the time
        self.assertLess(result["distance"], 1e-4)
        self.assertGreater(result["distance"], 0.0)
        self.assertEqual(result["tight"]["budget"], result["size"] // 3)
        self.assertEqual(result["roomy"]["restored"], 0)
        # Each token needs all weights, and two thirds of them are not there.
        for way in ("tight", "lru"):
            self.assertGreater(result[way]["restored"], result["size"] * 15 // 2)
            self.assertGreater(result[way]["clean"], result[way]["restored"] // 2)
            self.assertGreater(result[way]["saved"], 0)  # of the KV cache

    def test_maar_restores_less_than_lru(self):
        result = self.figures("--times", "2")
        self.check(result)
        self.assertLess(result["tight"]["restored"], 0.9 * result["lru"]["restored"])

    def test_model_that_fits_is_not_moved(self):
        with_room = self.figures("--times", "1")
        tight = self.figures("--times", "3")
        self.check(with_room)
        self.assertEqual(with_room["text"], tight["text"])
        self.assertLess(with_room["tight"]["restored"], tight["tight"]["restored"] // 4)

    def test_mistakes_are_noticed(self):
        for mistake in ("access", "restore"):
            with self.subTest(mistake=mistake):
                done = self.finished(1, *self.small, "--plant", mistake)
                self.assertIn("tokens differ from those with room", done.stderr)

    def test_picture_is_written_and_no_file_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            strip = pathlib.Path(folder) / "strip.svg"
            temporary = pathlib.Path(folder) / "temporary"
            temporary.mkdir()
            os.environ["TMPDIR"] = str(temporary)
            try:
                self.finished(0, *self.small, "--picture", strip)
            finally:
                del os.environ["TMPDIR"]
            self.assertEqual(list(temporary.iterdir()), [])
            self.check_picture(strip, ("A language model of", "Maar: ", "LRU: ", "vocabulary",
                                       "weights of layers", "KV cache of layers"))


class Noop(Case):
    def test_driver_that_executes_nothing_is_no_success(self):
        done = run("--json", "--layers", "8", "--width", "32", "--tokens", "8")
        self.assertNotEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "simulated": Simulated, "executing": Executing,
                   "noop": Noop}))
