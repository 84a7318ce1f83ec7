"""The defragmented heap from outside: arguments, figures, frames, pictures, validation, mistakes noticed.

test_defragment.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, lavapipe everything.
"""

import json
import pathlib
import sys
import tempfile

from sample_case import SampleCase, main, run


class WithoutDriver(SampleCase):
    def test_wrong_arguments_exit_2(self):
        self.refused("no such option", "--nonsense", "1")
        self.refused("expected WIDTHxHEIGHT", "--size", "640")
        self.refused("expected 8 to 10000", "--frames", "7")
        self.refused("expected 30 to 10000", "--planets", "0")
        self.refused("--step 0", "--step", "0")
        self.refused("--moves 0", "--moves", "0")
        self.refused("expected descriptor, copy or barrier", "--plant", "tree")
        self.refused("use --validate", "--plant", "barrier")
        self.refused("value is missing", "--picture")
        self.refused("draws nothing", "--device", "simulated:cpu-lavapipe25.0")

    def test_help_exits_0(self):
        self.check_help("--planets", "--frames", "--step", "--moves", "--picture", "--out", "--poison",
                        "--plant", "--validate")


class Executing(SampleCase):
    """A small heap of seven blocks."""

    small = ("--planets", "240", "--size", "320x180", "--frames", "40", "--json")

    def figures(self, *arguments):
        return json.loads(self.finished(0, *self.small, *arguments).stdout)

    def check(self, result):
        self.assertEqual(result["different"], 0)
        self.assertEqual(result["blocks_before"] - result["blocks_after"], result["forecast_blocks"])
        self.assertGreaterEqual(result["forecast_blocks"], 2)
        self.assertEqual(result["bytes"], result["forecast_bytes"])
        self.assertEqual(result["moves"], result["forecast_moves"])
        self.assertLessEqual(result["moves"], result["objects"])
        self.assertLessEqual(result["most_moves"], result["moves"])
        self.assertLessEqual(result["live"], result["blocks_after"] * result["block_size"])

    def test_frames_are_those_of_a_heap_that_is_left_alone(self):
        result = self.figures("--validate")
        self.check(result)
        self.assertGreater(result["steps"], 4)
        self.assertLessEqual(result["most_bytes"], 512 << 10)

    def test_old_objects_are_not_used_after_their_last_frame(self):
        self.check(self.figures("--poison", "--validate"))

    def test_steps_keep_to_their_limits(self):
        one = self.figures("--moves", "1", "--frames", "160")
        self.check(one)
        self.assertEqual((one["most_moves"], one["steps"]), (1, one["moves"]))
        all_at_once = self.figures("--moves", "100000", "--step", "1048576")
        self.check(all_at_once)
        self.assertLess(all_at_once["steps"], one["steps"])
        self.assertEqual(all_at_once["bytes"], one["bytes"])

    def test_mistakes_are_noticed(self):
        for mistake, pattern in (("descriptor", "frames differ; the first is 4"),
                                 ("copy", "frames differ; the first is 4")):
            with self.subTest(mistake=mistake):
                done = self.finished(1, *self.small, "--plant", mistake)
                self.assertIn(pattern, done.stderr)

    def test_barrier_left_out_is_noticed_by_the_layer(self):
        done = self.finished(1, *self.small, "--validate", "--plant", "barrier")
        self.assertIn("SYNC-HAZARD", done.stderr)

    def test_frames_too_few_are_reported(self):
        done = self.finished(1, *self.small, "--moves", "1")
        self.assertIn("there is more to move", done.stderr)

    def test_pictures_are_written_and_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for name in ("one", "two"):
                svg = pathlib.Path(folder) / f"{name}.svg"
                png = pathlib.Path(folder) / f"{name}.png"
                self.finished(0, *self.small, "--picture", svg, "--out", png)
                made.append((svg.read_bytes(), png.read_bytes()))
            self.assertEqual(made[0], made[1])
            self.assertTrue(made[0][1].startswith(b"\x89PNG"))
            text = made[0][0].decode("utf-8")
            for word in ("Before", "During: step", "After", "</svg>"):
                self.assertIn(word, text)


class Noop(SampleCase):
    def test_driver_that_executes_nothing_is_no_success(self):
        done = run("--json", "--planets", "60", "--size", "64x64")
        self.assertNotEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "executing": Executing, "noop": Noop}))
