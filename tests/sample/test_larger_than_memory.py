"""Textures larger than memory from outside: arguments, figures, frames, pictures, validation, mistakes noticed.

test_larger_than_memory.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, lavapipe everything.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile

from sample_case import SampleCase, main, run


class WithoutDriver(SampleCase):
    def test_wrong_arguments_exit_2(self):
        self.refused("no such option", "--nonsense", "1")
        self.refused("expected WIDTHxHEIGHT", "--size", "640")
        self.refused("expected 16 to 10000", "--frames", "7")
        self.refused("expected 20 to 400", "--bays", "0")
        self.refused("expected 128 to 2048", "--side", "64")
        self.refused("expected 1 to 16", "--times", "0")
        self.refused("expected access, restore or epoch", "--plant", "tree")
        self.refused("value is missing", "--strip")
        self.refused("draws nothing", "--device", "simulated:cpu-lavapipe25.0")

    def test_help_exits_0(self):
        self.check_help("--bays", "--side", "--times", "--frames", "--size", "--strip", "--out",
                        "--no-thread", "--plant", "--validate")


class Executing(SampleCase):
    """A hall with small textures and small frames."""

    small = ("--size", "160x90", "--frames", "60", "--side", "128", "--json")

    def figures(self, *arguments):
        return json.loads(self.finished(0, *self.small, *arguments).stdout)

    def check(self, result):
        self.assertEqual((result["different"], result["lost"], result["pins"]), (0, 0, 0))
        self.assertLessEqual(result["device"]["peak"], result["device"]["budget"])
        self.assertLessEqual(result["host"]["peak"], result["host"]["budget"])
        self.assertLessEqual(result["compressed"]["peak"], result["compressed"]["budget"])

    def test_frames_are_those_of_a_walk_with_room(self):
        result = self.figures("--validate")
        self.check(result)
        textures = result["textures"]
        size = 4 * sum((128 >> level) ** 2 for level in range(8))
        self.assertAlmostEqual(result["device"]["budget"] * 3 / (size * textures), 1.0, places=4)
        # Most textures had left the device when they were loaded, and the walk sees nearly all.
        self.assertGreater(result["device"]["restored"], size * textures * 0.75)
        self.assertGreater(result["device"]["clean"], 0)
        for tier in ("device", "host", "compressed", "file"):
            self.assertGreater(result[tier]["seen"], 0, tier)
            if tier != "device":
                self.assertGreater(result[tier]["saved"], 0, tier)

    def test_thread_that_draws_can_do_the_work(self):
        self.check(self.figures("--no-thread", "--validate"))

    def test_larger_budget_restores_less(self):
        restored = []
        for times in (1, 3):
            result = self.figures("--times", times, "--no-thread")
            self.check(result)
            restored.append(result["device"]["restored"])
        self.assertLess(restored[0], restored[1])

    def test_mistakes_are_noticed(self):
        for mistake in ("access", "restore"):
            with self.subTest(mistake=mistake):
                done = self.finished(1, *self.small, "--plant", mistake)
                self.assertIn("frames differ; the first is", done.stderr)

    def test_views_of_images_that_have_gone_are_noticed(self):
        """What a driver does with them is undefined: frames differ, or it crashes."""
        done = run(*self.small, "--plant", "epoch")
        if done.returncode == 77:
            self.skip(done.stderr.strip())
        self.assertIn(done.returncode, (1, -signal.SIGSEGV, -signal.SIGABRT), done.stderr)
        if done.returncode == 1:
            self.assertIn("frames differ; the first is", done.stderr)

    def test_set_that_cannot_fit_names_the_bytes(self):
        done = self.finished(1, *self.small, "--times", "16")
        self.assertRegex(done.stderr, r"maarBeginUse: .* take [0-9]+ bytes.*the budget of the device is [0-9]+ bytes")

    def test_pictures_are_written_and_no_file_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            strip = pathlib.Path(folder) / "strip.png"
            frame = pathlib.Path(folder) / "frame.png"
            temporary = pathlib.Path(folder) / "temporary"
            temporary.mkdir()
            os.environ["TMPDIR"] = str(temporary)
            try:
                self.finished(0, *self.small, "--strip", strip, "--out", frame)
            finally:
                del os.environ["TMPDIR"]
            self.assertEqual(list(temporary.iterdir()), [])
            for path in (strip, frame):
                self.assertTrue(path.read_bytes().startswith(b"\x89PNG"))


class Noop(SampleCase):
    def test_driver_that_executes_nothing_is_no_success(self):
        done = run("--json", "--size", "64x64", "--side", "128", "--frames", "16")
        self.assertNotEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "executing": Executing, "noop": Noop}))
