"""The deferred frame from outside: arguments, figures, images, validation, the walk of its barriers.

test_deferred_frame.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, simulated the figures on profiles, radv:GPU the figures and the walk on a
driver that executes nothing, lavapipe everything.
"""

import json
import pathlib
import struct
import sys
import tempfile

from sample_case import SampleCase, main, on_swiftshader, run

PROFILES = ("amd-rx7900xtx-radv25.0", "amd-rx6800-bar256-radv25.0", "amd-steamdeck-vangogh-radv25.0",
            "amd-apu-raven-radv25.0", "nvidia-gtx1060-linux535", "intel-iris-xe-tgl-anv25.0",
            "qualcomm-adreno740-turnip26.2", "cpu-lavapipe25.0")


class Case(SampleCase):
    def figures(self, *arguments):
        return json.loads(self.finished(0, "--json", *arguments).stdout)

    def check_memory(self, result):
        self.assertGreaterEqual(result["resources"], 36)
        self.assertLessEqual(result["planned"], result["object_reuse"])
        self.assertLess(result["object_reuse"], result["total"])
        self.assertGreaterEqual(result["planned"], result["lower_bound"])
        # The bound counts plain sizes: where alignments are mixed, nothing can quite reach it.
        self.assertLess(result["planned"], 1.04 * result["lower_bound"])
        if result["planned"] == result["lower_bound"]:
            self.assertTrue(result["proved"])


class WithoutDriver(SampleCase):
    def test_arguments_wrong_exit_2(self):
        self.refused("no such option", "--frob")
        self.refused("no such option", "--frob", "x")
        self.refused("expected WIDTHxHEIGHT", "--size", "64")
        self.refused("expected WIDTHxHEIGHT", "--size", "63x64")
        self.refused("expected WIDTHxHEIGHT", "--size", "64x64x64")
        self.refused("expected 1 to 256", "--frames", "0")
        self.refused("value is missing", "--output")
        self.refused("renders nothing", "--memory-only", "--output", "x.png")
        self.refused("renders nothing", "--memory-only", "--compare")
        self.refused("needs no --no-aliasing", "--compare", "--no-aliasing")
        self.refused("executes nothing", "--device", "simulated:" + PROFILES[0])
        self.refused("no_such", "--memory-only", "--device", "simulated:no_such")

    def test_help_exits_0(self):
        self.check_help("--output", "--compare", "--poison", "--check", "--memory-only")


class Simulated(Case):
    def test_memory_of_profiles_is_near_its_bound(self):
        for profile in PROFILES:
            for size in ("960x540", "1921x1079"):
                with self.subTest(profile=profile, size=size):
                    result = self.figures("--memory-only", "--device", "simulated:" + profile,
                                          "--size", size)
                    self.check_memory(result)

    def test_picture_of_the_plan_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.svg"
            self.figures("--memory-only", "--device", "simulated:" + PROFILES[0], "--picture", path)
            text = path.read_text(encoding="utf-8")
            self.assertIn("shadow mask", text)
            self.assertIn("</svg>", text)

    def test_memory_with_two_queues_is_more(self):
        device = ("--memory-only", "--device", "simulated:" + PROFILES[0])
        one, two = self.figures(*device), self.figures(*device, "--async")
        self.assertEqual(one["total"], two["total"])
        self.assertLessEqual(one["planned"], two["planned"])
        self.assertLess(two["planned"], two["object_reuse"])

    def test_memory_with_poison_is_the_same(self):
        device = ("--memory-only", "--device", "simulated:" + PROFILES[0])
        plain, poisoned = self.figures(*device), self.figures(*device, "--poison")
        self.assertEqual(plain["planned"], poisoned["planned"])
        self.assertGreater(poisoned["passes"], plain["passes"])


class Noop(Case):
    def test_memory_is_near_its_bound(self):
        for size in ("960x540", "3840x2160"):
            with self.subTest(size=size):
                self.check_memory(self.figures("--memory-only", "--size", size))

    def test_each_barrier_is_needed(self):
        size = ("--size", "320x180", "--frames", "2")
        for options in ((), ("--poison",), ("--async",), ("--async", "--poison")):
            with self.subTest(options=options):
                result = self.figures("--check", "--validate", *size, *options)
                self.assertEqual((result["hazards"], result["unnoticed"]), (0, 0))
                self.assertEqual(result["messages"], 0)
                self.assertGreater(result["barriers"], 100)
                self.assertEqual(result["waits"] > 0, "--async" in options)


class Executing(Case):
    size = ("--size", "320x180", "--frames", "3")

    def need_small_granules(self):
        """Edges go by granules in a class of buffers and images (docs/design/planner.md)."""
        if on_swiftshader():
            self.skip("with granules of 4096 bytes a barrier between buffers of one granule is more "
                      "than their bytes need")

    def test_images_are_the_same_and_apart(self):
        result = self.figures("--size", "320x180", "--frames", "2", "--compare", "--poison")
        self.check_memory(result)
        self.assertEqual(result["differing_pixels"], 0)

    def test_images_are_the_same_poisoned_and_checked(self):
        self.need_small_granules()
        result = self.figures(*self.size, "--compare", "--poison", "--validate", "--check")
        self.check_memory(result)
        self.assertTrue(result["proved"])
        self.assertEqual(result["differing_pixels"], 0)
        self.assertEqual(result["messages"], 0)
        self.assertEqual((result["hazards"], result["unnoticed"]), (0, 0))
        self.assertGreater(result["pairs"], 1000)
        self.assertGreater(result["barriers"], 150)

    def test_two_queues_render_the_same(self):
        if on_swiftshader():
            self.skip("the layer of Debian 12 takes a chain of barriers for a hazard, which that of "
                      "sid does not")
        one, two = self.figures(*self.size), self.figures(
            *self.size, "--async", "--compare", "--poison", "--validate", "--check")
        self.assertEqual(one["picture"], two["picture"])
        self.assertEqual((two["differing_pixels"], two["messages"]), (0, 0))
        self.assertEqual((two["hazards"], two["unnoticed"]), (0, 0))

    def test_poison_leaves_no_trace(self):
        plain, poisoned = self.figures(*self.size), self.figures(*self.size, "--poison")
        apart = self.figures(*self.size, "--no-aliasing")
        self.assertEqual(plain["picture"], poisoned["picture"])
        self.assertEqual(plain["picture"], apart["picture"])

    def test_sizes_that_halve_badly_render(self):
        for size in ("171x67", "100x100", "64x64"):
            with self.subTest(size=size):
                result = self.figures("--size", size, "--frames", "2", "--compare", "--validate")
                self.assertEqual((result["differing_pixels"], result["messages"]), (0, 0))

    def test_picture_has_a_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "frame.png"
            result = self.figures(*self.size, "--output", path)
            header = path.read_bytes()[:24]
            self.assertEqual(header[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", header[16:24]), (320, 180))
            # A flat picture would compress to next to nothing.
            self.assertGreater(path.stat().st_size, 40000)
        other = self.figures("--size", "320x180", "--frames", "1")
        self.assertNotEqual(result["picture"], other["picture"])

    def test_output_that_cannot_be_written_exits_1(self):
        done = run("--size", "64x64", "--frames", "1", "--output", "/nonexistent/x.png")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("/nonexistent/x.png", done.stderr)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "simulated": Simulated, "executing": Executing,
                   "noop": Noop}))
