"""The virtual texture from outside: arguments, figures, pictures, validation, mistakes noticed.

test_virtual_texture.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, lavapipe everything.
"""

import json
import pathlib
import struct
import sys
import tempfile

import sample_case
from sample_case import SampleCase, main, run


class WithoutDriver(SampleCase):
    def test_wrong_arguments_exit_2(self):
        self.refused("no such option", "--nonsense", "1")
        self.refused("no such option", "--nonsense")
        self.refused("expected WIDTHxHEIGHT", "--size", "640")
        self.refused("expected WIDTHxHEIGHT", "--size", "640x360x1")
        self.refused("expected 8 to 4096", "--frames", "7")
        self.refused("expected 1 to 1000", "--rate", "0")
        self.refused("power of two", "--texture", "1000")
        self.refused("power of two", "--texture", "32768")
        self.refused("expected 1/N", "--budget", "1/0")
        self.refused("expected 1/N", "--budget", "64MiB")
        self.refused("expected stale", "--plant", "tree")
        self.refused("value is missing", "--out")
        self.refused("executes nothing", "--device", "simulated:cpu-lavapipe25.0")

    def test_help_exits_0(self):
        self.check_help("--out", "--size", "--frames", "--budget", "--plant", "--validate")


class Executing(SampleCase):
    """A small texture: small enough for a slow build to load its tiles in time."""

    @staticmethod
    def rate():
        return "6" if sample_case.OPTIONS.slow else "20"

    def arguments(self):
        return ("--texture", "2048", "--size", "160x96", "--frames", "48", "--budget", "1/8",
                "--rate", self.rate(), "--json")

    def figures(self, *arguments):
        return json.loads(self.finished(0, *self.arguments(), *arguments).stdout)

    def check(self, result):
        self.assertLessEqual(result["peak_resident"], result["budget"])
        self.assertLessEqual(result["budget"], result["texture_bytes"] // 8)
        for name in ("frames_over_budget", "waits", "late_uploads", "stalls", "messages",
                     "differing_pixels", "misplaced_pixels"):
            self.assertEqual(result[name], 0, name)
        self.assertGreater(result["compared_pixels"], 5 * 160 * 96)
        self.assertGreater(result["evictions"], 0)
        self.assertGreater(result["hit_rate"], 0.05)
        self.assertGreater(result["requested_pixels"], result["map_pixels"] // 10)
        # At most one submission of each kind a frame: the frame, binds, uploads.
        self.assertLessEqual(result["submissions"], 3 * result["frames"])
        self.assertLessEqual(result["bind_submissions"], result["frames"])

    def test_flight_is_as_the_reference_under_validation(self):
        self.check(self.figures("--validate"))

    def test_tinted_flight_is_as_the_reference(self):
        self.check(self.figures("--tint"))

    def test_mistakes_are_noticed(self):
        for plant, words in (("stale", "differ from the reference"),
                             ("skipped", "differ from the reference"),
                             ("overrun", "over budget"), ("wait", "waited for tiles")):
            with self.subTest(plant=plant):
                done = self.finished(1, *self.arguments(), "--plant", plant)
                self.assertIn(words, done.stderr)

    def test_pictures_are_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "pictures"
            self.figures("--out", out)
            frame = (out / "frame_0047.png").read_bytes()
            self.assertEqual(frame[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", frame[16:24]), (160, 96))
            self.assertNotEqual(frame, (out / "frame_0047_levels.png").read_bytes())
            for name, word in (("tiles.svg", "level 0"), ("figures.svg", "budget")):
                text = (out / name).read_text(encoding="utf-8")
                self.assertIn(word, text)
                self.assertIn("</svg>", text)

    def test_budget_that_holds_nothing_exits_1(self):
        done = self.finished(1, "--texture", "2048", "--budget", "64")
        self.assertIn("maarCreateTileCache", done.stderr)

    def test_sizes_that_are_no_multiples_of_8_fly(self):
        done = self.finished(0, "--texture", "1024", "--size", "101x67", "--frames", "8",
                             "--budget", "1/2", "--rate", self.rate(), "--validate", "--json")
        self.assertEqual(json.loads(done.stdout)["differing_pixels"], 0)

    def test_smallest_texture_flies_whole(self):
        done = self.finished(0, "--texture", "256", "--size", "64x64", "--frames", "40",
                             "--budget", "1024", "--rate", "30", "--json")
        result = json.loads(done.stdout)
        self.assertEqual((result["differing_pixels"], result["evictions"]), (0, 0))

    def test_output_that_cannot_be_written_exits_1(self):
        done = self.finished(1, *self.arguments(), "--frames", "8", "--out", "/nonexistent/x")
        self.assertIn("/nonexistent/x", done.stderr)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "executing": Executing}))
